package eventpage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

func event(seq int64, run, point, payload string) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Unix(1000+seq, 0).UTC(), Spec: "example.com/mail", Point: point,
		Run: wire.RunInfo{ID: run, Root: run}, Payload: json.RawMessage(payload), Decision: wire.Continue,
	}
}

// indexOf returns an index of events.
func indexOf(t testing.TB, events ...hooklog.Event) *eventlog.Index {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	sink := hooklog.Lines(f)
	for _, e := range events {
		if err := sink.WriteEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := eventlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := x.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}
