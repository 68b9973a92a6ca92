package answer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

type gateFunc func(answer.Attempt) (string, error)

func (f gateFunc) Check(_ context.Context, _ *agent.Run, a answer.Attempt) (string, error) {
	return f(a)
}

func TestGateRejectsUntilConditionsPass(t *testing.T) {
	look := func() looptest.Turn { return looptest.Call("look", nil) }
	edit, check := looptest.Call("edit", nil), looptest.Call("test", nil)
	for name, c := range map[string]struct {
		gate  answer.Condition
		turns []looptest.Turn
		want  string // feedback after the first answer
		at    int    // number of the model call with the feedback
	}{
		"too few tools": {answer.MinTools(2),
			[]looptest.Turn{look(), looptest.Reply("early"), look(), looptest.Reply("done")},
			"Insufficient evidence: only 1 tools called. Call at least 2 before concluding.", 2},
		"a change after the passing run": {answer.RequireTool("test", "edit"),
			[]looptest.Turn{check, edit, looptest.Reply("early"), check, looptest.Reply("done")},
			"test has not passed yet; run it and fix failures first", 3},
		"the answer itself": {answer.AnswerCheck(func(a string) string {
			if a != "done" {
				return "say done"
			}
			return ""
		}), []looptest.Turn{looptest.Reply("early"), looptest.Reply("done")}, "say done", 1},
		"the schema": {answer.AnswerSchema(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`),
			[]looptest.Turn{looptest.Reply(`{"n":"one"}`), looptest.Reply(`{"n":1}`)}, "n", 1},
		"no JSON": {answer.AnswerSchema(`{}`), []looptest.Turn{looptest.Reply(`{} {}`), looptest.Reply(`{}`)},
			"must be one JSON value", 1},
		"a gate that fails": {gateFunc(func(a answer.Attempt) (string, error) {
			if a.Rejections == 0 {
				return "", errors.New("cannot judge")
			}
			return "", nil
		}), []looptest.Turn{looptest.Reply("early"), looptest.Reply("done")}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			tools := []agent.Tool{&looptest.Tool{Name: "look", Result: "x"}, &looptest.Tool{Name: "edit", Result: "x"},
				&looptest.Tool{Name: "test", Result: "ok"}}
			ran := looptest.Harness{Turns: c.turns, Tools: tools,
				Hooks: []agent.Hook{&answer.Gate{Conditions: []answer.Condition{c.gate}}}}.Run(t, "go")
			if ran.Stop.Cause != agent.CauseCompleted || ran.Script.Remaining() != 0 {
				t.Fatalf("stopped by %+v (%v) with %d turns left", ran.Stop, ran.Failed, ran.Script.Remaining())
			}
			if !strings.Contains(fixture.Shown(ran, c.at), c.want) {
				t.Errorf("the model was not told %q:\n%s", c.want, fixture.Shown(ran, c.at))
			}
		})
	}
}

func TestFailedCallsAreNotEvidence(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("look", nil), looptest.Reply("early"), looptest.Reply("again"),
			looptest.Reply("and again")},
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Err: errors.New("down")}},
		Hooks: []agent.Hook{&answer.Gate{Conditions: []answer.Condition{answer.MinTools(1)}}},
	}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseRetryLimit {
		t.Errorf("stopped by %+v, want retry_limit", ran.Stop)
	}
}

func TestGateStopsRunAfterMaxRejections(t *testing.T) {
	never := answer.AnswerCheck(func(string) string { return "no" })
	hook := &answer.Gate{Conditions: []answer.Condition{never}, MaxRejections: 2}
	for range 2 { // counted per run
		ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("1"), looptest.Reply("2"), looptest.Reply("3")},
			Hooks: []agent.Hook{hook}}.Run(t, "go")
		if ran.Stop.Cause != agent.CauseRetryLimit || ran.Steps != 2 {
			t.Errorf("stopped by %+v after %d steps", ran.Stop, ran.Steps)
		}
	}
}

func TestInvalidGatePanicsInBind(t *testing.T) {
	for want, hook := range map[string]*answer.Gate{
		"Conditions is empty": {}, "Conditions[0] is nil": {Conditions: []answer.Condition{nil}},
		"MinTools(0)":         {Conditions: []answer.Condition{answer.MinTools(0)}},
		"AnswerSchema":        {Conditions: []answer.Condition{answer.AnswerSchema(`{"type": 7}`)}},
		"RequireTool":         {Conditions: []answer.Condition{answer.RequireTool("")}},
		"AnswerCheck(nil)":    {Conditions: []answer.Condition{answer.AnswerCheck(nil)}},
		"changes[0] is empty": {Conditions: []answer.Condition{answer.RequireTool("test", "")}},
		"MaxRejections is -1": {Conditions: []answer.Condition{answer.MinTools(1)}, MaxRejections: -1},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(hook)
		})
	}
}

func TestCriticRejectsUntilItApproves(t *testing.T) {
	critic := looptest.NewScript(
		looptest.Reply("```json\n{\"approve\": false, \"problem\": \"no numbers\", \"suggestions\": [\"add numbers\"]}\n```"),
		looptest.Reply(`{"approve": true}`))
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("look", nil), looptest.Reply("draft"),
		looptest.Reply("final")},
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: strings.Repeat("x", 7000)}},
		Hooks: []agent.Hook{&answer.Critic{Model: critic}}}.Run(t, "count the lines")
	if ran.Reply != "final" || ran.Stop.Cause != agent.CauseCompleted {
		t.Fatalf("got %q, stopped by %+v", ran.Reply, ran.Stop)
	}
	want := "[CORRECTION REQUIRED - Iteration 1]\nno numbers\nWhat to do:\n- add numbers"
	if !strings.Contains(fixture.Shown(ran, 2), want) {
		t.Errorf("the model was told\n%s\nwant %q in it", fixture.Shown(ran, 2), want)
	}
	shown := critic.Requests()[0].Messages[1].Content
	for _, want := range []string{"count the lines", "look", "(1000 characters left out)", "draft"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the critic was not shown %q", want)
		}
	}
}

func TestEveryConditionMustPass(t *testing.T) {
	says := func(feedback string) answer.Condition {
		return answer.AnswerCheck(func(string) string { return feedback })
	}
	fails := gateFunc(func(answer.Attempt) (string, error) { return "", errors.New("cannot judge") })
	for _, c := range []struct {
		name       string
		conditions []answer.Condition
		want       string // feedback or error
	}{
		{"all pass", []answer.Condition{says(""), says("")}, ""},
		{"the first rejects", []answer.Condition{says("no"), says("never")}, "no"},
		{"the second rejects", []answer.Condition{says(""), says("no")}, "no"},
		{"the second fails", []answer.Condition{says(""), fails}, "Conditions[1]: cannot judge"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hook := &answer.Gate{Conditions: c.conditions}
			out, err := hook.CheckDone(t.Context(), agent.NewRun(nil), agent.DoneRequest{Answer: "x"})
			got := ""
			if reject, ok := out.(agent.RejectDone); ok {
				got = reject.Feedback
			}
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct {
		most limit.Bound[int]
		want int
	}{{0, 0}, {limit.None, 0}, {1, 1}} {
		var hooks agent.Hooks
		hooks.Use(&answer.Gate{Conditions: []answer.Condition{says("")}, MaxRejections: c.most})
		if n := len(hooks.ShouldStop.List()); n != c.want {
			t.Errorf("with MaxRejections %d there are %d hooks that stop runs", c.most, n)
		}
	}
}

func TestTheCriticSeesTheLastCalls(t *testing.T) {
	for _, c := range []struct {
		calls      int
		want, lack string
	}{
		{2, "# Task\ncount\n\n# Calls and results\ncall0 {}\nok\n\ncall1 {}\nerror: down\n\n# Answer\nx\n", "call2"},
		{50, "# Calls and results\ncall0 {}\n", "call50"},
		{52, "# Calls and results\ncall2 {}\n", "call1 "},
	} {
		t.Run(fmt.Sprint(c.calls), func(t *testing.T) {
			ofRun := looptest.NewScript(looptest.Reply(`{"approve": true}`))
			var hooks agent.Hooks
			hooks.Use(&answer.Critic{})
			run := agent.NewRun(&agent.Env{Model: ofRun})
			if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{Task: "count"}); err != nil {
				t.Fatal(err)
			}
			for i := range c.calls {
				call := agent.ToolCallRequest{Name: fmt.Sprint("call", i), Args: []byte("{}")}
				r := agent.ToolCallResult{Call: call, Output: "ok"}
				if i == 1 {
					r.Output, r.Err = "guidance", "down"
				}
				if _, err := hooks.AfterTool.Fire(t.Context(), run, &r); err != nil {
					t.Fatal(err)
				}
			}
			if exit, err := hooks.CheckDone.Fire(t.Context(), run, &agent.DoneRequest{Answer: "x"}); exit != nil || err != nil {
				t.Fatal(exit, err)
			}
			text := ofRun.Requests()[0].Messages[1].Content
			if !strings.Contains(text, c.want) || strings.Contains(text, c.lack) {
				t.Errorf("the critic got %s", text)
			}
		})
	}
	var hooks agent.Hooks
	hooks.Use(&answer.Critic{})
	for name, env := range map[string]*agent.Env{"no environment": nil, "no model": {}} {
		_, err := hooks.CheckDone.Fire(t.Context(), agent.NewRun(env), &agent.DoneRequest{Answer: "x"})
		if err == nil || !strings.Contains(err.Error(), "there is no model to ask; set Model") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text := fixture.UsePanic(&answer.Critic{MaxRejections: -1}); !strings.Contains(text, "MaxRejections is -1") {
		t.Errorf("panicked with %q", text)
	}
}

func TestCriticStopsAfterMaxRejections(t *testing.T) {
	no := looptest.Reply(`{"approve": false, "problem": "bad"}`)
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("1"), looptest.Reply("2"), looptest.Reply("3")},
		Hooks: []agent.Hook{&answer.Critic{Model: looptest.NewScript(no, no, no)}}}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseRetryLimit || ran.Stop.Message != "Max self-critic iterations reached: 2/2" {
		t.Errorf("stopped by %+v", ran.Stop)
	}
}

func TestFailingCriticRejectsByDefault(t *testing.T) {
	for _, reply := range []looptest.Turn{looptest.Error(errors.New("down")), looptest.Reply("fine"),
		looptest.Reply(`{"ok":true}`), looptest.Reply(`{"approve":true,"weaknesses":[1]}`), looptest.Reply("} {")} {
		var hooks agent.Hooks
		hooks.Use(&answer.Critic{Model: looptest.NewScript(reply)})
		_, err := hooks.CheckDone.Fire(t.Context(), agent.NewRun(nil), &agent.DoneRequest{Answer: "x"})
		if err == nil || !strings.Contains(err.Error(), "the critic failed: ") {
			t.Errorf("a failing critic returned %v", err)
		}
		var told error
		var lenient agent.Hooks
		lenient.Use(&answer.Critic{Model: looptest.NewScript(reply), ApproveOnFailure: true, OnError: func(err error) {
			told = err
		}})
		exit, err := lenient.CheckDone.Fire(t.Context(), agent.NewRun(nil), &agent.DoneRequest{Answer: "x"})
		if exit != nil || err != nil || told == nil {
			t.Errorf("exit %v, error %v, told %v", exit, err, told)
		}
	}
	var hooks agent.Hooks
	hooks.Use(&answer.Critic{Model: looptest.NewScript()})
	if exit, err := hooks.CheckDone.Fire(t.Context(), agent.NewRun(nil), &agent.DoneRequest{Answer: " "}); exit != nil ||
		err != nil {
		t.Errorf("an empty answer was judged: %v %v", exit, err)
	}
}

func TestCriticWithoutRejectionsLetsTheRunBegin(t *testing.T) {
	for verdict, cause := range map[string]agent.Cause{
		`{"approve": true}`: agent.CauseCompleted, `{"approve": false}`: agent.CauseRetryLimit,
	} {
		critic := &answer.Critic{Model: looptest.NewScript(looptest.Reply(verdict)), MaxRejections: limit.AtMost(0)}
		ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{critic}}.Run(t, "go")
		if ran.Stop.Cause != cause {
			t.Errorf("after %s the run stopped with %+v", verdict, ran.Stop)
		}
	}
}
