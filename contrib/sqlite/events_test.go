package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// fireTool fires BeforeTool for a call of a tool at hooks that are recorded to the log.
func fireTool(t *testing.T, l hooklog.Sink, run *agent.Run, tool string) {
	t.Helper()
	hooks := new(agent.Hooks)
	hooks.ObserveAny(agent.Record(l))
	hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { t.Error(f) })
	exit, err := hooks.BeforeTool.Fire(t.Context(), run, &agent.ToolCallRequest{Name: tool})
	if exit != nil || err != nil {
		t.Errorf("%v, %v", exit, err)
	}
}

// tools returns the tools of the calls in a log, and "damaged" for a line that is not an event.
func tools(t *testing.T, r io.Reader) string {
	t.Helper()
	var names []string
	for e, err := range hooklog.Read(r) {
		var call agent.ToolCallRequest
		if err != nil || json.Unmarshal(e.Payload, &call) != nil {
			names = append(names, "damaged")
			continue
		}
		names = append(names, call.Name)
	}
	return strings.Join(names, " ")
}

func TestEventsAreReadByLogAndRun(t *testing.T) {
	db := newDB(t)
	l := EventLog{DB: db}
	run, other := agent.NewRun(new(agent.Env)), agent.NewRun(new(agent.Env))
	fireTool(t, l, run, "one")
	fireTool(t, l, other, "two")
	fireTool(t, l, run.Child(new(agent.Env)), "three")
	fireTool(t, EventLog{DB: db, Name: "other"}, run, "four")
	fireTool(t, l, nil, "five")
	for name, c := range map[string]struct {
		r    io.Reader
		want string
	}{
		"all":               {l.Reader(t.Context()), "one two three five"},
		"a run":             {l.RunReader(t.Context(), run.ID()), "one three"},
		"another run":       {l.RunReader(t.Context(), other.ID()), "two"},
		"no run":            {l.RunReader(t.Context(), ""), "five"},
		"an unknown run":    {l.RunReader(t.Context(), "' OR 1 --"), ""},
		"another log":       {EventLog{DB: db, Name: "other"}.Reader(t.Context()), "four"},
		"a log with no run": {EventLog{DB: db, Name: "other"}.RunReader(t.Context(), other.ID()), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tools(t, c.r); got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

func TestIndexFindsTheEventsOfARun(t *testing.T) {
	db := newDB(t)
	for _, r := range []io.Reader{EventLog{DB: db}.Reader(t.Context()), EventLog{DB: db}.RunReader(t.Context(), "r")} {
		of := r.(*lineReader)
		var plan string
		err := db.row(t.Context(), []any{new(int), new(int), new(int), &plan}, "EXPLAIN QUERY PLAN "+of.query,
			append(of.args, 0)...)
		if err != nil || !strings.Contains(plan, "INDEX events_of_") {
			t.Errorf("the plan is %q, %v", plan, err)
		}
	}
}

func TestEventsAreTheLinesOfLogFile(t *testing.T) {
	l := EventLog{DB: newDB(t)}
	var lines bytes.Buffer
	run := agent.NewRun(new(agent.Env))
	both := sinks{l, hooklog.Lines(&lines)}
	for i := range 200 {
		fireTool(t, both, run, strings.Repeat("x", i*100)) // more than is read at a time
	}
	text, err := io.ReadAll(l.Reader(t.Context()))
	if err != nil || !bytes.Equal(text, lines.Bytes()) {
		t.Errorf("the database has %d bytes and the file %d, %v", len(text), lines.Len(), err)
	}
}

// sinks writes each event to several sinks.
type sinks []hooklog.Sink

func (s sinks) WriteEvent(ctx context.Context, e hooklog.Event) error {
	var errs []error
	for _, one := range s {
		errs = append(errs, one.WriteEvent(ctx, e))
	}
	return errors.Join(errs...)
}

func TestReplayReadsTheDatabase(t *testing.T) {
	l := EventLog{DB: newDB(t)}
	run := agent.NewRun(new(agent.Env))
	fireTool(t, l, run, "ls")
	fireTool(t, l, run, "rm")
	guarded := new(agent.Hooks)
	guarded.BeforeTool.AddFunc(func(
		_ context.Context, _ *agent.Run, c agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		if c.Name == "rm" {
			return agent.SkipTool{Reason: "no rm"}, nil
		}
		return nil, nil
	})
	var got []string
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(l.RunReader(t.Context(), run.ID())), guarded.Points()) {
		got = append(got, fmt.Sprintf("%v %v", c.Status, err))
	}
	if got := strings.Join(got, ", "); got != "same <nil>, changed <nil>" {
		t.Errorf("the replay found %s", got)
	}
}

func TestEventsAreRedacted(t *testing.T) {
	l := EventLog{DB: newDB(t), Redact: hooklog.Redact(func(text []byte) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("secret"), []byte("***"))
	})}
	fireTool(t, l, nil, "a secret")
	if text, err := io.ReadAll(l.Reader(t.Context())); err != nil || !bytes.Contains(text, []byte(`a ***`)) {
		t.Errorf("the log has %q, %v", text, err)
	}
}

func TestWrongEventsAreErrors(t *testing.T) {
	event := hooklog.Event{Payload: []byte("{}")}
	small, err := Open(filepath.Join(t.TempDir(), "small.db"), Options{MaxBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	closed, err := Open(filepath.Join(t.TempDir(), "closed.db"), Options{})
	if err == nil {
		err = closed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	broken := hooklog.Redact(func([]byte) json.RawMessage { return []byte("{") })
	for name, c := range map[string]struct {
		log  EventLog
		e    hooklog.Event
		want string
	}{
		"not JSON":      {EventLog{DB: newDB(t)}, hooklog.Event{Payload: []byte("{")}, "unexpected end of JSON input"},
		"redacted away": {EventLog{DB: newDB(t), Redact: broken}, event, "unexpected end of JSON input"},
		"too long":      {EventLog{DB: small}, event, "set Options.MaxBytes"},
		"longer than a line": {EventLog{DB: newDB(t)}, hooklog.Event{Payload: fmt.Appendf(nil, "%q",
			strings.Repeat("x", hooklog.MaxLine))}, "shorten it with hooklog.Redact"},
		"closed": {EventLog{DB: closed}, event, "database is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.log.WriteEvent(t.Context(), c.e); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if c.log.DB == closed {
				return
			}
			if text, err := io.ReadAll(c.log.Reader(t.Context())); err != nil || len(text) > 0 {
				t.Errorf("the log has %q, %v", text, err)
			}
		})
	}
}

func TestCancelledFiresAreRecorded(t *testing.T) {
	l := EventLog{DB: newDB(t)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.WriteEvent(ctx, hooklog.Event{Payload: []byte("{}")}); err != nil {
		t.Error(err)
	}
	ended := errors.New("")
	for _, err := range hooklog.Read(l.Reader(ctx)) {
		ended = err
	}
	if !errors.Is(ended, context.Canceled) {
		t.Errorf("a cancelled reader ends with %v", ended)
	}
}

func TestFilesOfTheFirstVersionGetEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	old, err := open(path, Options{}, migrations[:1])
	if err == nil {
		err = errors.Join(Store{old}.Put(t.Context(), "key", []byte("value")), old.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	db := reopen(t, path)
	fireTool(t, EventLog{DB: db}, nil, "ls")
	value, err := Store{db}.Get(t.Context(), "key")
	if got := tools(t, EventLog{DB: db}.Reader(t.Context())); got != "ls" || string(value) != "value" || err != nil {
		t.Errorf("read %q and %q, %v", got, value, err)
	}
	sound(t, db)
}
