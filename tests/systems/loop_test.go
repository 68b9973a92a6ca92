package systems

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// everything is an observer of all points.
type everything func(run *agent.Run, fired hookkit.AnyFired)

func (f everything) Bind(h *agent.Hooks) { h.ObserveAny(f) }

func (f everything) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) { f(run, fired) }

// stops returns an OnStop hook that adds a signal.
func stops(signals ...agent.EndRun) agent.OnStopFunc {
	return func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) { return signals, nil }
}

func TestHigherHooksAffectLowerOnes(t *testing.T) {
	var d diary
	sees := beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		d.note("low sees %s", call.Args)
		return nil, nil
	})
	hooks := bind(func(h *agent.Hooks) {
		h.BeforeTool.Add(sees, hookkit.Priority(1))
		h.BeforeTool.Add(d.noting("middle"), hookkit.Priority(5))
		h.BeforeTool.Add(extends(" "), hookkit.Priority(10))
		h.Use(agent.OnStopFunc(func(_ context.Context, _ *agent.Run, s agent.Stopping) ([]agent.EndRun, error) {
			d.note("stop %s", s.Signals[0].Cause)
			return nil, nil
		}))
		h.Use(agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
			d.note("stop, too")
			return nil, nil
		}))
	})
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](hooks),
	}.Run(t, "x")
	d.want(t, "middle", `low sees {"n":1} `, "stop completed", "stop, too")
	ran.Recorder.Times(t, "OnStop", 1)
}

func TestEachPointListsItsChanges(t *testing.T) {
	const program = "\t_ = agent.ReplaceBeforeTool(agent.ToolCallRequest{}, \"why\")"
	for _, other := range all("ReplaceOnPermission", "ReplaceAfterStep", "ReplaceOnRunEnd", "ReplaceOnStop",
		"ReplaceShouldStop", "ReplaceBeforeStep", "ReplaceOnToolError") {
		refused(t, "", program, "ReplaceBeforeTool", other, "undefined: agent."+other)
	}
	const outcome = "\tvar _ agent.BeforeToolOutcome = agent.ReplaceBeforeTool(agent.ToolCallRequest{}, \"why\")"
	refused(t, "", outcome, "agent.BeforeToolOutcome", "agent.AfterToolOutcome",
		"does not implement agent.AfterToolOutcome")
	// The loop keeps its own fields of a replaced payload.
	renumbers := bind(func(h *agent.Hooks) {
		h.Use(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			call.ID, call.Step = "mine", 99
			return agent.ReplaceBeforeTool(call, "why"), nil
		}))
		h.Use(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Err, r.Status, r.Call.Name = "", agent.CallSucceeded, "other"
			return agent.ReplaceAfterTool(r, "why"), nil
		}))
		h.Use(agent.BeforeRunEndFunc(func(
			_ context.Context, _ *agent.Run, r agent.AgentResult,
		) (agent.BeforeRunEndOutcome, error) {
			r.Reply, r.Steps, r.Stop = "better", 99, agent.EndRun{Cause: agent.CauseError}
			return agent.ReplaceBeforeRunEnd(r, "why"), nil
		}))
	})
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Err: errBoom}),
		Hooks: all[agent.Hook](renumbers),
	}.Run(t, "x")
	if c := ran.Calls[0]; c.Call.ID != "call_1_1" || c.Call.Step != 1 || c.Call.Name != "work" || c.OK() ||
		c.Status != agent.CallFailed {
		t.Errorf("the call is %+v", c)
	}
	if ran.Reply != "better" || ran.Steps != 2 || ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("the result is %+v", ran.AgentResult)
	}
}

func TestACallMayBeRefusedCompletely(t *testing.T) {
	for name, refuses := range map[string]agent.Hook{
		"a denial": denies("work", "never"),
		"a skip": beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "never"}, Reason: "never"}, nil
		}),
	} {
		tool := work()
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all(refuses)}.Run(t, "x")
		if tool.Count() != 0 || statuses(ran) != "refused" || ran.Calls[0].Attempts != 0 || ran.Failed != nil ||
			ran.Reply != "ok" {
			t.Errorf("%s: the tool ran %d times, %+v", name, tool.Count(), ran.AgentResult)
		}
		contains(t, requestText(t, ran, 1), "never")
	}
}

func TestFunctionsFireOnlyAtTheirPoint(t *testing.T) {
	var calls hookkit.PerRun[int]
	var d diary
	counts := agent.BeforeToolFunc(func(
		_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		calls.Do(run, func(n *int) { *n++ })
		return nil, nil
	})
	reports := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		calls.Do(run, func(n *int) { d.note("%d calls", *n) })
		return nil
	})
	ran := looptest.Harness{
		Turns: working(3), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](counts, reports),
	}.Run(t, "x")
	d.want(t, "3 calls")
	for _, e := range ran.Trace.Events() {
		if e.Kind == hookkit.EventHook && e.Point != "BeforeTool" && e.Point != "OnRunEnd" {
			t.Errorf("a hook ran at %s", e.Point)
		}
	}
}

func TestHooksReplaceRequestAndReply(t *testing.T) {
	var d diary
	var runs []string
	replaces := bind(func(h *agent.Hooks) {
		h.Use(beforeLLM(func(r agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			d.note("hook sees model %q", r.Model)
			r.Model = "large"
			return agent.ReplaceBeforeLLM(r, "why"), nil
		}))
		h.Use(afterLLM(func(r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			d.note("hook sees %q", r.Content)
			r.Content = "better"
			return agent.ReplaceAfterLLM(r, "why"), nil
		}))
	})
	events := everything(func(run *agent.Run, f hookkit.AnyFired) {
		switch left := f.Final.(type) {
		case agent.LLMRequest:
			if f.Point == "BeforeLLM" {
				d.note("request to %q", left.Model)
			}
		case agent.LLMResponse:
			d.note("response %q", left.Content)
		}
		runs = append(runs, run.ID())
	})
	model := looptest.Func(func(_ context.Context, r agent.LLMRequest) (agent.LLMResponse, error) {
		d.note("provider is asked for %q", r.Model)
		return agent.LLMResponse{Content: "good"}, nil
	})
	ran := looptest.Harness{
		Turns: all(model), Hooks: all[agent.Hook](replaces, events), Agent: &loop.Agent{
			Request: agent.LLMRequest{Model: "small"},
		},
	}.Run(t, "x")
	d.want(t, `hook sees model "small"`, `request to "large"`, `provider is asked for "large"`, `hook sees "good"`,
		`response "better"`)
	if ids := slices.Compact(runs); len(ids) != 1 || ids[0] == "" || ran.Reply != "better" {
		t.Errorf("the run is %q, its reply %q", ids, ran.Reply)
	}
}

func TestReplacedPartsAreUsedEverywhere(t *testing.T) {
	one, two := &looptest.Tool{Name: "work", Result: "one"}, &looptest.Tool{Name: "work", Result: "two"}
	build := func(tool agent.Tool) (*hooktest.Recorder, *loop.Agent) {
		h := new(agent.Hooks)
		helper := &loop.Agent{Name: "helper", Tools: all(tool), Model: looptest.NewScript(working(1)...).Named("inner")}
		return hooktest.Record(h.Points()), &loop.Agent{Hooks: h, Tools: all(tool, loop.Subagent(helper)),
			Model: looptest.NewScript(looptest.Call("work", nil), looptest.Call("helper", `{"task":"t"}`), looptest.Reply("ok"))}
	}
	was, _ := build(one)
	is, second := build(two)
	if result, err := second.Run(t.Context(), "x"); err != nil || result.Calls[0].Output != "two" {
		t.Errorf("%+v, %v", result, err)
	}
	if one.Count() != 0 || two.Count() != 2 || len(was.Fires()) != 0 || is.Count("OnRunStart") != 2 ||
		is.Count("AfterTool") != 3 {
		t.Errorf("the tools ran %d and %d times, heard were %v and %v", one.Count(), two.Count(), was.Points(), is.Points())
	}
}

func TestOnlyABegunStepHasAnEnd(t *testing.T) {
	early := agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
		return nil, errBoom
	})
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](early)}.Run(t, "x")
	if ran.Failed == nil || ran.Recorder.Count("BeforeStep")+ran.Recorder.Count("AfterStep") != 0 ||
		ran.Recorder.Count("OnRunEnd") != 1 {
		t.Errorf("before the step: %v, fired %v", ran.Failed, ran.Recorder.Points())
	}
	ran = looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Panic: "ouch"}),
	}.Run(t, "x")
	steps := hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep")
	if len(steps) != 2 || len(steps[0].Results) != 1 || steps[0].Results[0].Status != agent.CallFailed ||
		steps[1].Err != "" {
		t.Errorf("in a tool: %+v", steps)
	}
	ran = looptest.Harness{Turns: all(looptest.Error(errBoom))}.Run(t, "x")
	steps = hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep")
	if len(steps) != 1 || steps[0].Response != nil || ran.Failed == nil {
		t.Fatalf("in the model: %+v", steps)
	}
	contains(t, steps[0].Err, "boom")
}

func TestAThrownRefusalIsAFailure(t *testing.T) {
	for name, throws := range map[string]func(){"error": func() {}, "panic": func() { panic("never") }} {
		gate := onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			throws()
			return nil, fmt.Errorf("never")
		})
		tool := work()
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](gate)}.Run(t, "x")
		denied := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
		failures := ran.Recorder.Fires("OnPermission")[0].Failures
		if len(denied) != 1 || denied[0].Kind != agent.DeniedByHook || len(failures) != 1 ||
			failures[0].Point != "OnPermission" || tool.Count() != 0 {
			t.Fatalf("%s: denied %+v, failed %v", name, denied, failures)
		}
		contains(t, denied[0].Reason, "never")
		contains(t, failures[0].Error(), "never")
		failed := 0
		for _, e := range ran.Trace.Events() {
			if e.Kind == hookkit.EventHook && e.Failure != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%s: %d events of a failed hook", name, failed)
		}
	}
}

func TestTheFinishedEventHasTheFinalStatus(t *testing.T) {
	for want, l := range map[agent.Cause]looptest.Harness{
		agent.CauseCompleted:  {Turns: working(1)},
		agent.CauseStepsLimit: {Turns: working(9), Agent: &loop.Agent{Limits: loop.Limits{Steps: 1}}},
		agent.CauseError:      {Turns: all(looptest.Error(errBoom))},
		agent.CauseStopRequested: {
			Turns: working(1), Hooks: all[agent.Hook](onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) {
				return agent.EndTurn{Reason: "no"}, nil
			})),
		},
	} {
		var d diary
		l.Tools = all[agent.Tool](work())
		ran := l.Do(t, t.Context(), loop.Request{Task: "x", Events: func(e loop.Event) {
			if e.Kind == loop.EventEnd {
				d.note("%v", e.End.Stop.Cause)
			}
		}})
		d.want(t, string(want))
		if ended := hooktest.PayloadsOf[agent.AgentResult](ran.Recorder, "OnRunEnd"); len(ended) != 1 ||
			ended[0].Stop.Cause != want || ended[0].Err != ran.Err {
			t.Errorf("%s: ended as %+v", want, ended)
		}
	}
}

func TestAllEventsHaveTheStrongestStop(t *testing.T) {
	person := agent.EndRun{Cause: agent.CauseUserRequested, Message: "the user left"}
	early := agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
		if s.Number == 0 {
			return nil, nil
		}
		return []agent.EndRun{{Cause: agent.CauseFinishReason, Message: "an older step's"}}, nil
	})
	for name, l := range map[string]looptest.Harness{
		"beats completed":    {Turns: working(0), Hooks: all[agent.Hook](stops(person))},
		"beats an older one": {Turns: working(3), Hooks: all[agent.Hook](early, stops(person))},
		"whatever is weaker": {
			Turns: working(0), Hooks: all[agent.Hook](stops(agent.EndRun{Cause: agent.CauseTimeLimit}, person,
				agent.EndRun{Cause: agent.CauseRetryLimit})),
		},
		"the first of equals": {
			Turns: working(0), Hooks: all[agent.Hook](stops(person, agent.EndRun{
				Cause: agent.CauseUserRequested, Message: "later",
			})),
		},
	} {
		l.Tools = all[agent.Tool](work())
		ran := l.Run(t, "x")
		stopped := []agent.EndRun{ran.Stop}
		for _, point := range all("BeforeRunEnd", "OnRunEnd") {
			for _, r := range hooktest.PayloadsOf[agent.AgentResult](ran.Recorder, point) {
				stopped = append(stopped, r.Stop)
			}
		}
		for i := range stopped {
			if stopped[i].By == "" {
				t.Errorf("%s: nobody gave %+v", name, stopped[i])
			}
			stopped[i].By = ""
		}
		if diff := cmp.Diff(all(person, person, person), stopped); diff != "" || len(ran.Signals) < 2 {
			t.Errorf("%s: of the signals %+v\n%s", name, ran.Signals, diff)
		}
	}
}

func TestStepsAreNumberedAndEventsSayWhy(t *testing.T) {
	ran := looptest.Harness{
		Turns: working(1),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&limit.Steps{Max: limit.AtMost(1)}),
	}.Run(t, "x")
	stop := hooktest.PayloadsOf[agent.Stopping](ran.Recorder, "OnStop")
	if len(stop) != 1 || len(stop[0].Signals) != 1 || stop[0].Signals[0].Cause != agent.CauseStepsLimit ||
		stop[0].Signals[0].By != "limit.Steps" || stop[0].Signals[0].Message == "" {
		t.Errorf("the stop: %+v", stop)
	}
	var numbers []int
	ran = looptest.Harness{
		Turns: all(looptest.Call("work", nil), looptest.Error(errBoom)), Tools: all[agent.Tool](work()),
	}.Run(t, "x")
	for _, s := range hooktest.PayloadsOf[agent.Step](ran.Recorder, "BeforeStep") {
		numbers = append(numbers, s.Number)
	}
	for _, s := range hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep") {
		numbers = append(numbers, s.Step.Number)
	}
	failed := hooktest.PayloadsOf[agent.RunError](ran.Recorder, "OnRunError")
	if !slices.Equal(numbers, []int{1, 2, 1, 2}) || len(failed) != 1 || failed[0].Where != "LLM" ||
		failed[0].Partial.Steps != 2 {
		t.Fatalf("steps %v, failures %+v", numbers, failed)
	}
	contains(t, failed[0].Err, "boom")
}

func TestTwoBuildsShareNoState(t *testing.T) {
	build := func() *loop.Agent {
		h := new(agent.Hooks)
		h.Use(builtin.Guards{Steps: limit.AtMost(4)})
		h.Use(&repair.LoopDetector{})
		h.Use(&limit.Tools{Limits: map[string]int{"work": 2}})
		return &loop.Agent{
			Hooks: h,
			Tools: all[agent.Tool](work()),
			Model: looptest.NewScript(working(9)...),
			Clock: looptest.NewClock(time.Unix(0, 0)),
		}
	}
	var results [4]agent.AgentResult
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() { results[i], _ = build().Run(t.Context(), "x") })
	}
	wait.Wait()
	for _, r := range results {
		if !reflect.DeepEqual(r, results[0]) || r.Steps != 4 || r.Stop.Cause != agent.CauseStepsLimit || !r.Calls[1].OK() ||
			r.Calls[2].OK() {
			t.Errorf("of builds that are the same one made\n%+v\nthe first\n%+v", r, results[0])
		}
	}
}
