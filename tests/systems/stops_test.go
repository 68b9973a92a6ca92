package systems

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// signalled returns the signals of the hook at a step boundary.
func signalled(t testing.TB, hook agent.Hook, at agent.Step) []agent.EndRun {
	t.Helper()
	var h agent.Hooks
	h.Use(hook)
	signals, err := h.ShouldStop.Fire(t.Context(), agent.NewRun(nil), at)
	if err != nil {
		t.Error(err)
	}
	return signals
}

// is fails the test unless got is exactly the signal want.
func is(t testing.TB, got []agent.EndRun, want agent.EndRun) {
	t.Helper()
	if diff := cmp.Diff([]agent.EndRun{want}, got); diff != "" {
		t.Errorf("the signal is another one (-want +got):\n%s", diff)
	}
}

// given returns a signal as the loop records it, with the name of the hook.
func given(s agent.EndRun, by string) agent.EndRun {
	s.By = by
	return s
}

func TestStepLimitStopsAtItsLimit(t *testing.T) {
	most := &limit.Steps{Max: limit.AtMost(2)}
	want := func(n int) agent.EndRun {
		return agent.EndRun{Cause: agent.CauseStepsLimit, Message: fmt.Sprintf("Step limit reached: %d/2", n),
			Detail: map[string]any{"currentSteps": n, "maxSteps": 2}}
	}
	if got := signalled(t, most, agent.Step{Number: 1}); len(got) != 0 {
		t.Errorf("under the limit: %v", got)
	}
	is(t, signalled(t, most, agent.Step{Number: 2}), want(2))
	is(t, signalled(t, most, agent.Step{Number: 3}), want(3))
	ran := looptest.Harness{Turns: working(9), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](most)}.Run(t, "x")
	if ran.Steps != 2 || len(ran.Script.Calls()) != 2 || !cmp.Equal(ran.Stop, given(want(2), "limit.Steps")) {
		t.Errorf("after %d model calls: %+v", len(ran.Script.Calls()), ran.AgentResult)
	}
	counted := &limit.Steps{Max: limit.AtMost(2), Count: func(_ *agent.Run, s agent.Step) int { return 2 * s.Number }}
	ran = looptest.Harness{Turns: working(9), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](counted)}.Run(t, "x")
	if ran.Steps != 1 || ran.Stop.Message != "Step limit reached: 2/2" {
		t.Errorf("with a counter of its own: %+v", ran.AgentResult)
	}
}

func TestTokenLimitStopsAtItsLimit(t *testing.T) {
	limit := &limit.Tokens{Max: limit.AtMost(10)}
	if got := signalled(t, limit, agent.Step{Usage: agent.Usage{Input: 5, Output: 4}}); len(got) != 0 {
		t.Errorf("under the limit: %v", got)
	}
	want := agent.EndRun{Cause: agent.CauseTokenLimit, Message: "Token limit reached: 10/10",
		Detail: map[string]any{"totalTokens": 10, "maxTotalTokens": 10}}
	is(t, signalled(t, limit, agent.Step{Usage: agent.Usage{Input: 6, Output: 4}}), want)
	five := looptest.Call("work", nil).Uses(agent.Usage{Input: 2, Output: 3})
	ran := looptest.Harness{
		Turns: all(five, five, five),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](limit),
	}.Run(t, "x")
	if ran.Steps != 2 || !cmp.Equal(ran.Stop, given(want, "limit.Tokens")) {
		t.Errorf("%+v", ran.AgentResult)
	}
}

func TestTimeLimitCountsFromTheRunsStart(t *testing.T) {
	limit := &limit.Time{Max: limit.AtMost(time.Second)}
	for _, elapsed := range all(0, 999*time.Millisecond) {
		if got := signalled(t, limit, agent.Step{Elapsed: elapsed}); len(got) != 0 {
			t.Errorf("after %v: %v", elapsed, got)
		}
	}
	clock := looptest.NewClock(time.Unix(1000, 0))
	slow := &looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(410 * time.Millisecond)
		return "", nil
	}}
	want := agent.EndRun{Cause: agent.CauseTimeLimit, Message: "Execution time limit reached: 1.23s/1.00s",
		Detail: map[string]any{"elapsedSeconds": 1.23, "maxSeconds": 1.0}}
	a := &loop.Agent{
		Model: looptest.NewScript(working(9)...).ForEachRun(), Tools: all[agent.Tool](slow), Hooks: loop.Hooks(limit),
		Clock: clock,
	}
	for range 2 { // each run has a start of its own
		clock.Advance(time.Hour)
		if result, err := looptest.Ended(a.Run(t.Context(), "x")); err != nil || result.Steps != 3 ||
			!cmp.Equal(result.Stop, given(want, "limit.Time")) {
			t.Errorf("%+v, %v", result, err)
		}
	}
}

func TestFinishReasonStopsOnAMatch(t *testing.T) {
	guard := &limit.FinishReason{Reasons: all("length", "stop")}
	after := func(reason string) agent.Step {
		return agent.Step{Number: 1, Last: &agent.StepResult{Response: &agent.LLMResponse{FinishReason: reason}}}
	}
	is(t, signalled(t, guard, after("stop")), agent.EndRun{Cause: agent.CauseFinishReason,
		Message: `Finish reason "stop" matched stop condition`, Detail: map[string]any{
			"finishReason": "stop", "stopReasons": all("length", "stop"),
		}})
	for name, at := range map[string]agent.Step{
		"another reason": after("tool_calls"), "another case": after("STOP"), "no reason": after(""),
		"no reply": {Number: 1, Last: &agent.StepResult{}}, "no step": {},
	} {
		if got := signalled(t, guard, at); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := signalled(t, &limit.FinishReason{}, after("stop")); len(got) != 0 {
		t.Errorf("an empty list: %v", got)
	}
	tool := work()
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", nil).Finish("length"), looptest.Reply("more")), Tools: all[agent.Tool](tool),
		Hooks: all[agent.Hook](guard),
	}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseFinishReason || ran.Steps != 1 || tool.Count() != 1 || ran.Forced() {
		t.Errorf("the tool ran %d times, %+v", tool.Count(), ran.AgentResult)
	}
}

func TestGuardsAndCustomHooksCombine(t *testing.T) {
	var d diary
	own := agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
		d.note("asked after %d", s.Number)
		return nil, nil
	})
	run := func(g builtin.Guards) *looptest.Ran {
		return looptest.Harness{Turns: working(2), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](g, own)}.Run(t, "x")
	}
	ran := run(builtin.Guards{FinishReasons: all("length")})
	d.want(t, "asked after 0", "asked after 1", "asked after 2", "asked after 3")
	if ran.Stop.Cause != agent.CauseCompleted || len(ran.Signals) != 1 || ran.Reply != "ok" {
		t.Errorf("under all limits: %+v", ran.AgentResult)
	}
	ran = run(builtin.Guards{Steps: limit.AtMost(1), Tokens: limit.AtMost(1000)})
	d.want(t, "asked after 0", "asked after 1")
	if ran.Stop.Cause != agent.CauseStepsLimit || len(ran.Signals) != 1 {
		t.Errorf("over one of them: %+v", ran.Signals)
	}
}

// A source reports whether to cancel.
type source func() (string, bool, error)

func (f source) Cancelled(context.Context, *agent.Run) (string, bool, error) { return f() }

func TestCancellationIsPolledUntilAStop(t *testing.T) {
	asked := 0
	run := func(at int, hooks ...agent.Hook) *looptest.Ran {
		asked = 0
		cancels := &limit.Cancellation{Source: source(func() (string, bool, error) {
			asked++
			return "enough", asked == at, nil
		})}
		return looptest.Harness{Turns: working(2), Tools: all[agent.Tool](work()), Hooks: append(hooks, cancels)}.Run(t, "x")
	}
	if ran := run(2); ran.Stop.Cause != agent.CauseUserRequested || ran.Stop.Message != "enough" || ran.Steps != 1 ||
		asked != 2 {
		t.Errorf("applied: asked %d times, %+v", asked, ran.AgentResult)
	}
	if ran := run(0); ran.Reply != "ok" || len(ran.Signals) != 1 || asked != 3 { // not after the answer
		t.Errorf("none: asked %d times, %+v", asked, ran.AgentResult)
	}
	ends := afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		return agent.EndTurn{Reason: "done"}, nil
	})
	if ran := run(2, ends); ran.Stop.Message != "done" || len(ran.Signals) != 1 || asked != 1 {
		t.Errorf("with a stop: asked %d times, %+v", asked, ran.Signals)
	}
	off, anyone := limit.CancelSwitch{Share: share.Everyone}, agent.Identity{}
	if err := off.Cancel(anyone, "by hand"); err != nil {
		t.Fatal(err)
	}
	sw := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](&limit.Cancellation{Source: &off})}
	if ran := sw.Run(t, "x"); ran.Stop.Message != "by hand" || ran.ModelCalls != 0 {
		t.Errorf("the switch: %+v", ran.AgentResult)
	}
	off.Reset(anyone)
	if ran := sw.Run(t, "x"); ran.Reply != "ok" {
		t.Errorf("the switch is off: %+v", ran.AgentResult)
	}
}

func TestTheCriticStopsAtItsMaximum(t *testing.T) {
	rejects := looptest.Reply(`{"approve":false,"problem":"too short","suggestions":["say more"]}`)
	critic := looptest.NewScript(rejects, rejects, rejects)
	ran := looptest.Harness{
		Turns: all(looptest.Reply("one"), looptest.Reply("two"), looptest.Reply("three")),
		Hooks: all[agent.Hook](&answer.Critic{Model: critic, MaxRejections: 2}),
		Agent: &loop.Agent{Limits: loop.Limits{Rejections: -1}},
	}.Run(t, "the task")
	if ran.Stop.Cause != agent.CauseRetryLimit || ran.Stop.Message != "Max self-critic iterations reached: 2/2" ||
		ran.Stop.By != "answer.Critic" || ran.Steps != 2 || len(critic.Calls()) != 2 {
		t.Errorf("the critic was asked %d times: %+v", len(critic.Calls()), ran.AgentResult)
	}
	contains(t, requestText(t, ran, 1), "[CORRECTION REQUIRED - Iteration 1]", "too short", "say more")
	contains(t, critic.Requests()[1].Messages[1].Content, "the task", "two")
	if n := strings.Count(fmt.Sprint(ran.Messages), "two"); n != 1 {
		t.Errorf("the second answer is in the conversation %d times", n)
	}
}

func TestOnlyAHookTurnsToolFailuresFatal(t *testing.T) {
	l := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Err: errBoom})}
	if ran := l.Run(t, "x"); ran.Failed != nil || ran.Reply != "ok" || ran.Err != "" {
		t.Errorf("a failed tool failed the run: %+v", ran.AgentResult)
	}
	l.Hooks = all[agent.Hook](agent.ShouldStopFunc(func(
		_ context.Context, _ *agent.Run, s agent.Step,
	) ([]agent.EndRun, error) {
		if s.Last != nil && !s.Last.Results[0].OK() {
			return []agent.EndRun{{Cause: agent.CauseError, Message: "work: " + s.Last.Results[0].Err}}, nil
		}
		return nil, nil
	}))
	ran := l.Run(t, "x")
	if ran.Failed == nil || ran.Stop.Cause != agent.CauseError || ran.Reply != "" || ran.Steps != 1 {
		t.Fatalf("the run went on: %v, %+v", ran.Failed, ran.AgentResult)
	}
	contains(t, ran.Failed.Error(), "work: boom")
}
