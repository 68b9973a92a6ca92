package permission_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// approver calls a function to answer questions, and records the questions.
type approver struct {
	answer func(ctx context.Context) (agent.Approval, error)

	mu    sync.Mutex
	asked []agent.Question
}

func (a *approver) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	a.mu.Lock()
	a.asked = append(a.asked, q)
	a.mu.Unlock()
	return a.answer(ctx)
}

// questions returns the questions that the approver has received.
func (a *approver) questions() []agent.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func TestConfirmAsksAboutNamedTools(t *testing.T) {
	allow := func(context.Context) (agent.Approval, error) { return agent.Approval{Allow: true}, nil }
	for _, c := range []struct {
		name   string
		answer func(ctx context.Context) (agent.Approval, error)
		ran    int
		kind   agent.DenialKind
		reason string
	}{
		{"approved", allow, 1, "", ""},
		{"declined", func(context.Context) (agent.Approval, error) {
			return agent.Approval{Reason: "not today"}, nil
		}, 0, agent.DeniedByPerson, "not today"},
		{"the approver fails", func(context.Context) (agent.Approval, error) {
			return agent.Approval{Allow: true}, errors.New("no terminal")
		}, 0, agent.DeniedByApprover, "no terminal"},
		{"the approver panics", func(context.Context) (agent.Approval, error) {
			panic("boom")
		}, 0, agent.DeniedByApprover, "boom"},
		{"the approver is too slow", func(ctx context.Context) (agent.Approval, error) {
			<-ctx.Done()
			return agent.Approval{Allow: true}, nil
		}, 0, agent.DeniedBySilence, "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				remove, look := &looptest.Tool{Name: "remove"}, &looptest.Tool{Name: "look"}
				person := &approver{answer: c.answer}
				ran := looptest.Harness{
					Turns: []looptest.Turn{looptest.Calls(looptest.Call("remove", `{"path":"/tmp/x"}`), looptest.Call("look", nil)),
						looptest.Reply("done")},
					Tools: []agent.Tool{remove, look},
					Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"remove"}}},
					Agent: &loop.Agent{Approver: person},
				}.Run(t, "clean up")
				if remove.Count() != c.ran || look.Count() != 1 || ran.Reply != "done" {
					t.Errorf("remove ran %d times, look %d times, want %d and 1; reply %q", remove.Count(), look.Count(), c.ran,
						ran.Reply)
				}
				asked := person.questions()
				if len(asked) != 1 || asked[0].Call.Name != "remove" {
					t.Fatalf("the person was asked %+v, want once about remove", asked)
				}
				if got := asked[0].Prompt; got != "Run remove with these arguments?\n  path: /tmp/x" {
					t.Errorf("the person saw %q", got)
				}
				denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
				if c.ran == 1 {
					if len(denials) != 0 || !ran.Calls[0].OK() {
						t.Errorf("the confirmed call was denied: %+v", denials)
					}
					return
				}
				if len(denials) != 1 || denials[0].Kind != c.kind || !strings.Contains(denials[0].Reason, c.reason) {
					t.Errorf("the denial is %+v, want %s because %s", denials, c.kind, c.reason)
				}
				if got := ran.Calls[0]; got.Status != agent.CallRefused || got.OK() || !strings.Contains(got.Err, c.reason) {
					t.Errorf("the declined call is recorded as %+v", got)
				}
			})
		})
	}
}

func TestConfirmDeniesWithoutAnApprover(t *testing.T) {
	remove := &looptest.Tool{Name: "remove"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("remove", nil), looptest.Reply("done")},
		Tools: []agent.Tool{remove},
		Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"*"}}},
	}.Run(t, "clean up")
	if remove.Count() != 0 || ran.Calls[0].Kind != agent.FailDenied {
		t.Errorf("the tool ran %d times: %+v", remove.Count(), ran.Calls[0])
	}
}

func TestConfirmShowsTheRewrittenCall(t *testing.T) {
	rewrite := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run,
		call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		call.Args = []byte(`{"path":"/etc"}`)
		return agent.ReplaceBeforeTool(call, ""), nil
	})
	person := &approver{answer: func(context.Context) (agent.Approval, error) { return agent.Approval{}, nil }}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("remove", `{"path":"/tmp"}`), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "remove"}},
		Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"remove"}}, rewrite},
		Agent: &loop.Agent{Approver: person},
	}.Run(t, "clean up")
	if asked := person.questions(); len(asked) != 1 || !strings.Contains(asked[0].Prompt, "path: /etc") {
		t.Errorf("the person was asked %+v", asked)
	}
}

func TestConfirmSkipsDeniedCalls(t *testing.T) {
	deny := agent.OnPermissionFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome,
		error) {
		return agent.Deny{Reason: "never"}, nil
	})
	person := &approver{answer: func(context.Context) (agent.Approval, error) { return agent.Approval{Allow: true}, nil }}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("remove", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "remove"}},
		Hooks: []agent.Hook{&permission.Confirm{Tools: []string{"remove"}}, deny},
		Agent: &loop.Agent{Approver: person},
	}.Run(t, "clean up")
	if asked := person.questions(); len(asked) != 0 || ran.Calls[0].Reason != "never" {
		t.Errorf("the person was asked %+v; the call: %+v", asked, ran.Calls[0])
	}
}

func TestConfirmNeedsTools(t *testing.T) {
	if got := fixture.UsePanic(&permission.Confirm{}); !strings.Contains(got, "permission.Confirm: Tools is empty") {
		t.Errorf("without tools: %q", got)
	}
	if got := fixture.UsePanic(&permission.Confirm{Tools: []string{"a", ""}}); !strings.Contains(got,
		"Tools[1] is empty") {
		t.Errorf("with an empty name: %q", got)
	}
	var hooks agent.Hooks
	hooks.Use(&permission.Confirm{Tools: []string{"a"}})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

func TestAQuestionHasTheChoicesOfItsTool(t *testing.T) {
	rules, err := permission.ParseRules("rules.json", []byte(`[
		{"tool": "refund", "decision": "ask", "choices": ["allow", "deny"]}, {"tool": "*", "decision": "ask"}]`))
	if err != nil {
		t.Fatal(err)
	}
	for name, hook := range map[string]agent.Hook{
		"Rules":   &permission.Rules{List: rules},
		"Confirm": &permission.Confirm{Tools: []string{"refund"}, Choices: rules[0].Choices},
	} {
		person := &approver{answer: func(context.Context) (agent.Approval, error) {
			return agent.Approval{Allow: true, Output: "done by hand"}, nil
		}}
		ran := looptest.Harness{
			Agent: &loop.Agent{Approver: person}, Hooks: []agent.Hook{hook},
			Tools: []agent.Tool{&looptest.Tool{Name: "refund"}},
			Turns: []looptest.Turn{looptest.Call("refund", nil), looptest.Reply("ok")},
		}.Run(t, "x")
		if err := ran.Calls[0].Err; !strings.Contains(err, `it takes ["allow" "deny"]`) {
			t.Errorf("%s: the model reads %q", name, err)
		}
	}
	got := fixture.UsePanic(&permission.Confirm{Tools: []string{"a"}, Choices: []agent.Choice{"alow"}})
	if !strings.Contains(got, `Choices: there is no choice "alow"`) {
		t.Errorf("panicked with %q", got)
	}
}
