package systems

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// playing returns the turns of a model that calls the tools with these one-letter names, one per step, and then
// answers.
func playing(tools string) []looptest.Turn {
	var turns []looptest.Turn
	for _, name := range tools {
		turns = append(turns, looptest.Call(string(name), `{"n":1}`))
	}
	return append(turns, looptest.Reply("ok"))
}

// letters returns tools named a, b and c. The tool c fails.
func letters() []agent.Tool {
	return []agent.Tool{
		&looptest.Tool{Name: "a", Result: "same"}, &looptest.Tool{Name: "b", Result: "same"}, &looptest.Tool{
			Name: "c", Err: errBoom,
		},
	}
}

// prompted returns the prompts of a run that contain a text, counted from 0.
func prompted(t testing.TB, ran *looptest.Ran, text string) (prompts []int) {
	t.Helper()
	for i := range ran.Script.Requests() {
		if strings.Contains(requestText(t, ran, i), text) {
			prompts = append(prompts, i)
		}
	}
	return prompts
}

// notUsable fails the test unless using a hook panics with a message that contains the text.
func notUsable(t testing.TB, hook agent.Hook, message string) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, message) {
			t.Errorf("using %T panics with %q, want %q in it", hook, got, message)
		}
	}()
	new(agent.Hooks).Use(hook)
}

func TestStagnationNudgesWhenNothingNewHappens(t *testing.T) {
	n := 0.0
	progress := func(by float64) func(context.Context, *agent.Run) (float64, error) {
		return func(context.Context, *agent.Run) (float64, error) { n += by; return n, nil }
	}
	for name, c := range map[string]struct {
		hook  *repair.Stagnation
		calls string
		want  []int // the prompts with a nudge: after so many calls
	}{
		"one repeat":          {&repair.Stagnation{}, "aa", nil},
		"at the threshold":    {&repair.Stagnation{NudgeAfter: 2}, "aa", []int{2}},
		"another action":      {&repair.Stagnation{}, "aabaab", nil},
		"reset after a nudge": {&repair.Stagnation{}, "aaaaaaa", []int{3, 6}},
		"no reset":            {&repair.Stagnation{KeepNudging: true}, "aaaaa", []int{3, 4, 5}},
		"progress goes up":    {&repair.Stagnation{Progress: progress(1)}, "aaaa", nil},
		"progress stands":     {&repair.Stagnation{Progress: progress(0)}, "aaaa", []int{3}},
		"progress goes down":  {&repair.Stagnation{Progress: progress(-1)}, "aaaa", []int{3}},
		"progress fails": {
			&repair.Stagnation{Progress: func(context.Context, *agent.Run) (float64, error) { return 0, errBoom }},
			"aaaa",
			[]int{3},
		},
		"an ignored tool": {&repair.Stagnation{Ignore: all("b")}, "ababa", []int{5}},
		"no opinion": {
			&repair.Stagnation{Fingerprint: func(agent.ToolCallResult) string { return "" }},
			"aaaa",
			nil,
		},
		"words of one's own": {
			&repair.Stagnation{Nudge: func(streak int) string { return fmt.Sprint("[stagnation detected] ", streak) }},
			"aaa",
			[]int{3},
		},
		"every call its print": {
			&repair.Stagnation{Fingerprint: func(agent.ToolCallResult) string { n++; return fmt.Sprint(n) }},
			"aaaa",
			nil,
		},
	} {
		for range 2 { // fresh in each run
			ran := looptest.Harness{Turns: playing(c.calls), Tools: letters(), Hooks: all[agent.Hook](c.hook)}.Run(t, "x")
			if got := prompted(t, ran, "[stagnation detected]"); !slices.Equal(got, c.want) {
				t.Errorf("%s: nudged in %v, want %v", name, got, c.want)
			}
		}
	}
	notUsable(t, &repair.Stagnation{NudgeAfter: 1}, "give at least 2")
}

func TestCallsAreComparedByTheirValue(t *testing.T) {
	var detector repair.LoopDetector
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{`{"a":1,"b":2}`, `{"a":1,"b":2}`, true},
		{`{"a":1,"b":2}`, `{"a":1,"b":3}`, false},
		{`{"a":1,"b":2}`, `{ "b": 2.0, "a": 1 }`, true},
		{`{"in":{"x":[1,{"y":2,"z":3}]}}`, `{"in":{"x":[1,{"z":3,"y":2}]}}`, true},
		{`{"in":[1,2]}`, `{"in":[2,1]}`, false},
		{`{}`, `{"a":null}`, false},
	} {
		turns := all(looptest.Call("work", c.one), looptest.Call("work", c.other), looptest.Reply("ok"))
		hooks := all[agent.Hook](&detector, &repair.Stagnation{NudgeAfter: 2})
		ran := looptest.Harness{Turns: turns, Tools: all[agent.Tool](work()), Hooks: hooks}.Run(t, "x")
		if hint := ran.Calls[1].Reason == "loop_hint"; hint != c.same {
			t.Errorf("%s and %s: a loop %v, want %v", c.one, c.other, hint, c.same)
		}
		if nudged := prompted(t, ran, "[stagnation") != nil; nudged != c.same {
			t.Errorf("%s and %s: stagnation %v, want %v", c.one, c.other, nudged, c.same)
		}
	}
	n := 0
	fills := &looptest.Tool{Name: "a", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		n++
		return strings.Repeat("x", n/2), nil
	}}
	ran := looptest.Harness{
		Turns: playing("aaa"),
		Tools: all[agent.Tool](fills),
		Hooks: all[agent.Hook](&repair.Stagnation{NudgeAfter: 2, Fingerprint: repair.CallAndSize}),
	}.Run(t, "x")
	if got := prompted(t, ran, "[stagnation"); !slices.Equal(got, []int{3}) { // results are empty, x and x
		t.Errorf("nudged in %v", got)
	}
}

func TestAToolHasACallLimit(t *testing.T) {
	for name, c := range map[string]struct {
		hook   *limit.Tools
		calls  string
		status string
	}{
		"under":    {&limit.Tools{Limits: map[string]int{"a": 2}}, "a", "succeeded"},
		"at":       {&limit.Tools{Limits: map[string]int{"a": 2}}, "aaa", "succeeded succeeded refused"},
		"unlisted": {&limit.Tools{Limits: map[string]int{"a": 1}}, "bbb", "succeeded succeeded succeeded"},
		"tools apart": {
			&limit.Tools{Limits: map[string]int{"a": 1, "b": 1}},
			"abab",
			"succeeded succeeded refused refused",
		},
		"failures too": {&limit.Tools{Limits: map[string]int{"c": 1}}, "cc", "failed refused"},
		"default": {
			&limit.Tools{Limits: map[string]int{"b": 2}, Default: limit.AtMost(1)},
			"aabb",
			"succeeded refused succeeded succeeded",
		},
		"zero":          {&limit.Tools{Limits: map[string]int{"a": 0}}, "a", "refused"},
		"zero for rest": {&limit.Tools{Default: limit.AtMost(0)}, "ab", "refused refused"},
	} {
		for range 2 { // fresh in each run
			ran := looptest.Harness{Turns: playing(c.calls), Tools: letters(), Hooks: all[agent.Hook](c.hook)}.Run(t, "x")
			if got := statuses(ran); got != c.status {
				t.Errorf("%s: %s, want %s", name, got, c.status)
			}
			if last := ran.Calls[len(ran.Calls)-1]; name == "at" && (!last.NoRetry || !strings.Contains(last.Err, "(2/2)")) {
				t.Errorf("the refusal is %+v", last)
			}
		}
	}
	own := &limit.Tools{
		Default: limit.AtMost(1),
		Message: func(tool string, limit, used int) string { return fmt.Sprint(tool, limit, used, " no more") },
	}
	ran := looptest.Harness{Turns: playing("aa"), Tools: letters(), Hooks: all[agent.Hook](own)}.Run(t, "x")
	contains(t, requestText(t, ran, 2), "a1 1 no more")
	notUsable(t, &limit.Tools{Limits: map[string]int{"a": -1}}, "is -1; give 0 or more")
	notUsable(t, &limit.Tools{Default: limit.AtMost(-1)}, "is -1; give 0 or more")
	notUsable(t, &limit.Tools{}, "nothing would be limited")
}

func TestTheModelIsWarnedOfItsLimit(t *testing.T) {
	for name, c := range map[string]struct {
		hook  *limit.Warning
		steps int
		texts map[int]string // by prompt
	}{
		"escalating": {&limit.Warning{}, 10, map[int]string{
			5: "[low budget] 50% of step budget remaining (5 steps). Start consolidating.",
			8: "[low budget] 20% of step budget remaining (2 steps). Start consolidating.",
		}},
		"words of one's own": {&limit.Warning{Fractions: all(0.3), Message: func(f float64, left int) string {
			return fmt.Sprintf("[low budget] %.1f and %d", f, left)
		}}, 10, map[int]string{7: "[low budget] 0.3 and 3"}},
		"unknown total": {&limit.Warning{}, -1, nil},
	} {
		for range 2 { // fresh in each run
			limits := &loop.Agent{Limits: loop.Limits{Steps: c.steps}}
			ran := looptest.Harness{
				Turns: playing("abababababab"), Tools: letters(), Hooks: all[agent.Hook](c.hook), Agent: limits,
			}.Run(t, "x")
			got := prompted(t, ran, "[low budget]")
			for _, at := range got {
				contains(t, requestText(t, ran, at), c.texts[at])
			}
			if !slices.Equal(got, slices.Sorted(maps.Keys(c.texts))) {
				t.Errorf("%s: warned in %v, want %v", name, got, c.texts)
			}
		}
	}
	for _, outside := range []float64{0, 1, -0.5, 1.5} {
		notUsable(t, &limit.Warning{Fractions: all(outside)}, "above 0 and below 1")
	}
}

func TestAnOperatorTalksToARunningAgent(t *testing.T) {
	run := func(s *prompt.Steering, turns ...looptest.Turn) *looptest.Ran {
		return looptest.Harness{Turns: turns, Tools: letters(), Hooks: all[agent.Hook](s)}.Run(t, "x")
	}
	var anyone agent.Identity
	steer := func(s *prompt.Steering, text string) {
		if err := s.Steer(anyone, text); err != nil {
			t.Error(err)
		}
	}
	one, whole := &prompt.Steering{Share: share.Everyone}, &prompt.Steering{Share: share.Everyone, All: true}
	if ran := run(one, looptest.Reply("ok")); len(ran.Script.Requests()[0].Messages) != 1 {
		t.Error("an empty queue adds a message")
	}
	for _, s := range all(one, whole) {
		for _, text := range all("first", " \n\t", "second") { // the blank one is ignored
			steer(s, text)
		}
	}
	ran := run(one, playing("ab")...)
	if f, s := prompted(t, ran, "[OPERATOR STEERING]\n- first"), prompted(t, ran, "- second"); !slices.Equal(f,
		[]int{0, 1, 2}) || !slices.Equal(s, []int{1, 2}) { // they are part of the conversation
		t.Errorf("one at a time: first in %v, second in %v", f, s)
	}
	ran = run(whole, playing("ab")...)
	if got := prompted(t, ran, "[OPERATOR STEERING]\n- first\n- second"); !slices.Equal(got, []int{0, 1, 2}) ||
		len(whole.Pending(anyone)) != 0 {
		t.Errorf("all at once: in %v, %d pending", got, len(whole.Pending(anyone)))
	}
	steer(one, "kept")
	ran = run(one, looptest.Error(errors.New("down")))
	if m := ran.Messages; len(m) != 2 || m[1].Content != "[OPERATOR STEERING]\n- kept" {
		t.Errorf("when the model failed, the conversation is %+v", m)
	}
	steer(one, "cleared")
	one.Clear(anyone)
	var producers sync.WaitGroup
	for p := range 4 {
		producers.Go(func() {
			for i := range 25 {
				steer(one, fmt.Sprint(p, i))
			}
		})
	}
	producers.Wait()
	if len(one.Pending(anyone)) != 100 {
		t.Errorf("%d of 100 messages are pending", len(one.Pending(anyone)))
	}
}

func TestARunStopsForAnApproval(t *testing.T) {
	asks := &looptest.Tool{Name: "pay", Result: `{"needs_approval":true,"approval_description":"Pay 40?"}`}
	store := new(session.Map)
	l := looptest.Harness{
		Turns: all(looptest.Call("a", `{"n":1}`), looptest.Call("pay", nil), looptest.Reply("never")),
		Tools: append(letters(), asks),
		Hooks: all[agent.Hook](&permission.ApprovalStop{}, &session.Checkpoint{Store: store, Every: 1}),
	}
	ran := l.Do(t, t.Context(), loop.Request{Task: "x", Conversation: "c"})
	pending, waits := permission.WaitsForApproval(ran.AgentResult)
	if !waits || pending.Tool != "pay" || pending.Step != 2 || ran.Stop.Message != "waiting_for_approval" ||
		len(ran.Script.Calls()) != 2 {
		t.Fatalf("waits %v for %+v, %+v", waits, pending, ran.Stop)
	}
	answer, err := pending.Answer("approve")
	state, missing := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
	if err != nil || missing != nil || state.StepNumber != 2 {
		t.Fatalf("%v, %v, step %d", err, missing, state.StepNumber)
	}
	again := looptest.Harness{
		Turns: playing("a"),
		Tools: letters(),
		Hooks: all[agent.Hook](&permission.ApprovalStop{}, answer),
	}.
		Do(t, t.Context(), loop.Request{
			Messages: state.Messages,
			Resume:   loop.Resume{Steps: state.Counters.Step},
		})
	if got := prompted(t, again, "The user answered: approve"); !slices.Equal(got, []int{0}) || again.Reply != "ok" ||
		again.Steps != 4 {
		t.Errorf("told in %v, %+v", got, again.AgentResult)
	}
	if _, waits := permission.WaitsForApproval(again.AgentResult); waits {
		t.Error("the run that went on still waits")
	}
}
