package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestP11_AStoppedRunIsNotSuspended: if something ends the run for good, its calls are answered as not run.
func TestP11_AStoppedRunIsNotSuspended(t *testing.T) {
	stops := agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
		return signals(agent.EndRun{Cause: agent.CauseStopRequested, Message: "enough"})
	})
	fails := agent.BeforeRunEndFunc(func(
		context.Context, *agent.Run, agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		return nil, errBoom
	})
	for _, c := range []struct {
		name  string
		hook  agent.Hook
		cause agent.Cause
	}{
		{"OnStop", stops, agent.CauseStopRequested},
		{"BeforeRunEndFails", fails, agent.CauseError},
		{"LaterCallEndsTheTurn", atTool("none", agent.EndTurn{Reply: "end"}, nil), agent.CauseStopRequested},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := suspendable()["BetweenOthers"]()
			s.person, s.hooks = later(), hooks(c.hook)
			result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
			if result.Suspended != nil || result.Stop.Cause != c.cause || (err != nil) != (c.cause == agent.CauseError) {
				t.Errorf("%+v, %v", result, err)
			}
			rec := s.recorders[0]
			rec.Times(t, "AfterTool", 4)
			for _, r := range hooktest.PayloadsOf[agent.ToolCallResult](rec, "AfterTool") {
				first := r.Call.ID == "main_call_1_1" && c.name != "LaterCallEndsTheTurn" // it ran before the question
				if (r.Status == agent.CallSucceeded) != first {
					t.Errorf("%+v", r)
				}
			}
			checkAnswered(t, result.Messages)
		})
	}
}

// TestP11_ResumedRunCanEndAtItsStart: then the calls that waited are answered as not run.
func TestP11_ResumedRunCanEndAtItsStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		hook  agent.Hook
		cause agent.Cause
	}{
		{"EndTurn", onStart(agent.EndTurn{Reply: "closed"}, nil), agent.CauseStopRequested},
		{"Failure", onStart(nil, errBoom), agent.CauseError},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, result := suspended(t)
			s.hooks = hooks(c.hook)
			got, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, result.Suspended),
				loop.AnswerTo(result.Suspended.Questions[0], yes())))
			if got.Stop.Cause != c.cause || got.Suspended != nil || (err != nil) != (c.cause == agent.CauseError) {
				t.Errorf("%+v, %v", got, err)
			}
			if len(s.log) != 1 { // the call before the question
				t.Errorf("ran %v", s.log)
			}
			s.recorders[1].Times(t, "AfterTool", 3)
			s.recorders[1].Times(t, "BeforeStep", 0)
			checkAnswered(t, got.Messages)
		})
	}
}

func TestP11_AHookCannotChangeAResumedConversation(t *testing.T) {
	s, result := suspended(t)
	s.hooks = hooks(agent.OnRunStartFunc(func(
		_ context.Context, _ *agent.Run, start agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		if start.Resumed != result.Suspended.ID || start.Task != "x" {
			t.Errorf("started with %+v", start)
		}
		start.Task, start.Messages = "another", nil
		start.Messages = append(start.Messages, agent.Message{Role: agent.RoleUser, Content: "forged"})
		return agent.ReplaceOnRunStart(start, "r"), nil
	}))
	got := s.finish(t, result, false)
	if got.Task != "x" || got.Messages[0].Content != "x" || len(got.Warnings) != 1 ||
		!strings.Contains(got.Warnings[0], "Messages") {
		t.Errorf("%+v", got)
	}
}

func TestP11_ToolsAreCheckedAgain(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(a *loop.Agent)
		kind agent.FailureKind
	}{
		{"SwitchedOff", func(a *loop.Agent) { a.ToolsDisabled = func() bool { return true } }, agent.FailDisabled},
		{"Gone", func(a *loop.Agent) { a.Tools = a.Tools[1:] }, agent.FailUnknown},
		{"OtherSchema", func(a *loop.Agent) {
			a.Tools[0] = &looptest.Tool{Name: "pay", Parameters: `{"type":"object","required":["b"]}`}
		}, agent.FailArguments},
		{"OtherMeaning", func(a *loop.Agent) {
			a.Tools, a.Done = a.Tools[1:], agent.ToolSchema{Name: "pay"}
		}, agent.FailUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, result := suspended(t)
			a := s.process()
			c.edit(a)
			got, err := looptest.Ended(a.Resume(t.Context(), sent(t, result.Suspended),
				loop.AnswerTo(result.Suspended.Questions[0], yes())))
			if err != nil {
				t.Fatal(err)
			}
			q := result.Suspended.Questions[0]
			if r := resultOf(t, got, q.Call.ID); r.Kind != c.kind || r.OK() {
				t.Errorf("%+v", r)
			}
			s.recorders[1].Times(t, "AfterTool", 3)
			if slices.ContainsFunc(s.log, func(l string) bool { return strings.HasPrefix(l, "pay") }) {
				t.Errorf("ran %v", s.log)
			}
		})
	}
}

func resultOf(t testing.TB, got agent.AgentResult, id string) agent.ToolCallResult {
	t.Helper()
	return result(t, got.Calls, id)
}

func TestP11_ACancelledResumptionRunsNothing(t *testing.T) {
	s, result := suspended(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := looptest.Ended(s.process().Resume(ctx, sent(t, result.Suspended),
		loop.AnswerTo(result.Suspended.Questions[0], yes())))
	if !errors.Is(err, context.Canceled) || got.Stop.Cause != agent.CauseUserRequested || len(s.log) != 1 {
		t.Errorf("%+v, %v", got.Stop, err)
	}
	checkAnswered(t, got.Messages)
	s.recorders[1].Times(t, "AfterTool", 3)
	s.recorders[1].Times(t, "OnPermissionGranted", 0)
}

func TestP11_AStreamIsSuspendedAndResumed(t *testing.T) {
	s := suspendable()["Subagent"]()
	s.person = later()
	end := func(a *loop.Agent, req loop.Request) (end agent.AgentResult) {
		t.Helper()
		for e, err := range a.Stream(t.Context(), req) {
			if err != nil && !errors.Is(err, loop.ErrSuspended) {
				t.Fatal(err)
			}
			if e.Kind == loop.EventEnd && e.Agent == "main" {
				end = *e.End
			}
		}
		return end
	}
	first := end(s.process(), loop.Request{Task: "x"})
	state := sent(t, first.Suspended)
	got := end(s.process(), loop.Request{Suspended: &state, Answers: []loop.Answer{
		loop.AnswerTo(state.Questions[0], yes()),
	}})
	if got.Reply != "ok" || len(s.log) != 4 {
		t.Errorf("%+v, ran %v", got, s.log)
	}
}

// TestP11_AHookCannotRepeatASuspendedCall: a hook that retries failed calls gets the same error again.
func TestP11_AHookCannotRepeatASuspendedCall(t *testing.T) {
	s := suspendable()["Subagent"]()
	s.person = later()
	s.hooks = hooks(agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		a, err := next.Call(ctx, call)
		if err != nil {
			a, err = next.Call(ctx, call)
		}
		if err != nil {
			return hookkit.Answered(agent.ToolCallResult{Output: "invented"}), nil
		}
		return a, nil
	}))
	first, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || first.Suspended == nil {
		t.Fatalf("%+v, %v", first.Stop, err)
	}
	s.recorders[0].Times(t, "OnSubagentStart", 1)
	s.recorders[0].Times(t, "OnToolError", 0)
	if got := s.finish(t, first, false); got.Reply != "ok" || strings.Contains(lastToolText(got), "invented") {
		t.Errorf("%+v", got)
	}
}

func lastToolText(r agent.AgentResult) (text string) {
	for _, m := range r.Messages {
		if m.Role == agent.RoleTool {
			text += m.Content
		}
	}
	return text
}

// TestP11_ARunOfAHookCannotWait: only a call can be repeated after the resumption, not a hook.
func TestP11_ARunOfAHookCannotWait(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.person = later()
	inner := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("inner"))
	var reply string
	s.hooks = hooks(agent.BeforeStepFunc(func(ctx context.Context, run *agent.Run, _ agent.Step) error {
		if run.Parent() != "" {
			return nil
		}
		got, err := loop.Spawn(ctx, &loop.Agent{Name: "inner", Model: inner, Tools: tools(s.tool("pay"))}, loop.Request{})
		reply = got.Reply
		return err
	}))
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || reply != "inner" || result.Suspended == nil || len(result.Suspended.Questions) != 1 {
		t.Errorf("the inner run replied %q: %+v, %v", reply, result.Stop, err)
	}
	denials := hooktest.PayloadsOf[agent.Denial](s.recorders[0], "OnPermissionDenied")
	if len(denials) != 1 || denials[0].Kind != agent.DeniedUnasked || len(s.log) != 0 {
		t.Errorf("denials %+v, ran %v", denials, s.log)
	}
}

func TestP11_OnlyAnsweredSubagentsContinue(t *testing.T) {
	s := &site{asks: []string{"pay"}, turns: map[string][]looptest.Turn{
		"main": turns(
			looptest.Calls(looptest.Call("a", `{"task":"t"}`), looptest.Call("b", `{"task":"t"}`)), looptest.Reply("ok")),
		"a": turns(looptest.Call("pay", nil), looptest.Reply("a")),
		"b": turns(looptest.Call("pay", nil), looptest.Reply("b")),
	}, build: func(s *site) *loop.Agent {
		return s.agent("main", loop.Subagent(s.agent("a", s.tool("pay"))), loop.Subagent(s.agent("b", s.tool("pay"))))
	}, person: later()}
	first, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || first.Suspended == nil || len(first.Suspended.Questions) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, q := range first.Suspended.Questions {
		if q.Run == "" || q.Run == first.Suspended.Run {
			t.Errorf("question %+v", q)
		}
	}
	second, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, first.Suspended),
		loop.AnswerTo(first.Suspended.Questions[1], yes())))
	if err != nil || second.Suspended == nil || second.Suspended.ID == first.Suspended.ID ||
		len(second.Suspended.Questions) != 1 {
		t.Fatalf("%+v, %v", second, err)
	}
	s.recorders[1].Times(t, "OnSubagentStart", 1)
	if got := s.finish(t, second, false); got.Reply != "ok" || len(s.log) != 2 {
		t.Errorf("%+v, ran %v", got, s.log)
	}
}

func TestP11_ARequestHasOneStart(t *testing.T) {
	s, result := suspended(t)
	state := sent(t, result.Suspended)
	answers := []loop.Answer{loop.AnswerTo(state.Questions[0], yes())}
	for _, c := range []struct {
		name string
		req  loop.Request
	}{
		{"Task", loop.Request{Suspended: &state, Answers: answers, Task: "x"}},
		{"User", loop.Request{Suspended: &state, Answers: answers, User: "eve"}},
		{"AnswersAlone", loop.Request{Task: "x", Answers: answers}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := looptest.Ended(s.process().Do(t.Context(), c.req)); !errors.Is(err, loop.ErrNotStarted) {
				t.Error(err)
			}
		})
	}
}

func TestP11_AStoppedTargetIsNotSuspended(t *testing.T) {
	s := suspendable()["HandoffTarget"]()
	s.person = later()
	s.hooks = hooks(agent.OnStopFunc(func(_ context.Context, run *agent.Run, _ agent.Stopping) ([]agent.EndRun, error) {
		if run.Parent() != "" {
			return nil, nil
		}
		return signals(agent.EndRun{Cause: agent.CauseStopRequested, Message: "enough"})
	}))
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended != nil || result.Stop.Message != "enough" {
		t.Errorf("%+v, %v", result.Stop, err)
	}
	checkAnswered(t, result.Messages)
}

func TestP11_TheTargetOfAHandoffIsCheckedAgain(t *testing.T) {
	s, result := suspendedAs(t, "HandoffTarget")
	a := s.process()
	a.Handoffs = nil
	got, err := looptest.Ended(a.Resume(t.Context(), sent(t, result.Suspended),
		loop.AnswerTo(result.Suspended.Questions[0], yes())))
	const want = `the agent "other" took over and is not one of the agent's handoffs any more`
	if err == nil || !strings.Contains(err.Error(), want) || got.Stop.Cause != agent.CauseError {
		t.Errorf("%+v, %v", got.Stop, err)
	}
	checkAnswered(t, got.Messages)
}

func TestP11_TheDepthOfAHandoffIsCheckedAgain(t *testing.T) {
	s := &site{asks: []string{"pay"}, person: later(), turns: map[string][]looptest.Turn{
		"main":  turns(looptest.Call("other", `{"task":"t"}`), looptest.Reply("ok")),
		"other": turns(looptest.Call("transfer_to_third", nil)),
		"third": turns(looptest.Call("pay", nil), looptest.Reply("paid")),
	}}
	depth := 2
	s.build = func(s *site) *loop.Agent {
		other := s.agent("other")
		other.Handoffs = []*loop.Agent{s.agent("third", s.tool("pay"))}
		a := s.agent("main", loop.Subagent(other))
		a.Limits.Depth = depth
		return a
	}
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	depth = 1
	got := s.finish(t, result, false)
	if got.Reply != "ok" || len(s.log) != 0 || !strings.Contains(lastToolText(got), "1 deep, which is the limit") {
		t.Errorf("%+v, ran %v", got, s.log)
	}
	checkAnswered(t, got.Messages)
}

func TestP11_AnotherAgentWithTheSameToolDoesNotTakeOver(t *testing.T) {
	target := "a b" // both names make the tool transfer_to_a_b
	s := &site{asks: []string{"pay"}, person: later(), turns: map[string][]looptest.Turn{
		"main": turns(looptest.Calls(looptest.Call("transfer_to_a_b", nil), looptest.Call("pay", nil)), looptest.Reply("ok")),
	}, build: func(s *site) *loop.Agent {
		a := s.agent("main", s.tool("pay"))
		a.Handoffs = []*loop.Agent{s.agent(target)}
		return a
	}}
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	target = "a_b"
	got, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, result.Suspended),
		loop.AnswerTo(result.Suspended.Questions[0], yes())))
	if err != nil || got.Reply != "ok" || got.HandedOffTo != "" || got.Calls[0].Kind != agent.FailHandoff {
		t.Errorf("%+v, %v", got, err)
	}
	checkAnswered(t, got.Messages)
}

func TestP11_ABudgetIsReportedOnce(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.turns["main"][0] = s.turns["main"][0].Uses(agent.Usage{Input: 20_000})
	s.person = later()
	build := s.build
	s.build = func(s *site) *loop.Agent {
		a := build(s)
		a.Limits.Tokens = 10_000
		return a
	}
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	got := s.finish(t, result, false)
	if got.Stop.Cause != agent.CauseTokenLimit || s.count("OnBudgetExceeded") != 1 {
		t.Errorf("%+v, %d reports", got.Stop, s.count("OnBudgetExceeded"))
	}
}

func TestP11_WishesOfHooksAreKeptOrReported(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.person = later()
	wished := false
	s.hooks = hooks(agent.BeforeToolFunc(func(
		_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		if !wished {
			wished = true
			run.Env.RequestCompaction("the user asked for it")
			run.Env.RewriteConversation("a file is gone", func(m []agent.Message) []agent.Message { return m })
		}
		return nil, nil
	}))
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	if all := strings.Join(result.Warnings, " "); !strings.Contains(all, "1 rewrites of the conversation were dropped") {
		t.Errorf("warnings %q", all)
	}
	s.recorders[0].Times(t, "BeforeCompact", 0)
	s.finish(t, result, false)
	asked := hooktest.PayloadsOf[agent.Compaction](s.recorders[1], "BeforeCompact")
	if len(asked) != 1 || asked[0].Reason != agent.CompactRequested || asked[0].Detail != "the user asked for it" {
		t.Errorf("compactions %+v", asked)
	}
}

func TestP11_EveryWaitingRunNeedsItsAnswer(t *testing.T) {
	s := &site{asks: []string{"pay"}, person: later(), turns: map[string][]looptest.Turn{
		"main":  turns(looptest.Call("all", nil), looptest.Reply("ok")),
		"first": turns(looptest.Call("pay", nil), looptest.Reply("one")),
		"other": turns(looptest.Call("pay", nil), looptest.Reply("two")),
		"fails": turns(looptest.Error(errBoom)),
	}}
	var failures []string
	s.build = func(s *site) *loop.Agent {
		var inner []*loop.Agent
		for _, name := range []string{"fails", "first", "other"} {
			inner = append(inner, s.agent(name, s.tool("pay")))
		}
		return s.agent("main", &looptest.Tool{Name: "all", Func: func(
			ctx context.Context, _ agent.ToolCallRequest,
		) (text string, waits error) {
			for _, a := range inner {
				got, err := loop.Spawn(ctx, a, loop.Request{Task: "t"})
				text += got.Reply
				if errors.Is(err, loop.ErrSuspended) {
					waits = err
				} else if err != nil {
					failures = append(failures, err.Error())
				}
			}
			return text, waits
		}})
	}
	first, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || first.Suspended == nil || len(first.Suspended.Questions) != 2 {
		t.Fatalf("%+v, %v", first.Stop, err)
	}
	second, err := looptest.Ended(s.process().Resume(t.Context(), sent(t, first.Suspended),
		loop.AnswerTo(first.Suspended.Questions[1], yes())))
	if err != nil || second.Suspended == nil || len(second.Suspended.Questions) != 1 {
		t.Fatalf("%+v, %v", second.Stop, err)
	}
	got := s.finish(t, second, false)
	if got.Reply != "ok" || len(s.log) != 2 || !strings.Contains(lastToolText(got), "onetwo") {
		t.Errorf("%+v, ran %v", got, s.log)
	}
	if len(failures) != 3 || len(slices.Compact(slices.Clone(failures))) != 1 || !strings.Contains(failures[0], "boom") {
		t.Errorf("the run that failed is reported as %q", failures)
	}
}

func TestP11_ObserversGetACopyOfTheQuestions(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.person = later()
	s.hooks = hooks(agent.OnRunEndFunc(func(_ context.Context, _ *agent.Run, result agent.AgentResult) error {
		//hookvet:ignore sharedpayload the test breaks this rule
		result.Suspended.Questions[0].Call.Args[0] = '!'
		return nil
	}))
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil || string(result.Suspended.Questions[0].Call.Args) != `{"a": 1}` {
		t.Errorf("%+v, %v", result.Suspended, err)
	}
}

func TestASuspendedRunIsNotResumedInsideARun(t *testing.T) {
	s, result := suspended(t)
	state := sent(t, result.Suspended)
	var got error
	start := &looptest.Tool{Name: "start", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		_, got = loop.Spawn(ctx, s.process(), loop.Request{
			Suspended: &state, Answers: []loop.Answer{loop.AnswerTo(state.Questions[0], yes())},
		})
		return "", got
	}}
	looptest.Harness{Turns: turns(looptest.Call("start", nil), looptest.Reply("ok")), Tools: tools(start)}.Run(t, "x")
	const want = "a suspended run is resumed outside of other runs"
	if got == nil || !strings.Contains(got.Error(), want) || len(s.log) != 1 {
		t.Errorf("got %v, ran %v", got, s.log)
	}
}

func TestP11_AroundHooksSeeThatACallWaits(t *testing.T) {
	s := suspendable()["Subagent"]()
	s.person = later()
	var failures []*agent.ToolError
	s.hooks = hooks(agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		result, err := next.Call(ctx, call)
		if failed, ok := errors.AsType[*agent.ToolError](err); ok {
			failures = append(failures, failed)
		}
		return result, err
	}))
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	if len(failures) != 1 || failures[0].Kind != agent.FailSuspended || !failures[0].NoRetry ||
		!strings.Contains(failures[0].Error(), "waits for an answer") {
		t.Errorf("the hook saw %+v", failures)
	}
}

func TestP11_AStateIsTheSameBytesAgain(t *testing.T) {
	s, result := suspendedAs(t, "TwoQuestions")
	state := *result.Suspended
	const reported = `"reported_budgets":["a","b","c","d","e","f","g","h"]`
	reseal(&state, `"messages":`, reported+`,"messages":`)
	got, err := s.process().Resume(t.Context(), state, loop.AnswerTo(state.Questions[0], yes())) // one of two
	if !errors.Is(err, loop.ErrSuspended) || !strings.Contains(string(got.Suspended.State), reported) {
		t.Errorf("%v: %s", err, got.Suspended.State)
	}
}
