package answer_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestRequireToolWantsCheckAfterLastChange(t *testing.T) {
	check, edit, look := looptest.Call("test", nil), looptest.Call("edit_file", nil), looptest.Call("look", nil)
	cached := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		if call.Name == "test" {
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "ok"}, Reason: "cached"}, nil
		}
		return nil, nil
	})
	for name, c := range map[string]struct {
		turns  []looptest.Turn
		hook   agent.Hook
		passes bool
	}{
		"nothing was checked":                 {[]looptest.Turn{look}, nil, false},
		"a check":                             {[]looptest.Turn{check}, nil, true},
		"a check after a change":              {[]looptest.Turn{edit, check}, nil, true},
		"a change after a check":              {[]looptest.Turn{check, edit}, nil, false},
		"a check beside a change":             {[]looptest.Turn{looptest.Calls(edit, check)}, nil, false},
		"a change beside a check":             {[]looptest.Turn{looptest.Calls(check, edit)}, nil, false},
		"a check beside a change and another": {[]looptest.Turn{looptest.Calls(edit, check), check}, nil, true},
		"a check beside something else": {[]looptest.Turn{edit, looptest.Calls(look, check, look)}, nil,
			true},
		"a change that was denied": {[]looptest.Turn{check, edit},
			&permission.DenyTools{Deny: []string{"edit_*"}}, true},
		"a change with unusable arguments": {[]looptest.Turn{check, looptest.Call("edit_file", `{"a":`)}, nil,
			true},
		"a change that failed": {[]looptest.Turn{check, looptest.Call("edit_broken", nil)}, nil,
			false},
		"an answer from a cache":                        {[]looptest.Turn{edit, check}, cached, false},
		"a check whose result a hook rejected":          {[]looptest.Turn{edit, check}, rejecting("test"), false},
		"a failed check whose error a hook has emptied": {[]looptest.Turn{looptest.Call("broken", nil)}, emptying{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tool := "test"
			if name == "a failed check whose error a hook has emptied" {
				tool = "broken"
			}
			hooks := []agent.Hook{&answer.Gate{Conditions: []answer.Condition{answer.RequireTool(tool, "edit_*")},
				MaxRejections: 1}}
			if c.hook != nil {
				hooks = append(hooks, c.hook)
			}
			ran := looptest.Harness{
				Turns: append(c.turns, looptest.Reply("done")),
				Tools: []agent.Tool{
					&looptest.Tool{Name: "test"}, &looptest.Tool{Name: "look"}, &looptest.Tool{Name: "edit_file"},
					&looptest.Tool{Name: "edit_broken", Err: errors.New("disk full")},
					&looptest.Tool{Name: "broken", Err: errors.New("red")},
				},
				Hooks: hooks,
			}.Run(t, "go")
			if passed := ran.Stop.Cause == agent.CauseCompleted; passed != c.passes {
				t.Errorf("passed: %t, want %t; it stopped because %+v", passed, c.passes, ran.Stop)
			}
		})
	}
}

// rejecting turns the result of every call into a failure.
func rejecting(tool string) agent.Hook {
	return agent.AfterToolFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome,
		error) {
		if r.Call.Name != tool {
			return nil, nil
		}
		r.Err = "rejected"
		return agent.ReplaceAfterTool(r, "rejected"), nil
	})
}

// emptying removes the error from every result; the loop restores it.
type emptying struct{}

func (emptying) Bind(h *agent.Hooks) { h.AfterTool.Add(emptying{}) }

func (emptying) AfterTool(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	r.Err = ""
	return agent.ReplaceAfterTool(r, "nothing happened"), nil
}

func TestResultFromHookIsNotEvidence(t *testing.T) {
	skip := agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome,
		error) {
		return agent.SkipTool{Result: agent.ToolCallResult{Output: "made up"}}, nil
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("look", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "look"}},
		Hooks: []agent.Hook{&answer.Gate{Conditions: []answer.Condition{answer.MinTools(1)}, MaxRejections: 1}, skip},
	}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseRetryLimit {
		t.Errorf("it stopped because %+v", ran.Stop)
	}
}

func TestPanickingConditionRejects(t *testing.T) {
	broken := gateFunc(func(answer.Attempt) (string, error) { panic("no idea") })
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("1"), looptest.Reply("2"), looptest.Reply("3")},
		Hooks: []agent.Hook{&answer.Gate{Conditions: []answer.Condition{broken}, MaxRejections: 2}},
	}.Run(t, "go")
	if ran.Steps != 2 || ran.Stop.Cause != agent.CauseRetryLimit || ran.Stop.Message != "Rejections reached: 2/2" {
		t.Errorf("after %d steps it stopped because %+v", ran.Steps, ran.Stop)
	}
	if ran.Stop.Detail["rejections"] != 2 || ran.Stop.Detail["maxRejections"] != 2 {
		t.Errorf("the detail is %v", ran.Stop.Detail)
	}
	hook := &answer.Gate{Conditions: []answer.Condition{answer.MinTools(1)}, MaxRejections: 1}
	run := agent.NewRun(nil)
	if _, err := hook.CheckDone(t.Context(), run, agent.DoneRequest{}); err != nil {
		t.Fatal(err)
	}
	if signals, _ := hook.ShouldStop(t.Context(), run, agent.Step{Done: true}); signals != nil {
		t.Errorf("a run that is done is stopped by %v", signals)
	}
}
