package record_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestViewsOfARecordAreShown(t *testing.T) {
	var log bytes.Buffer
	hooks := new(agent.Hooks)
	hooks.ObserveAny(agent.Record(hooklog.Lines(&log)))
	looptest.Harness{
		Agent: &loop.Agent{Name: "porter", Hooks: hooks, Clock: looptest.NewClock(time.Unix(1e9, 0))},
		Turns: []looptest.Turn{looptest.Call("look", `{"at":"door"}`), looptest.Reply("It is open.")},
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "an open door"}},
	}.Do(t, t.Context(), loop.Request{Task: "Look at the door.", ID: "r1", Conversation: "c", User: "ann"})
	for view, want := range map[string]string{
		"episodes":   `"name":"look"`,
		"history":    "r1  completed  2 steps",
		"metrics":    "  look: 1 calls, 1 ok / 0 fail",
		"summary":    "- user: Look at the door.",
		"timing":     "tool",
		"trajectory": "#1 look({\"at\":\"door\"}) → an open door\n#2 It is open.",
		"tree":       "c\n- start\n- **1: step 1, look {\"at\":\"door\"}**",
	} {
		t.Run(view, func(t *testing.T) {
			var out bytes.Buffer
			err := record.Show(t.Context(), &out, view, hooklog.Read(bytes.NewReader(log.Bytes())))
			if err != nil || !strings.Contains(out.String(), want) {
				t.Errorf("the view is %q, %v; want %q in it", out.String(), err, want)
			}
		})
	}
	if n := len(record.Shown()); n != 7 {
		t.Errorf("%d views are named", n)
	}
	err := record.Show(t.Context(), new(bytes.Buffer), "mood", hooklog.Read(&log))
	if err == nil || !strings.Contains(err.Error(), "choose one of episodes, history,") {
		t.Errorf("the error is %v", err)
	}
}
