package eventline_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/eventline"
)

// event has a field of each type that the fields of an event have.
type event struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	Run  struct {
		ID string `json:"id"`
	} `json:"run"`
	Payload json.RawMessage `json:"payload"`
	Ballots []struct {
		By string `json:"by"`
	} `json:"ballots"`
}

func TestErrorsSpeakOfTheLine(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"an event", `{"seq":1,"time":"2026-01-02T03:04:05Z","run":{"id":"r"},"payload":[],"ballots":[{"by":"b"}]}`, ""},
		{"half a line", `{"seq":1,`, "unexpected end of JSON input"},
		{"another text", `x`, "invalid character 'x' looking for beginning of value"},
		{"another value", `[1]`, "it is an array, and must be an object"},
		{"a number", `1`, "it is a number, and must be an object"},
		{"a wrong number", `{"seq":"1"}`, "seq is a string, and must be an integer of 64 bits"},
		{"a fraction", `{"seq":1.5}`, "seq is a number 1.5, and must be an integer of 64 bits"},
		{"a large number", `{"seq":1e99}`, "seq is a number 1e99, and must be an integer of 64 bits"},
		{"a wrong name", `{"run":{"id":[]}}`, "run.id is an array, and must be a string"},
		{"a wrong object", `{"run":true}`, "run is a bool, and must be an object"},
		{"a wrong array", `{"ballots":{}}`, "ballots is an object, and must be an array"},
		{"a wrong ballot", `{"ballots":[{"by":{}}]}`, "ballots.by is an object, and must be a string"},
		{"a wrong time", `{"time":"today"}`, `its time must be a text such as "2006-01-02T15:04:05Z"`},
		{"a time that is not a text", `{"time":1}`, `its time must be a text such as "2006-01-02T15:04:05Z"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := eventline.Unmarshal([]byte(c.line), new(event)); err != nil {
				got = err.Error()
			}
			if c.want != "" {
				c.want = "it is not an event: " + c.want
			}
			if got != c.want {
				t.Errorf("the error is %q, want %q", got, c.want)
			}
		})
	}
}

func TestEventsHaveTheMandatoryFields(t *testing.T) {
	whole := eventline.Head{Protocol: 1, Spec: "s", Point: "p", Decision: "d", Payload: true}
	if err := whole.Check(1); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*eventline.Head){
		"no protocol":      func(h *eventline.Head) { h.Protocol = 0 },
		"another protocol": func(h *eventline.Head) { h.Protocol = 2 },
		"no spec":          func(h *eventline.Head) { h.Spec = "" },
		"no point":         func(h *eventline.Head) { h.Point = "" },
		"no decision":      func(h *eventline.Head) { h.Decision = "" },
		"no payload":       func(h *eventline.Head) { h.Payload = false },
	} {
		t.Run(name, func(t *testing.T) {
			h := whole
			change(&h)
			if h.Check(1) == nil {
				t.Error("no error")
			}
		})
	}
}
