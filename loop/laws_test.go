package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A scenario is one kind of run, for example a run that ends with a panic.
type scenario struct {
	name string
	run  func(t *testing.T) *looptest.Ran
}

// two returns a turn with two calls of the tool "work".
func two() looptest.Turn {
	return looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`))
}

func work() *looptest.Tool { return &looptest.Tool{Name: "work", Result: "done"} }

// scenarios returns the runs for which every law must hold.
func scenarios() []scenario {
	simple := func(l looptest.Harness) func(t *testing.T) *looptest.Ran {
		return func(t *testing.T) *looptest.Ran { return l.Run(t, "x") }
	}
	panicAt := func(point string) agent.Hook {
		return bind(func(h *agent.Hooks) {
			switch point {
			case "BeforeLLM":
				h.BeforeLLM.Add(agent.BeforeLLMFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome,
					error) {
					panic(point)
				}))
			case "AfterLLM":
				h.AfterLLM.Add(agent.AfterLLMFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome,
					error) {
					panic(point)
				}))
			case "BeforeTool":
				h.BeforeTool.Add(agent.BeforeToolFunc(func(
					context.Context, *agent.Run, agent.ToolCallRequest,
				) (agent.BeforeToolOutcome, error) {
					panic(point)
				}))
			case "AfterTool":
				h.AfterTool.Add(agent.AfterToolFunc(func(context.Context, *agent.Run, agent.ToolCallResult) (agent.AfterToolOutcome,
					error) {
					panic(point)
				}))
			}
		})
	}
	return []scenario{
		{"Success", simple(looptest.Harness{Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work())})},
		{"ModelError", simple(looptest.Harness{Turns: turns(two(), looptest.Error(errBoom)), Tools: tools(work())})},
		{"ModelPanic", simple(looptest.Harness{
			Turns: turns(looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("x") })),
		})},
		{"ToolError", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(&looptest.Tool{Name: "work", Err: errBoom}),
		})},
		{"ToolPanic", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(&looptest.Tool{Name: "work", Panic: 1}),
		})},
		{"EndTurnBeforeTool", simple(looptest.Harness{Turns: turns(two()), Tools: tools(work()), Hooks: hooks(beforeTool(func(
			c agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			if string(c.Args) == `{"n":2}` {
				return agent.EndTurn{Reply: "end"}, nil
			}
			return nil, nil
		}))})},
		{"EndTurnAfterTool", simple(looptest.Harness{Turns: turns(two()), Tools: tools(work()), Hooks: hooks(afterTool(func(
			agent.ToolCallResult,
		) (agent.AfterToolOutcome, error) {
			return agent.EndTurn{Reply: "end"}, nil
		}))})},
		{"EndTurnAtStart", simple(looptest.Harness{Hooks: hooks(onStart(agent.EndTurn{}, nil))})},
		{"FailureAtStart", simple(looptest.Harness{Hooks: hooks(onStart(nil, errBoom))})},
		{"PanicBeforeLLM", simple(looptest.Harness{Hooks: hooks(panicAt("BeforeLLM"))})},
		{"PanicAfterLLM", simple(looptest.Harness{
			Turns: turns(two()), Tools: tools(work()), Hooks: hooks(panicAt("AfterLLM")),
		})},
		{"PanicBeforeTool", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(panicAt("BeforeTool")),
		})},
		{"PanicAfterTool", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(panicAt("AfterTool")),
		})},
		{"Denied", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(votes(agent.Deny{})),
		})},
		{"Skipped", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(atTool("work", agent.SkipTool{}, nil)),
		})},
		{"ToolsOff", simple(looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Agent: &loop.Agent{
				ToolsDisabled: func() bool { return true },
			},
		})},
		{"CounterPanics", simple(looptest.Harness{
			Turns: turns(two()), Tools: tools(work()), Agent: &loop.Agent{Tokens: badCounter{}},
		})},
		{"StepLimit", simple(looptest.Harness{
			Turns: turns(two()), Tools: tools(work()), Agent: &loop.Agent{Limits: loop.Limits{Steps: 1}},
		})},
		{"Rejected", simple(looptest.Harness{
			Turns: turns(looptest.Reply("a"), looptest.Reply("b"), looptest.Reply("c")), Hooks: hooks(rejectFirst(99)),
		})},
		{"Cancelled", func(t *testing.T) *looptest.Ran {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			return looptest.Harness{Turns: turns(two()), Tools: tools(&looptest.Tool{Name: "work", Func: func(
				ctx context.Context, _ agent.ToolCallRequest,
			) (string, error) {
				cancel()
				<-ctx.Done()
				return "", ctx.Err()
			}})}.Do(t, ctx, loop.Request{Task: "x"})
		}},
		{"Subagent", func(t *testing.T) *looptest.Ran {
			l, _, _ := calling(work(), two(), looptest.Reply("ok"))
			return l.Run(t, "x")
		}},
		{"SubagentFails", func(t *testing.T) *looptest.Ran {
			l, _, _ := calling(work(), two(), looptest.Error(errBoom))
			return l.Run(t, "x")
		}},
		{"Handoff", func(t *testing.T) *looptest.Ran {
			l, script, expert := handing(looptest.Calls(looptest.Call("transfer_to_expert", nil), two()))
			l.Tools, expert.Tools = tools(work()), tools(work())
			*script = *looptest.NewScript(two(), looptest.Reply("ok"))
			return l.Run(t, "x")
		}},
		{"HandoffFails", func(t *testing.T) *looptest.Ran {
			l, _, expert := handing(looptest.Call("transfer_to_expert", nil))
			expert.Model = looptest.NewScript(looptest.Error(errBoom))
			return l.Run(t, "x")
		}},
		{"Streamed", func(t *testing.T) *looptest.Ran {
			return streamed(t, looptest.Harness{Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work())}, nil)
		}},
		{"StoppedReading", func(t *testing.T) *looptest.Ran {
			return streamed(t, looptest.Harness{Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work())},
				func(e loop.Event) bool { return e.Kind != loop.EventReply })
		}},
		{"Goexit", func(t *testing.T) *looptest.Ran {
			return streamed(t, looptest.Harness{
				Turns: turns(two()), Tools: tools(work()), Agent: &loop.Agent{Tokens: exiting{}},
			}, nil)
		}},
		{"Done", simple(looptest.Harness{
			Turns: turns(looptest.Calls(looptest.Call("done", `{"answer":"42"}`), two())), Tools: tools(work()),
			Agent: &loop.Agent{Done: doneTool},
		})},
		{"Resumed", func(t *testing.T) *looptest.Ran {
			return looptest.Harness{
				Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()),
			}.Do(t, t.Context(), loop.Request{
				Resume: loop.Resume{Steps: 3},
				Messages: []agent.Message{
					{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{{ID: "open", Name: "work"}}},
				},
			})
		}},
	}
}

type badCounter struct{}

func (badCounter) CountTokens([]agent.Message) int { panic("counter") }

type exiting struct{}

func (exiting) CountTokens([]agent.Message) int { runtime.Goexit(); return 0 }

// TestP1_Pairing: every started run, step and sub-run ends exactly once. This includes runs that end with an
// error, a panic, a cancellation or a handoff, and streams whose reader stops early.
func TestP1_Pairing(t *testing.T) {
	for _, w := range scenarios() {
		t.Run(w.name, func(t *testing.T) {
			ran := w.run(t)
			checkPaired(t, ran.Recorder)
			points := ran.Recorder.Points()
			if points[0] != "OnRunStart" || points[len(points)-1] != "OnRunEnd" {
				t.Errorf("fired %v", points)
			}
		})
	}
}

// TestP2_Answered: each tool call gets exactly one tool message, in call order, whether it ran, was refused,
// skipped or not run. Each decided call gets exactly one AfterTool.
func TestP2_Answered(t *testing.T) {
	for _, w := range scenarios() {
		t.Run(w.name, func(t *testing.T) {
			ran := w.run(t)
			checkAnswered(t, ran.Messages)
			asked := 0
			for _, m := range ran.Messages {
				asked += len(m.ToolCalls)
			}
			if w.name != "Handoff" && w.name != "Resumed" && asked != len(ran.Calls) {
				t.Errorf("%d calls in the conversation, %d results", asked, len(ran.Calls))
			}
		})
	}
}

// TestP3_DecidedBeforeDispatch: the dispatched call is the call that BeforeTool returned. All calls of a batch are
// decided, in call order, before the first one is dispatched.
func TestP3_DecidedBeforeDispatch(t *testing.T) {
	var (
		mu    sync.Mutex
		order []string
	)
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, fmt.Sprintf(format, args...))
	}
	tool := &looptest.Tool{Name: "work", Func: func(_ context.Context, c agent.ToolCallRequest) (string, error) {
		note("dispatch %s", c.Args)
		return "", nil
	}}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("work", `1`), looptest.Call("work", `2`), looptest.Call("work", `3`)),
			looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(
			beforeTool(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				c.Args = fmt.Appendf(nil, `{"n":%s}`, c.Args)
				return agent.ReplaceBeforeTool(c, "wrap"), nil
			}),
			permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				note("judge %s", c.Args)
				return nil, nil
			}),
		),
	}.Run(t, "x")
	slices.Sort(order[3:])
	want := []string{
		`judge {"n":1}`, `judge {"n":2}`, `judge {"n":3}`, `dispatch {"n":1}`, `dispatch {"n":2}`, `dispatch {"n":3}`,
	}
	if !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
	if ran.Reply != "ok" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

// TestP3_AroundHookCannotChangeADecidedCall: if an around hook passes a different call to next, the call fails.
func TestP3_AroundHookCannotChangeADecidedCall(t *testing.T) {
	tool, other := work(), &looptest.Tool{Name: "other"}
	for _, forged := range []agent.ToolCallRequest{
		{Name: "other", Args: []byte("{}")}, {Name: "work", Args: []byte(`{"n":2}`)},
	} {
		ran := looptest.Harness{
			Turns: turns(looptest.Call("work", `{"n":1}`), looptest.Reply("ok")),
			Tools: tools(tool, other),
			Hooks: hooks(agent.AroundToolFunc(func(
				ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest, next agent.AroundToolNext,
			) (hookkit.Answer[agent.ToolCallResult], error) {
				return next.Call(ctx, forged)
			})),
		}.Run(t, "x")
		if tool.Count()+other.Count() != 0 || ran.Calls[0].Kind != agent.FailHook {
			t.Errorf("a call that nobody decided ran: %+v", ran.Calls)
		}
	}
}

// TestP3_NoChangeInPlaceReachesTheTool: a hook that overwrites the bytes of its arguments does not change the
// call.
func TestP3_NoChangeInPlaceReachesTheTool(t *testing.T) {
	tool := work()
	mutate := func(c agent.ToolCallRequest) { c.Args[5] = '9' }
	looptest.Harness{
		Turns: turns(looptest.Call("work", `{"n":1}`), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(
			beforeTool(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				return agent.ReplaceBeforeTool(c.Clone(), "copy"), nil
			}),
			permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { mutate(c); return nil, nil }),
		),
	}.Run(t, "x")
	if got := tool.Calls(); string(got[0].Args) != `{"n":1}` {
		t.Errorf("dispatched %s", got[0].Args)
	}
}

// TestP4_AskedOnce: OnPermission fires once for each call, on the final arguments, and also for a result that
// replaces the tool. If the vote is Ask, the Approver is asked once. Without an answer the call is denied.
func TestP4_AskedOnce(t *testing.T) {
	person := says(true)
	tool := &looptest.Tool{Name: "work", Err: errBoom}
	ran := looptest.Harness{
		Turns: turns(two(), looptest.Call("denied", nil), looptest.Call("bad", `{`), looptest.Reply("ok")),
		Tools: tools(tool, &looptest.Tool{Name: "denied"}, &looptest.Tool{Name: "bad"}),
		Hooks: hooks(
			votes(agent.Ask{}), votes(agent.Ask{}), retry(3),
			permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				if c.Name == "denied" {
					return agent.Deny{Reason: "never"}, nil
				}
				return agent.Allow{}, nil
			}),
		),
		Agent: &loop.Agent{Approver: person},
	}.Run(t, "x")
	if len(person.questions) != 2 || tool.Count() != 6 {
		t.Errorf("asked %d times, dispatched %d times; want 2 and 6", len(person.questions), tool.Count())
	}
	ran.Recorder.Times(t, "OnPermission", 3)
}

// TestP5_EveryPath: streaming, retries, resumed runs, sub-runs and handoff targets fire the same points.
func TestP5_EveryPath(t *testing.T) {
	step := []string{"BeforeStep", "ShouldCompact", "Briefing", "BeforeLLM", "AroundLLM", "AfterLLM"}
	call := []string{"BeforeTool", "OnPermission", "AroundTool", "AfterTool"}
	frame := []string{"OnRunStart", "ShouldStop", "OnStop", "BeforeRunEnd", "OnRunEnd", "AfterStep"}
	answer := []string{"CheckDone", "OnDoneAccepted"}
	whole := slices.Concat(frame, step, call, answer)
	for name, want := range map[string][]string{
		"Success":           whole,
		"Streamed":          whole,
		"Resumed":           whole,
		"Done":              whole,
		"ToolError":         append(slices.Clone(whole), "OnToolError"),
		"ToolPanic":         append(slices.Clone(whole), "OnToolError"),
		"ModelError":        slices.Concat(frame, step, call, []string{"OnRunError"}),
		"ModelPanic":        slices.Concat(frame, step[:5], []string{"OnRunError"}),
		"EndTurnBeforeTool": slices.Concat(frame, step, []string{"BeforeTool", "OnPermission", "AfterTool"}),
		"EndTurnAfterTool":  slices.Concat(frame, step, call),
		"EndTurnAtStart":    {"OnRunStart", "OnStop", "BeforeRunEnd", "OnRunEnd"},
		"FailureAtStart":    {"OnRunStart", "OnRunError", "OnStop", "BeforeRunEnd", "OnRunEnd"},
		"PanicBeforeLLM":    slices.Concat(frame, step[:4], []string{"OnRunError"}),
		"PanicAfterLLM":     slices.Concat(frame, step, []string{"OnRunError"}),
		"PanicBeforeTool":   slices.Concat(frame, step, answer, []string{"BeforeTool", "AfterTool"}),
		"PanicAfterTool":    whole,
		"Denied": slices.Concat(frame, step, answer, []string{
			"BeforeTool", "OnPermission", "OnPermissionDenied", "AfterTool",
		}),
		"Skipped":        slices.Concat(frame, step, answer, []string{"BeforeTool", "OnPermission", "AfterTool"}),
		"ToolsOff":       slices.Concat(frame, step, answer, []string{"OnToolsDisabled"}),
		"StepLimit":      slices.Concat(frame, step, call, []string{"OnBudgetExceeded"}),
		"Rejected":       slices.Concat(frame, step, []string{"CheckDone"}),
		"Cancelled":      slices.Concat(frame, step, call, []string{"OnToolError"}),
		"StoppedReading": slices.Concat(frame, step, []string{"AfterLLM"}),
		"Subagent":       append(slices.Clone(whole), "OnSubagentStart", "OnSubagentStop"),
		"SubagentFails":  append(slices.Clone(whole), "OnSubagentStart", "OnSubagentStop", "OnRunError", "OnToolError"),
		"Handoff":        append(slices.Clone(whole), "OnHandoff", "OnSubagentStart", "OnSubagentStop"),
		"HandoffFails": slices.Concat(frame, step, []string{
			"BeforeTool", "OnPermission", "OnHandoff", "AfterTool", "OnSubagentStart", "OnSubagentStop", "OnRunError",
		}),
		"CounterPanics": slices.Concat(frame, []string{"BeforeStep", "OnRunError"}),
		"Goexit": {
			"OnRunStart", "ShouldStop", "BeforeStep", "AfterStep", "OnRunError", "OnStop", "BeforeRunEnd", "OnRunEnd",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := scenarios()
			ran := all[slices.IndexFunc(all, func(w scenario) bool { return w.name == name })].run(t)
			fired := ran.Recorder.Points()
			for _, p := range want {
				if !slices.Contains(fired, p) {
					t.Errorf("%s was not fired; fired: %v", p, fired)
				}
			}
			if name == "StoppedReading" { // the number of completed steps depends on timing
				return
			}
			for _, p := range fired {
				if !slices.Contains(want, p) {
					t.Errorf("%s was fired; want: %v", p, want)
				}
			}
		})
	}
}

// TestP5_AStreamedRunFiresTheSame: a run fires the same points whether it is streamed or not.
func TestP5_AStreamedRunFiresTheSame(t *testing.T) {
	l := func() looptest.Harness {
		return looptest.Harness{
			Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Agent: &loop.Agent{
				Limits: loop.Limits{Parallel: 1},
			},
		}
	}
	whole, stream := l().Run(t, "x"), streamed(t, l(), nil)
	if !slices.Equal(whole.Recorder.Points(), stream.Recorder.Points()) {
		t.Errorf("fired %v, streamed %v", whole.Recorder.Points(), stream.Recorder.Points())
	}
}

// TestP6_Inheritance: a sub-run and a handoff target fire the hooks of the outer run as their outer layer, so a
// Deny of the outer run also denies the inner calls.
func TestP6_Inheritance(t *testing.T) {
	deny := permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if c.Name == "work" {
			return agent.Deny{Reason: "not below me"}, nil
		}
		return nil, nil
	})
	allow := votes(agent.Allow{})

	tool := work()
	l, helper, _ := calling(tool, two(), looptest.Reply("ok"))
	helper.Hooks = loop.Hooks(allow)
	l.Hooks = hooks(deny)
	ran := l.Run(t, "x")
	if tool.Count() != 0 {
		t.Error("a sub-run did what its caller's hook denies")
	}
	ran.Recorder.Times(t, "OnPermissionDenied", 2)

	l, script, expert := handing(looptest.Call("transfer_to_expert", nil))
	*script = *looptest.NewScript(two(), looptest.Reply("ok"))
	expert.Tools, expert.Hooks = tools(tool), loop.Hooks(allow)
	l.Hooks = hooks(deny)
	ran = l.Run(t, "x")
	if tool.Count() != 0 || ran.Reply != "ok" {
		t.Errorf("a handoff target did what the hook denies: %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "OnPermissionDenied", 2)
}

// TestP7_BoundedGates: each kind of rejection has a cap, and the run stops there with retry_limit.
func TestP7_BoundedGates(t *testing.T) {
	for _, limit := range []int{0, 1, 5} {
		want := max(limit, 3)
		if limit > 0 {
			want = limit
		}
		script := looptest.NewScript()
		for range 50 {
			script.Add(looptest.Reply("again"))
		}
		ran := looptest.Harness{
			Hooks: hooks(rejectFirst(1000)),
			Agent: &loop.Agent{Model: script, Limits: loop.Limits{Rejections: limit}},
		}.Run(t, "x")
		if n := len(script.Calls()); n != want || ran.Stop.Cause != agent.CauseRetryLimit ||
			!strings.Contains(ran.Stop.Message, "not yet") {
			t.Errorf("limit %d: %d calls, %+v", limit, n, ran.Stop)
		}
		if ran.Reply != "again" || !ran.Forced() || ran.Failed != nil || ran.Stop.Detail["answer"] != "again" {
			t.Errorf("limit %d: got %+v, %v", limit, ran.AgentResult, ran.Failed)
		}
		ran.Recorder.Times(t, "OnDoneAccepted", 0)
	}
}

// TestP8_TrueRecords: guidance for the model goes to Output, and Err stays. No record reports a refused, skipped
// or failed call as a success.
func TestP8_TrueRecords(t *testing.T) {
	forgive := afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		r.Err, r.Kind, r.Status, r.Output = "", "", agent.CallSucceeded, "all is well"
		return agent.ReplaceAfterTool(r, "forgive"), nil
	})
	for name, l := range map[string]looptest.Harness{
		"Failed":   {Tools: tools(&looptest.Tool{Name: "work", Err: errBoom})},
		"Panicked": {Tools: tools(&looptest.Tool{Name: "work", Panic: 1})},
		"Unknown":  {},
		"Denied":   {Tools: tools(work()), Hooks: hooks(votes(agent.Deny{}))},
		"Refused": {
			Tools: tools(work()), Hooks: hooks(atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Err: "no"}}, nil)),
		},
		"Skipped": {
			Tools: tools(work()), Hooks: hooks(atTool("work", agent.SkipTool{
				Result: agent.ToolCallResult{Status: agent.CallSucceeded},
			}, nil)),
		},
		"Caught": {Tools: tools(&looptest.Tool{Name: "work", Err: errBoom}), Hooks: hooks(agent.AroundToolFunc(
			func(
				ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
			) (hookkit.Answer[agent.ToolCallResult], error) {
				_, _ = next.Call(ctx, c)
				return hookkit.Answered(agent.ToolCallResult{Output: "instead", Status: agent.CallSucceeded}), nil
			}))},
	} {
		t.Run(name, func(t *testing.T) {
			l.Turns = turns(looptest.Call("work", nil), looptest.Reply("ok"))
			l.Hooks = append(l.Hooks, forgive)
			ran := l.Run(t, "x")
			steps := hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep")
			for where, r := range map[string]agent.ToolCallResult{"result": ran.Calls[0], "step": steps[0].Results[0]} {
				if r.Status == agent.CallSucceeded || (r.Err == "") != (r.Status == agent.CallSkipped) {
					t.Errorf("the %s has %+v", where, r)
				}
				if r.Output != "all is well" {
					t.Errorf("guidance is lost: %+v", r)
				}
			}
			if m := ran.Messages[2]; m.Content != "all is well" || m.IsError != (ran.Calls[0].Err != "") {
				t.Errorf("the model was told %+v", m)
			}
		})
	}
}

// TestP9_PromptsArePerRequest: text that Briefing and BeforeLLM add is part of one request. Only compaction
// changes the stored conversation.
func TestP9_PromptsArePerRequest(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(two(), two(), looptest.Reply("ok")),
		Tools: tools(work()),
		Hooks: hooks(
			agent.BriefingFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]string, error) {
				return []string{fmt.Sprintf("note %d", s.Number)}, nil
			}),
			beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				req.Messages[1].Content = "spoilt in place"
				for i := range req.Messages {
					for n := range req.Messages[i].ToolCalls {
						req.Messages[i].ToolCalls[n].Args[0] = '!'
					}
				}
				req.Messages = append(req.Messages[:1:1], agent.Message{Role: agent.RoleUser, Content: "added"})
				return agent.ReplaceBeforeLLM(req, "all else dropped"), nil
			}),
		),
	}.Run(t, "x")
	for i, req := range ran.Script.Requests() {
		if len(req.Messages) != 2 || req.Messages[1].Content != "added" {
			t.Errorf("request %d: %+v", i, req.Messages)
		}
	}
	if len(ran.Messages) != 8 || ran.Messages[0].Content != "x" {
		t.Errorf("the conversation is %+v", ran.Messages)
	}
	for _, m := range ran.Messages {
		if m.Role == agent.RoleSystem || m.Content == "added" || len(m.ToolCalls) > 0 && m.ToolCalls[0].Args[0] != '{' {
			t.Errorf("the conversation holds %+v", m)
		}
	}
	for _, f := range ran.Recorder.Fires("BeforeLLM") {
		if req := f.Payload.(agent.LLMRequest); req.Step == 2 && !slices.ContainsFunc(req.Messages,
			func(m agent.Message) bool { return m.Content == "note 2" }) {
			t.Errorf("the second request has %+v", req.Messages)
		}
	}
}

// TestP10_Stops: the result has every stop signal and reports the strongest cause, or the first among equals.
func TestP10_Stops(t *testing.T) {
	causes := []agent.Cause{
		agent.CauseError, agent.CauseStopRequested, agent.CauseUserRequested, agent.CauseStepsLimit, agent.CauseTokenLimit,
		agent.CauseTimeLimit, agent.CauseRetryLimit, agent.CauseFinishReason, agent.CauseCompleted, agent.CauseUnknown,
	}
	for i, strong := range causes {
		for _, weak := range causes[i:] {
			ran := looptest.Harness{Hooks: hooks(agent.ShouldStopFunc(func(
				context.Context, *agent.Run, agent.Step,
			) ([]agent.EndRun, error) {
				return []agent.EndRun{{Cause: weak, Message: "first"}, {Cause: strong, Message: "second"}}, nil
			}), agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
				return []agent.EndRun{{Cause: strong, Message: "third"}}, nil
			}))}.Run(t, "x")
			want := "second"
			if weak == strong {
				want = "first"
			}
			if ran.Stop.Cause != strong || ran.Stop.Message != want || len(ran.Signals) != 3 {
				t.Errorf("%s and %s: %+v of %+v", weak, strong, ran.Stop, ran.Signals)
			}
			if forced := strong != agent.CauseFinishReason && strong != agent.CauseCompleted; ran.Forced() != forced {
				t.Errorf("%s: forced %t", strong, ran.Forced())
			}
			if (ran.Failed != nil) != (strong == agent.CauseError) || (ran.Err != "") != (strong == agent.CauseError) {
				t.Errorf("%s and %s: failed with %v, %q", weak, strong, ran.Failed, ran.Err)
			}
		}
	}
}

func TestConcurrentRunsOnOneHooksShareNothing(t *testing.T) {
	var seen hookkit.PerRun[int]
	var total atomic.Int64
	count := bind(func(h *agent.Hooks) {
		h.BeforeTool.Add(agent.BeforeToolFunc(func(
			_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			total.Add(1)
			seen.Do(run, func(n *int) { *n++ })
			return nil, nil
		}))
		h.OnRunEnd.Add(agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
			seen.Do(run, func(n *int) {
				if *n != 2 {
					t.Errorf("a run counted %d calls", *n)
				}
			})
			return nil
		}))
	})
	tool := work()
	a := &loop.Agent{
		Model: looptest.NewScript(two(), looptest.Reply("ok")).ForEachRun(),
		Tools: tools(tool), Hooks: loop.Hooks(count),
	}
	var wait sync.WaitGroup
	const runs = 200
	for range runs {
		wait.Go(func() {
			if r, err := a.Run(context.Background(), "x"); err != nil || r.Reply != "ok" || len(r.Calls) != 2 {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	wait.Wait()
	if total.Load() != 2*runs || tool.Count() != 2*runs {
		t.Errorf("%d calls were decided, %d ran", total.Load(), tool.Count())
	}
}

func TestEnvIsUsableOnlyDuringTheRun(t *testing.T) {
	var run *agent.Run
	ran := looptest.Harness{
		Turns: turns(two(), looptest.Reply("ok").Uses(agent.Usage{Input: 5}),
			looptest.Reply("for the hook").Uses(agent.Usage{Input: 7})),
		Tools: tools(work()),
		Agent: &loop.Agent{Name: "env"},
		Hooks: hooks(agent.OnRunEndFunc(func(ctx context.Context, r *agent.Run, result agent.AgentResult) error {
			run = r
			env := r.Env
			c := env.Count()
			if c.Step != 2 || c.MaxSteps != 50 || c.ModelCalls != 2 || c.ToolCalls != 2 || c.Usage.Input != 5 {
				t.Errorf("counted %+v", c)
			}
			if s, ok := env.Tools.Lookup("work"); !ok || s.Name != "work" || len(env.Tools.Schemas()) != 1 ||
				env.Agent != "env" {
				t.Errorf("the tools are %+v", env.Tools.Schemas())
			}
			if got := env.Conversation; got.ID() != "c7" || len(got.Messages()) != len(result.Messages) {
				t.Errorf("the conversation is %+v", got.Messages())
			}
			if a, b := env.Random.Uint64(), env.Random.Uint64(); env.Seed != 9 || a == b {
				t.Error("the random source is not seeded")
			}
			reply, err := env.Model.Generate(ctx, agent.LLMRequest{})
			if err != nil || reply.Content != "for the hook" {
				t.Errorf("the model: %+v, %v", reply, err)
			}
			return nil
		})),
	}.Do(t, t.Context(), loop.Request{Task: "x", Conversation: "c7", Seed: 9})
	if ran.ModelCalls != 3 || ran.Usage.Input != 12 {
		t.Errorf("counted %d calls, %+v", ran.ModelCalls, ran.Usage)
	}
	if _, err := run.Env.Model.Generate(t.Context(), agent.LLMRequest{}); err == nil {
		t.Error("the model answers after the run")
	}
	if err := run.Env.Tools.Add(&looptest.Tool{Name: "late"}); err == nil {
		t.Error("a tool can be added after the run")
	}
	if !errors.Is(ran.Failed, nil) {
		t.Errorf("got %v", ran.Failed)
	}
}
