package systems

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// denies returns a vote against every call of a tool.
func denies(tool, reason string) agent.Hook {
	return onPermission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if c.Name != tool {
			return nil, nil
		}
		return agent.Deny{Reason: reason}, nil
	})
}

// Invariants 4, short-circuit, and 5, vote: in a flow the first exit wins, in a vote the strongest, then the first.
func TestAfterAVetoNoOtherGateDecides(t *testing.T) {
	var d diary
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
		beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "first"}}, nil
		}),
		d.noting("second"),
	)}.Run(t, "x")
	if d.all() != nil || ran.Calls[0].Err != "first" {
		t.Errorf("noted %v, %+v", d.all(), ran.Calls)
	}
	ran = looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
		onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			return agent.Allow{Reason: "fine"}, nil
		}),
		denies("work", "the first no"), denies("work", "the last no"),
	)}.Run(t, "x")
	if ran.Calls[0].Reason != "the first no" || len(ran.Recorder.Fires("OnPermission")[0].Ballots) != 3 {
		t.Errorf("got %+v", ran.Calls)
	}
}

// Invariant 5 and law P4, asked once: a successful answer from a cache needs permission too.
func TestACachedResultMustBePermitted(t *testing.T) {
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all(answers("the cached secret"), denies("work", "no")),
	}.Run(t, "x")
	if c := ran.Calls[0]; c.OK() || c.Status != agent.CallRefused || c.Reason != "no" {
		t.Errorf("got %+v", c)
	}
	lacks(t, requestText(t, ran, 1), "the cached secret")
}

// Law P4: a person is asked once per call, on its final arguments, and never about a call that a hook denies.
func TestAPersonIsAskedOncePerCall(t *testing.T) {
	var d diary
	ask := &permission.Confirm{Tools: all("work", "rm")}
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", `{"n":1}`), looptest.Call("rm", nil), looptest.Reply("ok")),
		Tools: all[agent.Tool](work(), &looptest.Tool{Name: "rm"}),
		Hooks: all[agent.Hook](ask, ask, toTwo(), denies("rm", "never")),
		Agent: &loop.Agent{Approver: person(func(q agent.Question) (agent.Approval, error) {
			d.note("%s %s", q.Call.Name, q.Call.Args)
			return agent.Approval{Allow: true}, nil
		})},
	}.Run(t, "x")
	d.want(t, `work {"n":2}`)
	if statuses(ran) != "succeeded refused" {
		t.Errorf("%s", statuses(ran))
	}
}

// toTwo returns a hook that rewrites the arguments of every call to {"n":2}.
func toTwo() agent.Hook {
	return beforeTool(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		c.Args = []byte(`{"n":2}`)
		return agent.ReplaceBeforeTool(c, "two"), nil
	})
}

// nested returns a harness whose model calls an agent that calls work.
func nested(tool agent.Tool, hooks ...agent.Hook) looptest.Harness {
	helper := &loop.Agent{Name: "helper", Tools: all(tool), Model: looptest.NewScript(working(3)...).Named("inner")}
	return looptest.Harness{
		Turns: all(looptest.Call("helper", `{"task":"t"}`), looptest.Reply("over")), Hooks: hooks,
		Agent: &loop.Agent{Name: "boss", Tools: all(loop.Subagent(helper))},
	}
}

// Invariant 2, layers, and law P6, inheritance.
func TestDenialsAndGuardsReachSubRuns(t *testing.T) {
	tool := work()
	nested(tool, denies("work", "the boss says no")).Run(t, "x")
	if tool.Count() != 0 {
		t.Errorf("the tool ran %d times in the sub-run", tool.Count())
	}
	ran := nested(tool, builtin.Guards{Steps: limit.AtMost(2)}).Run(t, "x")
	if tool.Count() != 2 {
		t.Errorf("the tool ran %d times in a sub-run of at most 2 steps", tool.Count())
	}
	contains(t, ran.Calls[0].Err, "Step limit reached: 2/2")
}

// exits are the ways in which a run can end.
var exits = map[string]func(t *testing.T, hooks ...agent.Hook) *looptest.Ran{
	"done": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		return looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: hooks}.Run(t, "x")
	},
	"model error": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		return looptest.Harness{Turns: all(looptest.Error(errBoom)), Hooks: hooks}.Run(t, "x")
	},
	"model panic": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		return looptest.Harness{
			Turns: all(looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("boom") })),
			Hooks: hooks,
		}.Run(t, "x")
	},
	"handoff": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		expert := &loop.Agent{Name: "expert", Model: looptest.NewScript(looptest.Reply("yes"))}
		return looptest.Harness{
			Turns: all(looptest.Call("transfer_to_expert", nil)), Hooks: hooks, Agent: &loop.Agent{Handoffs: all(expert)},
		}.Run(t, "x")
	},
	"early stop": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		stop := onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) { return agent.EndTurn{}, nil })
		return looptest.Harness{Hooks: append(hooks, stop)}.Run(t, "x")
	},
	"failing start": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		return looptest.Harness{Hooks: append(hooks, everywhere["OnRunStart"])}.Run(t, "x")
	},
	"step limit": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		return looptest.Harness{
			Turns: working(5), Tools: all[agent.Tool](work()), Hooks: hooks, Agent: &loop.Agent{Limits: loop.Limits{Steps: 2}},
		}.Run(t, "x")
	},
	"cancelled": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return looptest.Harness{Turns: working(1), Hooks: hooks}.Do(t, ctx, loop.Request{Task: "x"})
	},
	"abandoned stream": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran {
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: hooks}.Make()
		for range ran.Agent.Stream(t.Context(), loop.Request{Task: "x"}) {
			break
		}
		return ran
	},
	"sub-run": func(t *testing.T, hooks ...agent.Hook) *looptest.Ran { return nested(work(), hooks...).Run(t, "x") },
}

// Law P1, pairing.
func TestEveryRunHasItsEnd(t *testing.T) {
	for way, run := range exits {
		ran := run(t)
		for start, end := range map[string]string{
			"OnRunStart": "OnRunEnd", "BeforeStep": "AfterStep", "OnSubagentStart": "OnSubagentStop",
		} {
			if n, m := ran.Recorder.Count(start), ran.Recorder.Count(end); n != m || start == "OnRunStart" && n == 0 {
				t.Errorf("%s: %d times %s, %d times %s", way, n, start, m, end)
			}
		}
	}
}

// Law P1.
func TestCountersComeDown(t *testing.T) {
	for way, run := range exits {
		active, most := 0, 0
		run(t,
			onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) {
				active++
				most = max(most, active)
				return nil, nil
			}),
			onRunEnd(func(agent.AgentResult) error { active--; return nil }),
		)
		if active != 0 || most == 0 {
			t.Errorf("%s: %d runs are left of %d", way, active, most)
		}
	}
}

// Law P2, answered.
func TestEachBeforeHasItsAfter(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"skipped": answers("x"), "denied": denies("work",
			"no"), "failing": everywhere["BeforeTool"], "unasked": &permission.Confirm{Tools: all("*")},
		"refused": beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "no"}}, nil
		}),
		"ended": beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return agent.EndTurn{}, nil }),
	} {
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all(hook)}.Run(t, "x")
		ran.Recorder.Times(t, "BeforeTool", 1)
		ran.Recorder.Times(t, "AfterTool", 1)
		if err := agentspec.CheckPairs(ran.Messages, false); err != nil || len(ran.Calls) != 1 {
			t.Errorf("%s: %v, %+v", name, err, ran.Calls)
		}
	}
}

// Laws P3 and P2: a batch is decided before its first dispatch, and completed results are kept.
func TestAnEndStopsSiblingsAndKeepsResults(t *testing.T) {
	three := looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`),
		looptest.Call("work", `{"n":3}`))
	tool := work()
	ran := looptest.Harness{Turns: all(three), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
		beforeTool(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			if string(c.Args) == `{"n":3}` {
				return agent.EndTurn{Reply: "end"}, nil
			}
			return nil, nil
		}))}.Run(t, "x")
	if tool.Count() != 0 || statuses(ran) != "unrun unrun unrun" {
		t.Errorf("%d calls ran: %s", tool.Count(), statuses(ran))
	}
	for want, tool := range map[string]agent.Tool{
		"succeeded unrun unrun": work(), "succeeded succeeded succeeded": loop.ReadOnly(work()),
	} {
		ran = looptest.Harness{Turns: all(three), Tools: all(tool), Hooks: all[agent.Hook](
			afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) { return agent.EndTurn{Reply: "end"}, nil }),
		)}.Run(t, "x")
		if statuses(ran) != want || ran.Reply != "end" {
			t.Errorf("calls ran: %s, want %s, %+v", statuses(ran), want, ran.AgentResult)
		}
	}
}

// Law P2: other calls next to the done call are answered, in any order.
func TestCallsAfterDoneAreAnswered(t *testing.T) {
	tool := work()
	ran := looptest.Harness{
		Turns: all(looptest.Calls(looptest.Call("done", `{"answer":"42"}`), looptest.Call("work", nil),
			looptest.Call("work", nil))),
		Tools: all[agent.Tool](tool), Agent: &loop.Agent{Done: agent.ToolSchema{Name: "done"}},
	}.Run(t, "x")
	ran.Recorder.Times(t, "AfterTool", 3)
	if err := agentspec.CheckPairs(ran.Messages, false); err != nil || ran.Reply != "42" || len(ran.Calls) != 3 ||
		tool.Count() != 2 {
		t.Errorf("%v, %d calls ran: %+v", err, tool.Count(), ran.AgentResult)
	}
}

// Law P10, stops: a signal is kept and obeyed, even if the step fails.
func TestStopIsObeyedAfterAFailedStep(t *testing.T) {
	ran := looptest.Harness{Turns: all(looptest.Call("work", `{"n":`), looptest.Reply("never")),
		Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
			agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
				if s.Number == 0 {
					return nil, nil
				}
				return all(agent.EndRun{Cause: agent.CauseTimeLimit, Message: "late"}, agent.EndRun{
					Cause: agent.CauseUserRequested, Message: "asked",
				}), nil
			}))}.Run(t, "x")
	if len(ran.Script.Calls()) != 1 || ran.Stop.Message != "asked" || len(ran.Signals) != 2 || statuses(ran) != "failed" {
		t.Errorf("%d model calls, %+v", len(ran.Script.Calls()), ran.AgentResult)
	}
}

// Law P7, bounded gates.
func TestAGateThatAlwaysRejectsIsBounded(t *testing.T) {
	var turns []looptest.Turn
	for range 20 {
		turns = append(turns, looptest.Reply("please"))
	}
	ran := looptest.Harness{Turns: turns, Hooks: all[agent.Hook](checkDone(func(
		agent.DoneRequest,
	) (agent.CheckDoneOutcome, error) {
		return agent.RejectDone{Feedback: "no"}, nil
	}))}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseRetryLimit || ran.Steps != 3 {
		t.Errorf("%d steps, %+v", ran.Steps, ran.Stop)
	}
	contains(t, ran.Stop.Message, "3/3", "no")
}

// Law P8, true records.
func TestNoRefusalIsRecordedAsASuccess(t *testing.T) {
	path, store := filepath.Join(t.TempDir(), "audit"), &memory.Facts{Share: share.Everyone}
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":1}`), looptest.Call("rm", nil),
			looptest.Call("bad", nil), looptest.Reply("ok")),
		Tools: all[agent.Tool](work(), &looptest.Tool{Name: "rm"}, &looptest.Tool{Name: "bad", Err: errBoom}),
		Hooks: all[agent.Hook](&repair.LoopDetector{}, denies("rm",
			"no"), &record.Episodes{Store: store}, &record.Audit{Path: path},
			afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
				r.Err, r.Output = "", "all is well"
				return agent.ReplaceAfterTool(r, "whitewash"), nil
			})),
	}.Run(t, "x")
	if statuses(ran) != "succeeded refused refused failed" || ran.Calls[1].OK() || ran.Calls[2].OK() || ran.Calls[3].OK() {
		t.Errorf("recorded %s: %+v", statuses(ran), ran.Calls)
	}
	if ran.Stop.Cause != agent.CauseCompleted || ran.Err != "" || ran.Failed != nil {
		t.Errorf("a refused call became the run's failure: %+v", ran.AgentResult)
	}
	var outcomes []string
	episodes, _ := memory.Episodes(t.Context(), store, 9)
	for _, e := range slices.Backward(episodes) {
		outcomes = append(outcomes, e.Outcome)
	}
	var successes []bool
	for _, r := range audited[agent.ToolCallResult](t, path, "AfterTool") {
		successes = append(successes, r.Status == agent.CallSucceeded)
	}
	if !slices.Equal(outcomes, all("ok", "refused", "refused", "failed")) ||
		!slices.Equal(successes, all(true, false, false, false)) {
		t.Errorf("episodes %v, audit %v", outcomes, successes)
	}
}

// Invariant 4: observers and tracers get the deciding hook, the decision and the reason.
func TestEveryReasonIsInAnEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	ran := looptest.Harness{
		Turns: working(1),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&record.Audit{Path: path}, bind(func(h *agent.Hooks) {
			h.Use(extends(""), named("rewriter"))
			h.Use(answers("x"), named("cache"))
			h.Use(denies("work", "not today"), named("warden"))
		})),
	}.Run(t, "x")
	reasons := make(map[string]string)
	for _, e := range ran.Trace.Events() {
		if e.Kind == hookkit.EventHook && e.Decision != "" {
			reasons[e.Hook] = e.Decision + " " + e.Reason
		}
	}
	if want := map[string]string{
		"rewriter": "Replace adds ", "cache": "SkipTool cache", "warden": "Deny not today",
	}; !maps.Equal(reasons, want) {
		t.Errorf("events %v, want %v", reasons, want)
	}
	ran.Recorder.Decided(t, "OnPermission", "warden", "Deny", "not today")
	r := audited[agent.ToolCallResult](t, path, "AfterTool")
	if len(r) != 1 || r[0].By != "warden" || r[0].Reason != "not today" {
		t.Errorf("audited %+v", r)
	}
}

// Law P5, every path.
func TestEveryPathFiresTheSamePoints(t *testing.T) {
	l := func() *looptest.Ran {
		return looptest.Harness{Turns: working(2), Tools: all[agent.Tool](work())}.Make()
	}
	plain := l()
	if _, err := plain.Agent.Run(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	streamed := l()
	for _, err := range streamed.Agent.Stream(t.Context(), loop.Request{Task: "x"}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	resumed := l()
	if _, err := resumed.Agent.Do(t.Context(), loop.Request{
		Task: "x", Messages: talk(2), Resume: loop.Resume{Steps: 2},
	}); err != nil {
		t.Fatal(err)
	}
	for name, ran := range map[string]*looptest.Ran{"streamed": streamed, "resumed": resumed} {
		if !slices.Equal(ran.Recorder.Points(), plain.Recorder.Points()) {
			t.Errorf("%s: fired %v\nwant %v", name, ran.Recorder.Points(), plain.Recorder.Points())
		}
	}
}

// Laws P5 and P6: observers get each fire of a nested run once, with the run's own identity.
func TestNestedRunsReportEachEventOnce(t *testing.T) {
	ran := nested(work()).Run(t, "x")
	runs := make(map[string][]string)
	for _, f := range ran.Recorder.Fires("OnRunStart", "BeforeTool", "AfterTool", "OnRunEnd") {
		runs[f.Parent] = append(runs[f.Parent], f.Point)
	}
	outer := ran.Recorder.Fires("OnRunStart")[0].Run
	call := all("BeforeTool", "AfterTool")
	want := map[string]string{
		"":    fmt.Sprint(slices.Concat(all("OnRunStart"), call, all("OnRunEnd"))),
		outer: fmt.Sprint(slices.Concat(all("OnRunStart"), call, call, call, all("OnRunEnd"))),
	}
	for parent, points := range runs {
		if got := fmt.Sprint(points); got != want[parent] || len(runs) != 2 {
			t.Errorf("of the run under %q: %s, want %s", parent, got, want[parent])
		}
	}
	contains(t, strings.Join(ran.Recorder.Points(), " "), "OnSubagentStart", "OnSubagentStop")
}
