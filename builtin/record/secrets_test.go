package record_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// body is the drawn part of the invented token secret, which has a color and quotation marks.
const body = "a8Kd03LmQ9xZ71bcTr5wPq2nVs6y"

const secret = "\x1b[31m“gh" + "p_" + body + "\x1b[0m”"

// fill sets all texts in v to the secret.
func fill(v reflect.Value, depth int) {
	if depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(secret)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(map[string]any{secret: []any{secret}, "bytes": []byte(secret)}))
		}
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			v.SetBytes(fmt.Appendf(nil, `{"text": %q, %q: [1, %q]}`, secret, secret, secret))
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes([]byte(secret))
		default:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), depth+1)
			}
		}
	}
}

// recorders returns all hooks that write records below dir.
func recorders(t *testing.T, dir string) []agent.Hook {
	t.Helper()
	failed := func(err error) { t.Error(err) }
	store := &memory.Facts{In: session.Dir{Path: filepath.Join(dir, "memory")}}
	return []agent.Hook{
		&record.Audit{
			Path:     filepath.Join(dir, "audit"),
			Points:   []string{record.AllPoints},
			MaxChars: limit.None,
			OnError:  failed,
		},
		&record.Provenance{Dir: filepath.Join(dir, "runs"), Snapshot: true, Hooks: new(agent.Hooks), OnError: failed},
		&record.Summary{Dir: filepath.Join(dir, "pages")},
		&record.Episodes{Store: store, OnError: failed},
	}
}

// lacksSecret checks that no file or file name below dir has the secret, in any notation.
func lacksSecret(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if info, _ := entry.Info(); info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		data = append(data, path...)
		for _, part := range []string{body[:10], body[10:20], base64.StdEncoding.EncodeToString([]byte(secret))[:20]} {
			if at := bytes.Index(data, []byte(part)); at >= 0 {
				t.Errorf("%s contains the secret: %s", path, data[max(0, at-200):min(len(data), at+40)])
				break
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestNoRecordHasASecretOfPayload fires every point with a secret in each text of its payload, and with each decision.
func TestNoRecordHasASecretOfPayload(t *testing.T) {
	for _, point := range new(agent.Hooks).Points() {
		t.Run(point.Name, func(t *testing.T) {
			decisions := append([]hookkit.Outcome{{Name: "nothing"}, {Name: "failure"}}, point.Outcomes...)
			for _, decision := range decisions {
				t.Run(decision.Name, func(t *testing.T) {
					dir := t.TempDir()
					hooks := new(agent.Hooks)
					for _, hook := range recorders(t, dir) {
						hooks.Use(hook)
					}
					hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
					run := agent.NewRun(&agent.Env{Agent: secret})
					for _, p := range hooks.Points() {
						if p.Name == "OnRunStart" && point.Name != p.Name {
							_, _ = p.Fire(t.Context(), run, p.New())
						}
						if p.Name == point.Name {
							fireFilled(t, p, run, decision)
						}
					}
					for _, p := range hooks.Points() { // writes what the other points left
						if p.Name == "OnRunEnd" {
							_, _ = p.Fire(t.Context(), run, p.New())
						}
					}
					lacksSecret(t, dir)
				})
			}
		})
	}
}

// fireFilled fires a point with a payload full of secrets and a hook that decides with a reason full of secrets.
func fireFilled(t *testing.T, p hookkit.AnyPoint, run *agent.Run, decision hookkit.Outcome) {
	t.Helper()
	if decision.Name != "nothing" && p.Results != "" {
		p.AddAny(func(_ context.Context, _ hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
			if decision.New == nil {
				return hookkit.AnyReply{}, errors.New("failed with " + secret)
			}
			value := reflect.New(decision.Type).Elem()
			fill(value, 0)
			outcome, err := decision.New(value.Interface(), secret)
			return hookkit.AnyReply{Outcome: outcome}, err
		}, hookkit.Named(secret))
	}
	payload := p.New()
	fill(reflect.ValueOf(payload).Elem(), 0)
	if fired, err := p.Fire(t.Context(), run, payload); fired.Point == "" {
		t.Fatal(err)
	}
}

// A talker is a model that puts the secret everywhere.
type talker struct{ calls int }

func (m *talker) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	m.calls++
	switch {
	case m.calls == 1:
		return agent.LLMResponse{}, errors.New("the model failed with " + secret)
	case m.calls > 4:
		return agent.LLMResponse{Content: "done " + secret, FinishReason: secret, Model: secret, ID: secret}, nil
	}
	var reply agent.LLMResponse
	fill(reflect.ValueOf(&reply).Elem(), 0)
	reply.ToolCalls = append(reply.ToolCalls,
		agent.ToolCallRequest{ID: secret + "2", Name: "work", Args: json.RawMessage(`{"a": "` + secret + `"}`)},
		agent.ToolCallRequest{ID: "3", Name: "work", Args: json.RawMessage(`{"a": "` + secret)},
		agent.ToolCallRequest{ID: "4", Name: "fail"})
	return reply, nil
}

func TestNoRecordHasASecret(t *testing.T) {
	dir := t.TempDir()
	hooks := new(agent.Hooks)
	for _, hook := range recorders(t, dir) {
		hooks.Use(hook)
	}
	provenance := &record.Provenance{Dir: filepath.Join(dir, "wrapped")}
	hooks.Use(provenance)
	a := &loop.Agent{
		Name: secret, Instructions: "Instructions with " + secret, Hooks: hooks, Model: provenance.Wrap(&talker{}),
		Clock: looptest.NewClock(time.Unix(1_700_000_000, 0)),
		Tools: []agent.Tool{
			&looptest.Tool{Name: "work", Result: "output with " + secret},
			&looptest.Tool{Name: "fail", Err: errors.New("failed with " + secret)},
		},
	}
	for range 3 {
		_, _ = a.Run(t.Context(), "a task with "+secret)
	}
	lacksSecret(t, dir)
}
