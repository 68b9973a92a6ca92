package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A collector makes a hook that writes records. It returns the hook, and a function that returns the records as text
// after the run. The hook can write files below dir and to the log.
type collector func(t *testing.T, dir string, log *slog.Logger) (agent.Hook, func() []string)

// nothing is for hooks whose records are all in files or in the log.
func nothing() []string { return nil }

func collectors() map[string]collector {
	return map[string]collector{
		"record.Audit": func(_ *testing.T, dir string, _ *slog.Logger) (agent.Hook, func() []string) {
			return &record.Audit{Path: filepath.Join(dir, "audit.jsonl"), Points: []string{record.AllPoints}}, nothing
		},
		"record.Provenance": func(_ *testing.T, dir string, _ *slog.Logger) (agent.Hook, func() []string) {
			return &record.Provenance{Dir: dir}, nothing
		},
		"record.History": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			history := &record.History{}
			return history, func() (all []string) {
				for _, r := range history.Runs(agent.Identity{}, "") {
					all = append(all, asText(r))
				}
				return all
			}
		},
		"record.Summary": func(_ *testing.T, dir string, _ *slog.Logger) (agent.Hook, func() []string) {
			return &record.Summary{Dir: dir}, nothing
		},
		"record.Tree": func(_ *testing.T, dir string, _ *slog.Logger) (agent.Hook, func() []string) {
			return &record.Tree{Dir: dir}, nothing
		},
		"record.Episodes": func(t *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			store := &memory.Facts{Share: share.Everyone}
			return &record.Episodes{Store: store}, func() (all []string) {
				episodes, err := memory.Episodes(t.Context(), store, 10)
				if err != nil {
					t.Error(err)
				}
				for _, e := range episodes {
					all = append(all, asText(e))
				}
				return all
			}
		},
		"observe.DebugLog": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			var out bytes.Buffer
			return &observe.DebugLog{Writer: &out}, func() []string { return lines(out.String()) }
		},
		"observe.Cost": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			var all []string
			return &observe.Cost{OnCall: func(c observe.CallCost) { all = append(all, asText(c)) }},
				func() []string { return all }
		},
		"record.Timing": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			timing := &record.Timing{}
			return timing, func() (all []string) {
				for _, s := range timing.Samples() {
					all = append(all, asText(s))
				}
				return all
			}
		},
		"observe.CacheWatch": func(_ *testing.T, _ string, log *slog.Logger) (agent.Hook, func() []string) {
			return &observe.CacheWatch{Log: log}, nothing
		},
		"observe.RequestTap": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			var all []string
			return &observe.RequestTap{OnEvent: func(_ context.Context, e observe.RequestTapEvent) {
				all = append(all, asText(e))
			}}, func() []string { return all }
		},
		"observe.EventBridge": func(_ *testing.T, _ string, _ *slog.Logger) (agent.Hook, func() []string) {
			bus := &collectingBus{}
			return &observe.EventBridge{Bus: bus}, func() []string { return bus.all }
		},
	}
}

type collectingBus struct{ all []string }

func (b *collectingBus) Publish(_ context.Context, e observe.BusEvent) (bool, string, error) {
	b.all = append(b.all, asText(e))
	return false, "", nil
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// TestRecordsNameTheirRunAndOwner runs each hook that writes records. Each line, file or event must name the run, the
// tenant, the user and the conversation.
func TestRecordsNameTheirRunAndOwner(t *testing.T) {
	collectors := collectors()
	for name := range ready(t) {
		room, _, _ := strings.Cut(name, ".")
		if room != "record" && room != "observe" || name == "record.Metrics" { // sums over all runs
			continue
		}
		t.Run(name, func(t *testing.T) {
			collect := collectors[name]
			if collect == nil {
				t.Fatal("the test has no collector for the hook")
			}
			dir := t.TempDir()
			var logged bytes.Buffer
			log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
			hook, collected := collect(t, dir, log)
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Call("b", nil), looptest.Reply("done and done")},
				Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}, &looptest.Tool{Name: "b", Err: errors.New("down")}},
				Hooks: []agent.Hook{hook, agent.BeforeLLMFunc(otherModel)},
				Agent: &loop.Agent{Name: "clerk", Limits: loop.Limits{Steps: 3}},
			}.Do(t, t.Context(), loop.Request{Task: "go", Tenant: "acme", User: "ann", Conversation: "ticket-7"})

			all := append(collected(), records(t, dir)...)
			if logged.Len() > 0 {
				all = append(all, lines(logged.String())...)
			}
			if len(all) == 0 {
				t.Error("there are no records")
			}
			run := ran.Recorder.Fires()[0].Run
			for _, text := range all {
				for _, want := range []string{run, "acme", "ann", "ticket-7"} {
					if !strings.Contains(text, want) {
						t.Errorf("%q is not in %s", want, text)
						break
					}
				}
			}
		})
	}
}

// otherModel asks for another model in each step, which breaks prompt caching.
func otherModel(_ context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	req.Model = fmt.Sprint("model ", req.Step)
	return agent.ReplaceBeforeLLM(req, "variety"), nil
}

// records returns the lines of the files of lines below dir, and the content of the others. The texts of prompts and
// replies are for people; the manifest next to them names the run.
func records(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".txt" || filepath.Ext(path) == ".lock" {
			return err
		}
		data, err := os.ReadFile(path)
		if filepath.Ext(path) == ".jsonl" {
			all = append(all, lines(string(data))...)
			return err
		}
		all = append(all, fmt.Sprintf("%s: %s", path, data))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return all
}
