package systems

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// pointTable lists every fire point, in the order in which a run reaches them, with the decisions of hooks.
const pointTable = `
OnRunStart          Replace, EndTurn, FailClosed
ShouldStop          Collect[EndRun], FailClosed
BeforeStep
ShouldCompact       Vote, Compact, FailOpen
BeforeCompact       SkipCompaction, FailClosed
AfterCompact        Replace, FailOpen
Briefing            Collect[string]
BeforeLLM           Replace, UseReply, EndTurn, FailClosed
AroundLLM           Around[LLMResponse]
AfterLLM            Replace, EndTurn, FailClosed
OnToolsDisabled
BeforeTool          Replace, SkipTool, EndTurn, FailClosed
OnPermission        Vote, Deny, Ask, Allow, FailClosed
BeforeAsk           Vote, Refuse, Approve, FailClosed
OnPermissionGranted
OnPermissionDenied
OnHandoff           Replace, SkipTool, EndTurn, FailClosed
AroundTool          Around[ToolCallResult]
OnToolProgress
OnToolError
OnSubagentStart
OnSubagentStop
AfterTool           Replace, EndTurn, FailClosed
OnBudgetExceeded
AfterStep
CheckDone           Replace, RejectDone, FailClosed
OnDoneAccepted
OnRunError          EndTurn, FailOpen
OnStop              Collect[EndRun]
BeforeRunEnd        Replace, FailClosed
OnRunEnd`

// briefs returns a hook that adds a text to every prompt.
func briefs(text string) agent.Hook {
	return agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) {
		return []string{text}, nil
	})
}

func TestAPointTakesItsDocumentedOutcomesAlone(t *testing.T) {
	var got strings.Builder
	for _, p := range new(agent.Hooks).Points() {
		got.WriteString("\n" + strings.TrimSpace(fmt.Sprintf("%-19s %s", p.Name, p.Results)))
	}
	if got.String() != pointTable {
		t.Errorf("the points are%s\nwant%s", got.String(), pointTable)
	}
	refused(t, guard, "\th.Use(guard{})", "agent.SkipTool{Reason", "agent.RejectDone{Reason",
		"missing method legalAtBeforeTool")
	refused(t, guard, "\th.Use(guard{})", "agent.SkipTool{Reason", "agent.Deny{Reason", "missing method legalAtBeforeTool")
	refused(t, guard, "\th.Use(guard{})", `agent.SkipTool{Reason: "never"}`, "true",
		"does not implement agent.BeforeToolOutcome")

	// Nil means no opinion, at every deciding point that a run with a tool call reaches.
	silent := bind(func(h *agent.Hooks) {
		h.Use(onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) { return nil, nil }))
		h.Use(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return nil, nil }))
		h.Use(afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { return nil, nil }))
		h.Use(continues)
		h.Use(onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return nil, nil }))
		h.Use(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return nil, nil }))
		h.Use(checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) { return nil, nil }))
	})
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](silent)}.Run(t, "x")
	for _, f := range ran.Recorder.Fires() {
		if f.Decision != "" {
			t.Errorf("%s was decided as %s", f.Point, f.Decision)
		}
	}
	if ran.Reply != "ok" || statuses(ran) != string(agent.CallSucceeded) {
		t.Errorf("hooks without an opinion changed the run: %+v", ran.AgentResult)
	}
}

func TestHooksRewriteDenyAndSubstitute(t *testing.T) {
	tools := map[string]*looptest.Tool{}
	var given []agent.Tool
	for _, name := range []string{"rewritten", "denied", "substituted"} {
		tools[name] = &looptest.Tool{Name: name, Result: "the tool's own"}
		given = append(given, tools[name])
	}
	ran := looptest.Harness{
		Turns: all(looptest.Calls(looptest.Call("rewritten", `{"n":1}`), looptest.Call("denied", nil),
			looptest.Call("substituted", nil)), looptest.Reply("ok")),
		Tools: given,
		Hooks: all[agent.Hook](
			beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				switch call.Name {
				case "rewritten":
					call.Args = []byte(`{"n":2}`)
					return agent.ReplaceBeforeTool(call, "two"), nil
				case "substituted":
					return agent.SkipTool{Result: agent.ToolCallResult{Output: "from the cache"}, Reason: "cached"}, nil
				}
				return nil, nil
			}),
			onPermission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				if call.Name == "denied" {
					return agent.Deny{Reason: "not on a Sunday"}, nil
				}
				return nil, nil
			})),
	}.Run(t, "x")
	if got := tools["rewritten"].Calls(); len(got) != 1 || string(got[0].Args) != `{"n":2}` {
		t.Errorf("the tool got %v", got)
	}
	if tools["denied"].Count() != 0 || tools["substituted"].Count() != 0 {
		t.Error("a denied or substituted call reached its tool")
	}
	contains(t, requestText(t, ran, 1), "Permission denied for tool 'denied': not on a Sunday", "from the cache")
	if got := statuses(ran); got != "succeeded refused skipped" {
		t.Errorf("the calls are %s", got)
	}
}

func TestTheRewrittenResultIsRecorded(t *testing.T) {
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](afterTool(func(
		r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		r.Output += ", twice"
		return agent.ReplaceAfterTool(r, "exact"), nil
	}))}.Run(t, "x")
	steps := hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep")
	for where, got := range map[string]string{
		"the result": ran.Calls[0].Output, "the step": steps[0].Results[0].Output,
		"the conversation": ran.Messages[2].Content,
	} {
		if got != "done, twice" {
			t.Errorf("%s holds %q", where, got)
		}
	}
}

func TestStopEndsTheRunWithItsReason(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"after a tool": afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return agent.EndTurn{Reply: "enough", Reason: "found it"}, nil
		}),
		"between steps": agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
			if s.Number == 0 {
				return nil, nil
			}
			return []agent.EndRun{{Cause: agent.CauseStopRequested, Message: "found it"}}, nil
		}),
	} {
		ran := looptest.Harness{Turns: working(5), Tools: all[agent.Tool](work()), Hooks: all(hook)}.Run(t, "x")
		if len(ran.Script.Calls()) != 1 || ran.Stop.Cause != agent.CauseStopRequested || ran.Stop.Message != "found it" ||
			ran.Failed != nil {
			t.Errorf("%s: %d model calls, stopped for %+v, %v", name, len(ran.Script.Calls()), ran.Stop, ran.Failed)
		}
		if stopping := hooktest.PayloadsOf[agent.Stopping](ran.Recorder, "OnStop"); len(stopping) != 1 ||
			stopping[0].Signals[0].Message != "found it" {
			t.Errorf("%s: OnStop was told %+v", name, stopping)
		}
	}
}

func TestARejectedAnswerContinuesWithTheReason(t *testing.T) {
	gate := checkDone(func(asked agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		if !strings.Contains(asked.Answer, "because") {
			return agent.RejectDone{Feedback: "say why", Reason: "no reason in " + asked.Answer}, nil
		}
		return nil, nil
	})
	for name, turns := range map[string][]looptest.Turn{
		"a reply":     {looptest.Reply("42"), looptest.Reply("42 because 6*7")},
		"a done call": {looptest.Call("done", `{"answer":"42"}`), looptest.Call("done", `{"answer":"42 because 6*7"}`)},
	} {
		ran := looptest.Harness{
			Turns: turns, Hooks: all[agent.Hook](gate), Agent: &loop.Agent{Done: agent.ToolSchema{Name: "done"}},
		}.Run(t, "x")
		if ran.Reply != "42 because 6*7" || ran.Steps != 2 {
			t.Errorf("%s: %+v", name, ran.AgentResult)
		}
		contains(t, requestText(t, ran, 1), "say why")
		ran.Recorder.Times(t, "CheckDone", 2)
	}
}

func TestExactlyTheDocumentedPointsExist(t *testing.T) {
	var exist, documented []string
	for _, p := range new(agent.Hooks).Points() {
		exist = append(exist, p.Name)
	}
	for line := range strings.Lines(strings.TrimSpace(pointTable)) {
		documented = append(documented, strings.Fields(line)[0])
	}
	if len(documented) != 31 || !slices.Equal(exist, documented) {
		t.Errorf("%d points: %v", len(exist), exist)
	}
	const use = "\th.BeforeTool.Add(guard{})"
	refused(t, guard, use, "\th.BeforeTool.Add", "\th.PreToolUse.Add", "h.PreToolUse undefined")
}

func TestOneEventForEachDecision(t *testing.T) {
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](bind(func(
		h *agent.Hooks,
	) {
		h.Use(continues, named("silent"))
		h.Use(extends(" "), named("one"))
		h.Use(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			call.Args = bytes.TrimSpace(call.Args)
			return agent.ReplaceBeforeTool(call, "back"), nil
		}), named("two"))
		h.Use(onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			return agent.Allow{Reason: "harmless"}, nil
		}), named("three"))
		h.Use(briefs("be brief"), named("four"))
		h.Use(briefs(""), named("quiet"))
	}))}.Run(t, "x")
	var got []string
	for _, e := range ran.Trace.Events() {
		if e.Kind == hookkit.EventHook && e.Decision != "" && e.Hook != "quiet" {
			got = append(got, e.Point+" "+e.Hook+" "+e.Decision+" "+e.Reason)
		}
	}
	want := []string{
		"Briefing four Collect ", "BeforeTool one Replace adds  ", "BeforeTool two Replace back",
		"OnPermission three Allow harmless", "Briefing four Collect ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the decisions are %q, want %q", got, want)
	}
}

func TestPointsFirePerRunStepAndCall(t *testing.T) {
	two := looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`))
	ran := looptest.Harness{
		Turns: all(two, looptest.Call("work", nil), looptest.Reply("ok")), Tools: all[agent.Tool](work()),
	}.Run(t, "the task")
	for point, n := range map[string]int{
		"OnRunStart": 1, "OnStop": 1, "BeforeLLM": 3, "AfterLLM": 3, "BeforeTool": 3, "OnPermission": 3, "AfterTool": 3,
		"OnRunEnd": 1,
	} {
		ran.Recorder.Times(t, point, n)
	}
	start := hooktest.PayloadsOf[agent.RunStart](ran.Recorder, "OnRunStart")[0]
	stop := hooktest.PayloadsOf[agent.Stopping](ran.Recorder, "OnStop")[0]
	if start.Task != "the task" || start.Agent != "tested" || len(stop.Signals) != 1 ||
		stop.Signals[0].Cause != agent.CauseCompleted {
		t.Errorf("started with %+v, stopped with %+v", start, stop)
	}
	for i, call := range hooktest.PayloadsOf[agent.ToolCallRequest](ran.Recorder, "BeforeTool") {
		if want := []string{"call_1_1", "call_1_2", "call_2_1"}[i]; call.ID != want {
			t.Errorf("call %d is %s, want %s", i, call.ID, want)
		}
	}
}

func TestTheRawReplyCanEndTheRun(t *testing.T) {
	var seen agent.LLMResponse
	tool := work()
	raw := looptest.Call("work", `{"n":1}`).Says("  <think> now ").Uses(agent.Usage{Input: 7, Output: 2})
	ran := looptest.Harness{Turns: all(raw, looptest.Reply("never")), Tools: all[agent.Tool](tool),
		Hooks: all[agent.Hook](afterLLM(func(
			r agent.LLMResponse,
		) (agent.AfterLLMOutcome, error) {
			seen = r
			return agent.EndTurn{Reply: "stopped here", Reason: "thinks aloud"}, nil
		}))}.Run(t, "x")
	if seen.Content != "  <think> now " || len(seen.ToolCalls) != 1 || seen.Usage.Total() != 9 {
		t.Errorf("seen %+v", seen)
	}
	if tool.Count() != 0 || len(ran.Script.Calls()) != 1 || ran.Reply != "stopped here" ||
		ran.Stop.Message != "thinks aloud" {
		t.Errorf("the run went on: %+v", ran.AgentResult)
	}
}

func TestAFailingObserverKeepsTheRun(t *testing.T) {
	var d diary
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
		agent.BeforeStepFunc(func(context.Context, *agent.Run, agent.Step) error { panic("boom") }),
		agent.AfterStepFunc(func(context.Context, *agent.Run, agent.StepResult) error { return errBoom }),
		agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) { return nil, errBoom }),
		bind(func(h *agent.Hooks) { h.Use(d.noting("called"), named("of BeforeTool")) }),
	)}.Run(t, "x")
	if ran.Reply != "ok" || ran.Failed != nil || ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	d.want(t, "called") // only at its own point, once
	for _, e := range ran.Trace.Events() {
		if e.Kind == hookkit.EventHook && e.Hook == "of BeforeTool" && e.Point != "BeforeTool" {
			t.Errorf("a hook of BeforeTool was called at %s", e.Point)
		}
	}
}

func TestOnlyAnAcceptedAnswerIsReported(t *testing.T) {
	rejections := 0
	strict := checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		if rejections++; rejections == 1 {
			return agent.RejectDone{Feedback: "again"}, nil
		}
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: all(looptest.Reply("first"), looptest.Reply("second")), Hooks: all[agent.Hook](strict),
	}.Run(t, "x")
	if got := hooktest.PayloadsOf[agent.DoneAccepted](ran.Recorder, "OnDoneAccepted"); len(got) != 1 ||
		got[0].Answer != "second" {
		t.Errorf("accepted %+v", got)
	}
	limited := &loop.Agent{Limits: loop.Limits{Steps: 2}}
	ran = looptest.Harness{Turns: working(9), Tools: all[agent.Tool](work()), Agent: limited}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseStepsLimit {
		t.Fatalf("stopped for %+v", ran.Stop)
	}
	ran.Recorder.Times(t, "OnDoneAccepted", 0)
	const hook = `
func accepted(ctx context.Context, run *agent.Run, done agent.DoneAccepted) error {
	return nil
}
`
	refused(t, hook, "\th.OnDoneAccepted.Add(agent.OnDoneAcceptedFunc(accepted))",
		"done agent.DoneAccepted) error {\n\treturn nil",
		"done agent.DoneAccepted) (agent.CheckDoneOutcome, error) {\n\treturn agent.RejectDone{}, nil",
		"cannot convert accepted")
}

func TestTextsReachThePromptInOrder(t *testing.T) {
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all(briefs("text 1"), briefs("text 2"), briefs(" "),
			briefs("text 3")),
	}.Run(t, "x")
	for i := range 2 {
		contains(t, requestText(t, ran, i), "text 1\n\ntext 2\n\ntext 3")
	}
	for _, m := range ran.Messages {
		lacks(t, m.Content, "text")
	}
	ran.Recorder.InOrder(t, "OnRunStart", "Briefing", "BeforeLLM", "AfterLLM", "BeforeTool", "AfterTool",
		"Briefing", "OnRunEnd")
	if points := ran.Recorder.Points(); points[len(points)-1] != "OnRunEnd" || ran.Recorder.Count("OnRunEnd") != 1 {
		t.Errorf("the run ended with %v", points[len(points)-3:])
	}
}
