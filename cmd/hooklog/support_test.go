package main

import (
	"encoding/json"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// event returns an event that hooklog accepts.
func event(seq int64) hooklog.Event {
	return hooklog.Event{
		Protocol: wire.Protocol, Seq: seq, Time: time.Date(2026, 11, 20, 12, 0, int(seq), 0, time.UTC),
		Spec: "example.com/mail", Point: "BeforeSend", Run: wire.RunInfo{ID: "r"},
		Payload: []byte("1"), Decision: wire.Continue,
	}
}

// lineOf returns the line of an event.
func lineOf(e hooklog.Event) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}
