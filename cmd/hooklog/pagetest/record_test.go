package pagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// An eventChange changes an event of the test.
type eventChange func(*hooklog.Event)

// write appends events to the record, all at once, so that the page reads all of them or none.
func (p *tab) write(events ...hooklog.Event) {
	p.t.Helper()
	var lines bytes.Buffer
	log := hooklog.Lines(&lines)
	for _, e := range events {
		if err := log.WriteEvent(p.ctx, e); err != nil {
			p.t.Fatal(err)
		}
	}
	file, err := os.OpenFile(p.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(lines.Bytes())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// event returns an event of a run at a point.
func event(seq int64, run, point string, changes ...eventChange) hooklog.Event {
	e := hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Date(2026, 1, 2, 3, 4, int(seq), 0, time.UTC), Spec: "example.com/mail",
		Point: point, Run: wire.RunInfo{ID: run, Root: run}, Payload: json.RawMessage(`{"To":"you","Text":"Hello"}`),
		Decision: wire.Continue, Elapsed: 1500 * time.Nanosecond,
	}
	for _, change := range changes {
		change(&e)
	}
	return e
}

func denied(e *hooklog.Event) {
	e.Decision, e.By, e.Site, e.Reason = "Refuse", "team.Guard", "guard.go:7", "not to strangers"
	e.Value = json.RawMessage(`{"Reason":"not to strangers"}`)
	e.Ballots = []hooklog.Ballot{{By: "other.Voter", Site: "other.go:1", Decision: "Allow", Reason: "why not"}}
}

func keyed(e *hooklog.Event) { e.Key = json.RawMessage(`"the-key"`) }

func payload(text string) eventChange {
	return func(e *hooklog.Event) {
		encoded, err := json.Marshal(map[string]string{"Text": text})
		if err != nil {
			panic(err)
		}
		e.Payload = encoded
	}
}

func failed(e *hooklog.Event) {
	e.Failures = []hooklog.Failure{{By: "broken.Hook", Site: "broken.go:3", Cause: "out of paper"}}
	e.Slow = []hooklog.SlowHook{{By: "slow.Hook", Site: "slow.go:4", After: e.Elapsed / 4, Elapsed: e.Elapsed / 2}}
}

func below(parent string) eventChange { return func(e *hooklog.Event) { e.Run.Parent = parent } }
