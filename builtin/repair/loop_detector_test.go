package repair_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// sequence is a tool that returns its results in order and then repeats the last one.
func sequence(name string, results ...string) *looptest.Tool {
	var mu sync.Mutex
	next := 0
	return &looptest.Tool{Name: name, Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		result := results[min(next, len(results)-1)]
		next++
		return result, nil
	}}
}

func times(n int, turns ...looptest.Turn) []looptest.Turn {
	var out []looptest.Turn
	for range n {
		out = append(out, turns...)
	}
	return append(out, looptest.Reply("done"))
}

func TestLoopDetectorHintsThenEndsTurn(t *testing.T) {
	look := &looptest.Tool{Name: "look", Result: "a door"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("look", `{"at":"door","n":1}`),
			looptest.Call("look", `{"n": 1.0, "at": "door"}`),
			looptest.Call("look", `{"n":1,"at":"\u0064oor"}`),
			looptest.Reply("never"),
		},
		Tools: []agent.Tool{look},
		Hooks: []agent.Hook{&repair.LoopDetector{}},
	}.Run(t, "look")
	if look.Count() != 1 {
		t.Errorf("the tool ran %d times, want once", look.Count())
	}
	if got := fixture.Statuses(ran); got != "succeeded hint unrun" {
		t.Errorf("the calls: %s", got)
	}
	hint := ran.Calls[1]
	want := "you already called look with exactly these arguments; use other arguments, another tool, or answer"
	if hint.Err != want || hint.OK() {
		t.Errorf("the hint is %q, want %q", hint.Err, want)
	}
	if ran.Reply != "Sorry, I couldn't complete that request." || ran.Stop.Message != "loop: look x3" {
		t.Errorf("it ended with %q, because %q", ran.Reply, ran.Stop.Message)
	}
	if ran.Stop.Cause != agent.CauseStopRequested || !strings.Contains(ran.EndedBy, "LoopDetector") {
		t.Errorf("it was stopped by %q with %q", ran.EndedBy, ran.Stop.Cause)
	}
	third := ran.Script.Requests()[2]
	if last := third.Messages[len(third.Messages)-1]; !last.IsError ||
		!strings.Contains(last.Content, "you already called look") {
		t.Errorf("the model is told %+v", last)
	}
}

func TestLoopDetectorUsesConfiguredBounds(t *testing.T) {
	same := []string{"the same"}
	for _, c := range []struct {
		name     string
		detector *repair.LoopDetector
		results  []string
		turns    []looptest.Turn
		want     string
		stop     string
	}{
		{"other arguments never count", &repair.LoopDetector{}, same,
			times(1, looptest.Call("t", `{"a":1}`), looptest.Call("t", `{"a":2}`), looptest.Call("t", `{"a":3}`),
				looptest.Call("t", `{"b":1}`)),
			"succeeded succeeded succeeded succeeded", ""},
		{"other calls in between make no difference", &repair.LoopDetector{}, same,
			times(1, looptest.Call("t", `{"a":1}`), looptest.Call("t", `{"a":2}`), looptest.Call("t", `{"a":1}`),
				looptest.Call("t", `{"a":1}`)),
			"succeeded succeeded hint unrun", "loop: t x3"},
		{"no arguments and empty ones are the same", &repair.LoopDetector{}, same,
			times(1, looptest.Call("t", ``), looptest.Call("t", `{}`)), "succeeded hint", ""},
		{"what is no JSON counts as its own text", &repair.LoopDetector{}, same,
			times(1, looptest.Call("t", `{"a":`), looptest.Call("t", `{"a": `), looptest.Call("t", `{"a":`)),
			"failed failed hint", ""},
		{"a higher HintAfter lets more calls run", &repair.LoopDetector{HintAfter: 3}, same,
			times(5, looptest.Call("t", nil)), "succeeded succeeded succeeded hint unrun", "loop: t x5"},
		{"a higher BreakAfter gives more hints", &repair.LoopDetector{BreakAfter: 4}, same,
			times(5, looptest.Call("t", nil)), "succeeded hint hint hint unrun", "loop: t x5"},
		{"a negative BreakAfter never ends the turn", &repair.LoopDetector{BreakAfter: limit.None}, same,
			times(5, looptest.Call("t", nil)), "succeeded hint hint hint hint", ""},
		{"a negative HintAfter gives no hint", &repair.LoopDetector{HintAfter: limit.None, BreakAfter: 3}, same,
			times(5, looptest.Call("t", nil)), "succeeded succeeded succeeded unrun", "loop: t x4"},
		{"equal limits end the turn without a hint", &repair.LoopDetector{BreakAfter: 1}, same,
			times(5, looptest.Call("t", nil)), "succeeded unrun", "loop: t x2"},

		{"a result that changes is progress", &repair.LoopDetector{HintAfter: 2},
			[]string{"10%", "20%", "30%", "40%", "done"},
			times(5, looptest.Call("t", nil)), "succeeded succeeded succeeded succeeded succeeded", ""},
		{"a result that stays is none", &repair.LoopDetector{HintAfter: 2}, []string{"10%", "20%", "20%"},
			times(6, looptest.Call("t", nil)), "succeeded succeeded succeeded hint unrun", "loop: t x4"},
		{"polling runs until the result stays", &repair.LoopDetector{Poll: []string{"t"}},
			[]string{"10%", "20%", "30%", "30%"},
			times(7, looptest.Call("t", nil)), "succeeded succeeded succeeded succeeded hint unrun", "loop: t x3"},
		{"any tool can be polled", &repair.LoopDetector{Poll: []string{"*"}}, []string{"1", "2", "3", "4"},
			times(4, looptest.Call("t", nil)), "succeeded succeeded succeeded succeeded", ""},
		{"another tool's polling makes no difference", &repair.LoopDetector{Poll: []string{"u"}},
			[]string{"1", "2", "3", "4"},
			times(2, looptest.Call("t", nil)), "succeeded hint", ""},

		{"a repeat in one reply gets a hint even if hints are off", &repair.LoopDetector{BreakAfter: 1}, same,
			times(1, looptest.Calls(looptest.Call("t", nil), looptest.Call("t", nil))), "succeeded hint", ""},
		{"a repeat in one reply gets the hint and never ends the turn", &repair.LoopDetector{}, same,
			times(1, looptest.Calls(looptest.Call("t", nil), looptest.Call("t", nil), looptest.Call("t", nil),
				looptest.Call("t", nil))),
			"succeeded hint hint hint", ""},
		{"a reply full of polling does not end the turn before a hint", &repair.LoopDetector{Poll: []string{"t"}}, same,
			append(times(1, looptest.Calls(times(4, looptest.Call("t", nil))[:4]...))[:1], times(2, looptest.Call("t", nil))...),
			"succeeded succeeded succeeded succeeded hint unrun", "loop: t x5"},
		{"after a reply full of repeats the next one ends the turn", &repair.LoopDetector{}, same,
			times(2, looptest.Calls(looptest.Call("t", nil), looptest.Call("t", nil), looptest.Call("t", nil))),
			"succeeded hint hint unrun unrun unrun", "loop: t x4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: c.turns, Tools: []agent.Tool{sequence("t", c.results...)}, Hooks: []agent.Hook{c.detector},
			}.Run(t, "go")
			if got := fixture.Statuses(ran); got != c.want {
				t.Errorf("the calls: %s\nwant:      %s", got, c.want)
			}
			if ran.Stop.Message != c.stop || (c.stop == "") != (ran.Reply == "done") {
				t.Errorf("it ended with %q because %q, want %q", ran.Reply, ran.Stop.Message, c.stop)
			}
		})
	}
}

func TestLoopNoteLetsRepeatedCallRun(t *testing.T) {
	look := &looptest.Tool{Name: "look", Result: "a door"}
	ran := looptest.Harness{
		Turns: times(3, looptest.Call("look", nil)),
		Tools: []agent.Tool{look},
		Hooks: []agent.Hook{&repair.LoopDetector{Mode: repair.LoopNote, BreakAfter: limit.None}},
	}.Run(t, "look")
	if look.Count() != 3 || fixture.Statuses(ran) != "succeeded succeeded succeeded" {
		t.Errorf("the tool ran %d times: %s", look.Count(), fixture.Statuses(ran))
	}
	if got := fixture.PromptsWith(ran, "you already called look with exactly these arguments"); got != "0011" {
		t.Errorf("the note was in the prompts %s, want 0011", got)
	}
}

func TestChangedResultDropsLoopNote(t *testing.T) {
	ran := looptest.Harness{
		Turns: times(3, looptest.Call("look", nil)),
		Tools: []agent.Tool{sequence("look", "1", "2", "3")},
		Hooks: []agent.Hook{&repair.LoopDetector{Mode: repair.LoopNote}},
	}.Run(t, "look")
	if got := fixture.PromptsWith(ran, "you already called"); got != "0000" || ran.Reply != "done" {
		t.Errorf("the note was in the prompts %s, want none; the reply: %q", got, ran.Reply)
	}
}

func TestLoopDetectorRecognizesRewrittenCalls(t *testing.T) {
	stamp := 0
	rewrite := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		stamp++
		call.Args = json.RawMessage(fmt.Sprintf(`{"stamp":%d}`, stamp))
		return agent.ReplaceBeforeTool(call, "stamped"), nil
	})
	ran := looptest.Harness{
		Turns: times(4, looptest.Call("t", nil)),
		Tools: []agent.Tool{sequence("t", "1", "2", "3", "4")},
		Hooks: []agent.Hook{&repair.LoopDetector{HintAfter: 2}, rewrite},
	}.Run(t, "go")
	if got := fixture.Statuses(ran); got != "succeeded succeeded succeeded succeeded" {
		t.Errorf("the changed results were not seen: %s", got)
	}
}

func TestLoopDetectorCountsPerRun(t *testing.T) {
	look := &looptest.Tool{Name: "look"}
	script := looptest.NewScript(times(2, looptest.Call("look", nil))...).ForEachRun()
	made := looptest.Harness{
		Agent: &loop.Agent{Model: script}, Tools: []agent.Tool{look}, Hooks: []agent.Hook{&repair.LoopDetector{}},
	}.Make()
	for n := 1; n <= 3; n++ {
		if _, err := made.Agent.Run(t.Context(), "look"); err != nil || look.Count() != n {
			t.Errorf("after %d runs the tool ran %d times, want once in each (%v)", n, look.Count(), err)
		}
	}
}

func TestLoopDetectorsShareNoState(t *testing.T) {
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{Name: "look"}
	a, b := new(repair.LoopDetector), new(repair.LoopDetector)
	for _, d := range []*repair.LoopDetector{a, b} {
		if out, err := d.BeforeTool(t.Context(), run, call); out != nil || err != nil {
			t.Errorf("the first call: %v, %v", out, err)
		}
	}
}

func TestLoopDetectorCountsParallelCalls(t *testing.T) {
	const workers, each = 8, 1000
	d := &repair.LoopDetector{HintAfter: workers*each - 1, BreakAfter: limit.None}
	var hooks agent.Hooks
	hooks.Use(d)
	run := agent.NewRun(nil)
	var group sync.WaitGroup
	var hints sync.Map
	for w := range workers {
		group.Go(func() {
			for i := range each {
				call := agent.ToolCallRequest{Name: "look"}
				if exit, _ := hooks.BeforeTool.Fire(t.Context(), run, &call); exit != nil {
					hints.Store([2]int{w, i}, exit)
				}
			}
		})
	}
	group.Wait()
	n := 0
	hints.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d of %d calls got a hint, want the last one alone", n, workers*each)
	}
}

func TestHintIsRecordedAsRefusal(t *testing.T) {
	ran := looptest.Harness{
		Turns: times(2, looptest.Call("look", nil)),
		Tools: []agent.Tool{&looptest.Tool{Name: "look"}},
		Hooks: []agent.Hook{&repair.LoopDetector{}},
	}.Run(t, "look")
	ran.Recorder.Decided(t, "BeforeTool", "repair.LoopDetector", "SkipTool", "loop_hint")
	results := hooktest.PayloadsOf[agent.ToolCallResult](ran.Recorder, "AfterTool")
	if len(results) != 2 || results[1].Status != agent.CallRefused || results[1].OK() ||
		results[1].Kind != agent.FailSkipped {
		t.Errorf("AfterTool was told %+v", results)
	}
}

func TestInvalidLoopDetectorPanicsInBind(t *testing.T) {
	for _, c := range []struct {
		detector *repair.LoopDetector
		want     string
	}{
		{&repair.LoopDetector{HintAfter: limit.None, BreakAfter: limit.None},
			"HintAfter and BreakAfter are both switched off"},
		{&repair.LoopDetector{HintAfter: -2}, "HintAfter is -2"},
		{&repair.LoopDetector{HintAfter: limit.AtMost(0)}, "HintAfter or BreakAfter is 0"},
		{&repair.LoopDetector{BreakAfter: limit.AtMost(0)}, "HintAfter or BreakAfter is 0"},
		{&repair.LoopDetector{HintAfter: 2, BreakAfter: 1}, "BreakAfter is 1, below HintAfter, which is 2"},
		{&repair.LoopDetector{Poll: []string{""}}, "Poll[0] is empty"},
		{&repair.LoopDetector{HintAfter: 3, BreakAfter: 2}, "BreakAfter is 2, below HintAfter, which is 3"},
		{&repair.LoopDetector{Mode: "skp"}, `Mode is "skp"; use LoopSkip or LoopNote`},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := fixture.UsePanic(c.detector); !strings.Contains(got, "repair.LoopDetector: "+c.want) {
				t.Errorf("%+v was refused with %q, want %q", c.want, got, c.want)
			}
		})
	}
	var hooks agent.Hooks
	hooks.Use(&repair.LoopDetector{})
	if list := hooks.BeforeTool.List(); len(list) != 1 || list[0].Priority != hookkit.Detection {
		t.Errorf("it is bound as %+v", list)
	}
}

// Some hosts do not number their steps.
func TestCallsWithoutStepsAreCompared(t *testing.T) {
	for _, c := range []struct {
		name     string
		detector *repair.LoopDetector
		results  []string // of the same call
		want     string   // the outcome of each call
	}{
		{"progress", &repair.LoopDetector{HintAfter: 2}, []string{"1", "2", "3", "4"}, "<nil> <nil> <nil> <nil>"},
		{"no progress", &repair.LoopDetector{HintAfter: 2}, []string{"1", "2", "2", "2"}, "<nil> <nil> <nil> agent.SkipTool"},
		{"no hints", &repair.LoopDetector{BreakAfter: 1}, []string{"1", "1"}, "<nil> agent.EndTurn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, call := agent.NewRun(nil), agent.ToolCallRequest{ID: "1", Name: "t"}
			var got []string
			for _, output := range c.results {
				out, err := c.detector.BeforeTool(t.Context(), run, call)
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, fmt.Sprintf("%T", out)); out == nil {
					_, _ = c.detector.AfterTool(t.Context(), run, agent.ToolCallResult{Call: call, Output: output})
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("decided %s, want %s", text, c.want)
			}
		})
	}
}

func TestManyCallsAreCountedApart(t *testing.T) {
	run, d := agent.NewRun(nil), new(repair.LoopDetector)
	for step := range 2 {
		for i := range 40 {
			call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: fmt.Sprint("t", i), Step: step + 1}
			out, err := d.BeforeTool(t.Context(), run, call)
			if refused := out != nil; err != nil || refused != (step == 1) {
				t.Errorf("call %d of step %d: %T, %v", i, step+1, out, err)
			}
		}
	}
}

func TestLongToolNamesAreTruncated(t *testing.T) {
	run, d := agent.NewRun(nil), new(repair.LoopDetector)
	call := agent.ToolCallRequest{Name: strings.Repeat("é", 100_000)}
	for range 2 {
		out, _ := d.BeforeTool(t.Context(), run, call)
		if skip, ok := out.(agent.SkipTool); ok && len(skip.Result.Err) > 400 {
			t.Errorf("the hint has %d bytes", len(skip.Result.Err))
		}
	}
	out, _ := d.BeforeTool(t.Context(), run, call)
	if end, ok := out.(agent.EndTurn); !ok || len(end.Reason) > 200 {
		t.Errorf("the third call: %T", out)
	}
}
