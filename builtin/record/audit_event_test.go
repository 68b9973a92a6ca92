package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// fireEvent fires BeforeTool, and the log gets the event.
func fireEvent(t *testing.T, log *record.Audit) {
	t.Helper()
	fireTool(t, log, "x")
}

// fireTool is fireEvent for a call of a tool.
func fireTool(t *testing.T, log hooklog.Sink, tool string) {
	t.Helper()
	var hooks agent.Hooks
	hooks.ObserveAny(agent.Record(log))
	hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { t.Error(f) })
	call := agent.ToolCallRequest{ID: "1", Name: tool}
	_, _ = hooks.BeforeTool.Fire(t.Context(), agent.NewRun(&agent.Env{}), &call)
}

// readTools returns the tools of the calls in a log, and the errors of its lines.
func readTools(r io.Reader) (tools []string, errs []error) {
	for e, err := range hooklog.Read(r) {
		var call agent.ToolCallRequest
		if err == nil {
			err = json.Unmarshal(e.Payload, &call)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tools = append(tools, call.Name)
	}
	return tools, errs
}

func TestAuditedEventsAreARecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	key := []byte("key")
	log := &record.Audit{Path: path, Key: key, HeadFile: path + ".head", Sync: true}
	fireTool(t, log, "ls")
	fireTool(t, &record.Audit{Path: path, Key: key, HeadFile: path + ".head"}, "cat") // another program
	fireTool(t, log, "rm")
	head, err := record.ReadAuditHead(path + ".head")
	if err != nil || head != log.Head() {
		t.Errorf("the head is %+v, want %+v, %v", head, log.Head(), err)
	}
	state := verified(t, path, record.AuditCheck{Key: key, Head: head.Hash, Log: head.Log})
	if state.Records != 3 || state.Seq != 3 {
		t.Errorf("verified %+v", state)
	}
	text := fixture.ReadFile(t, path)
	if tools, errs := readTools(bytes.NewReader(text)); strings.Join(tools, " ") != "ls cat rm" || len(errs) > 0 {
		t.Errorf("read %q, %v", tools, errs)
	}
	guarded := new(agent.Hooks)
	guarded.BeforeTool.AddFunc(func(
		_ context.Context, _ *agent.Run, c agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		if c.Name == "rm" {
			return agent.SkipTool{Reason: "no rm"}, nil
		}
		return nil, nil
	})
	var statuses []string
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(bytes.NewReader(text)), guarded.Points()) {
		statuses = append(statuses, fmt.Sprint(c.Status, " ", err))
	}
	if got := strings.Join(statuses, ", "); got != "same <nil>, same <nil>, changed <nil>" {
		t.Errorf("the replay found %s", got)
	}
}

func TestHookAndSinkShareALog(t *testing.T) {
	for name, log := range map[string]*record.Audit{
		"file":  {Path: filepath.Join(t.TempDir(), "run.jsonl")},
		"store": {Store: new(lineStore)},
	} {
		t.Run(name, func(t *testing.T) {
			fire(t, log)
			fireEvent(t, log)
			fire(t, log)
			var text []byte
			if s, ok := log.Store.(*lineStore); ok {
				text = bytes.Join(s.lines, []byte("\n"))
			} else {
				text = fixture.ReadFile(t, log.Path)
			}
			state, err := record.VerifyAudit(bytes.NewReader(text), record.AuditCheck{Head: log.Head().Hash})
			if err != nil || state.Records != 3 {
				t.Errorf("verified %+v, %v", state, err)
			}
			if tools, _ := readTools(bytes.NewReader(text)); len(tools) != 3 {
				t.Errorf("read %q", tools)
			}
		})
	}
}

func TestAuditedEventsFollowTornLines(t *testing.T) {
	for _, torn := range []string{`{"protocol":1,"se`, `{"pro`, `{"prot`, "\n\n{"} {
		path := filepath.Join(t.TempDir(), "run.jsonl")
		fireEvent(t, &record.Audit{Path: path})
		text := string(fixture.ReadFile(t, path))
		other := filepath.Join(t.TempDir(), "run.jsonl") // of a new program
		if err := os.WriteFile(other, []byte(text+torn), 0o600); err != nil {
			t.Fatal(err)
		}
		fireEvent(t, &record.Audit{Path: other, OnError: func(err error) { t.Error(err) }})
		if state := verified(t, other, record.AuditCheck{}); state.Records != 2 || state.Torn == 0 {
			t.Errorf("after %q: %+v", torn, state)
		}
		if tools, errs := readTools(bytes.NewReader(fixture.ReadFile(t, other))); len(tools) != 2 || len(errs) != 1 {
			t.Errorf("after %q, read %q, %v", torn, tools, errs)
		}
	}
}

func TestLostEventsAreCounted(t *testing.T) {
	event := hooklog.Event{
		Protocol: wire.Protocol, Spec: "s", Point: "p", Payload: []byte(`{"token":"sk-` + strings.Repeat("a1B2", 12) + `"}`),
		Decision: wire.Continue,
	}
	long, broken := event, event
	long.Spec = strings.Repeat("x", hooklog.MaxLine-220) // the chain does not fit
	broken.Time = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	s := new(lineStore)
	log := &record.Audit{Store: s}
	for want, e := range map[string]hooklog.Event{"shorten its texts": long, "an event of p is lost": broken} {
		t.Run(want, func(t *testing.T) {
			if err := log.WriteEvent(t.Context(), e); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	s.err = errors.New("disk full")
	if err := log.WriteEvent(t.Context(), event); !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
	s.err = nil
	if err := log.WriteEvent(t.Context(), event); err != nil {
		t.Error(err)
	}
	if state, problems := s.verify(record.AuditCheck{}); problems != "" || state.Records != 1 || state.Lost != 3 {
		t.Errorf("verified %+v, %s", state, problems)
	}
	if text := string(s.lines[0]); strings.Contains(text, "a1B2") {
		t.Errorf("the secret is in %s", text)
	}
	for name, wrong := range map[string]*record.Audit{"no place": {}, "two places": {Path: "x", Store: s}} {
		t.Run(name, func(t *testing.T) {
			if err := wrong.WriteEvent(t.Context(), event); err == nil || !strings.Contains(err.Error(), "Path") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// An audit log of a long run has no copies of the conversation, so that it is linear in the run, and views read it.
func TestViewsReadAnAuditLog(t *testing.T) {
	size := func(steps int) int {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		ran := looptest.Harness{
			Agent: &loop.Agent{Name: "clerk", Limits: loop.Limits{Steps: 1000}},
			Turns: fixture.Work(steps), Tools: fixture.Worker(),
			Hooks: []agent.Hook{&record.Audit{Path: path, Points: []string{record.AllPoints}}},
		}.Run(t, "go")
		text := fixture.ReadFile(t, path)
		var history record.History
		if err := record.Read(t.Context(), hooklog.Read(bytes.NewReader(text)), &history); err != nil {
			t.Fatal(err)
		}
		runs := history.Runs(agent.Identity{}, "clerk")
		if len(runs) != 1 || runs[0].Steps != steps+1 || runs[0].Stop != string(ran.Stop.Cause) {
			t.Errorf("the history of %d steps is %+v", steps, runs)
		}
		return len(text)
	}
	if short, long := size(10), size(80); long > 10*short {
		t.Errorf("a log of 10 steps has %d bytes, one of 80 steps %d", short, long)
	}
}
