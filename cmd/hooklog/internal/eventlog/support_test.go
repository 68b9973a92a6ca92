package eventlog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// event returns the event number seq, of a run whose parent is in front of a slash: "parent/run".
func event(seq int64, run string) hooklog.Event {
	e := hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Unix(1000+seq, 0).UTC(), Spec: "example.com/mail", Point: "BeforeSend",
		Run: wire.RunInfo{ID: run, Root: run}, Payload: json.RawMessage(`{"To":"you"}`), Decision: wire.Continue,
		Elapsed: time.Millisecond,
	}
	for i := range run {
		if run[i] == '/' {
			e.Run.Parent, e.Run.ID = run[:i], run[i+1:]
		}
	}
	return e
}

func line(e hooklog.Event) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// lines returns the lines of one event for each run.
func lines(runs ...string) (text string) {
	for i, run := range runs {
		text += line(event(int64(i+1), run))
	}
	return text
}

// open returns an index of a file with a text, and the path of the file.
func open(t testing.TB, text string) (*eventlog.Index, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	write(t, path, text)
	x, err := eventlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	update(t, x)
	return x, path
}

func update(t testing.TB, x *eventlog.Index) {
	t.Helper()
	if err := x.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// shown describes an index: the run and the line of each event, and the problems.
func shown(t testing.TB, x *eventlog.Index) (text string) {
	t.Helper()
	s := x.Status()
	for n := range s.Events {
		e, place, err := x.Event(n)
		if err != nil {
			t.Fatalf("event %d: %v", n, err)
		}
		text += fmt.Sprintf("%s@%d ", e.Run.ID, place.Line)
	}
	for _, p := range s.Problems {
		text += "[" + p.String() + "]"
	}
	return text
}
