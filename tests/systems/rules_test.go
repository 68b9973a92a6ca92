package systems

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// args is a predicate that is a function of the arguments as text.
func args(f func(string) (bool, error)) permission.Predicate {
	return permission.PredicateFunc(func(call agent.ToolCallRequest) (bool, error) { return f(string(call.Args)) })
}

// clerk is an approver that counts its questions.
type clerk struct {
	says  bool
	err   error
	asked []agent.Question
}

func (p *clerk) Approve(_ context.Context, q agent.Question) (agent.Approval, error) {
	p.asked = append(p.asked, q)
	return agent.Approval{Allow: p.says}, p.err
}

// permitting plays calls of tools with one-letter names under rules.
func permitting(t *testing.T, calls string, approver agent.Approver,
	p *permission.Rules) (*looptest.Ran, []permission.Denied) {
	t.Helper()
	var denied []permission.Denied
	ends := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		denied = p.Denials(run)
		return nil
	})
	ran := looptest.Harness{
		Turns: playing(calls), Tools: letters(), Hooks: all[agent.Hook](p, ends), Agent: &loop.Agent{Approver: approver},
	}.Run(t, "x")
	return ran, denied
}

func TestTheFirstRuleThatMatchesDecides(t *testing.T) {
	one := args(func(text string) (bool, error) { return strings.Contains(text, `"n":1`), nil })
	none := args(func(string) (bool, error) { return false, nil })
	for name, c := range map[string]struct {
		rules    []permission.Rule
		preset   permission.Decision
		statuses string // of calls of a and b
	}{
		"exact name": {all(permission.Rule{Tool: "a", Decision: permission.Deny}), "", "refused succeeded"},
		"star":       {all(permission.Rule{Tool: "*", Decision: permission.Deny}), "", "refused refused"},
		"predicate": {
			all(permission.Rule{Tool: "a", Decision: permission.Deny, Args: one}, permission.Rule{
				Tool:     "b",
				Decision: permission.Deny,
				Args:     none,
			}),
			"",
			"refused succeeded",
		},
		"first match": {
			all(permission.Rule{Tool: "a", Decision: permission.Allow}, permission.Rule{Tool: "*", Decision: permission.Deny}),
			"",
			"succeeded refused",
		},
		"default": {nil, "", "succeeded succeeded"},
		"default deny": {
			all(permission.Rule{Tool: "b", Decision: permission.Allow}),
			permission.Deny,
			"refused succeeded",
		},
		"unknown default": {nil, "perhaps", "refused refused"},
	} {
		ran, denied := permitting(t, "ab", nil, &permission.Rules{List: c.rules, Default: c.preset})
		if got := statuses(ran); got != c.statuses {
			t.Errorf("%s: %s, want %s", name, got, c.statuses)
		}
		if n := strings.Count(c.statuses, "refused"); len(denied) != n || ran.Recorder.Count("OnPermissionDenied") != n {
			t.Errorf("%s: %d denials are recorded, want %d", name, len(denied), n)
		}
	}
	asks := func() *permission.Rules {
		return &permission.Rules{List: all(permission.Rule{Tool: "a", Decision: permission.Ask, Reason: "costs money"})}
	}
	for _, c := range []struct {
		who  *clerk
		want string
	}{
		{&clerk{says: true}, "succeeded"}, {&clerk{}, "refused"}, {&clerk{
			says: true, err: errors.New("gone home"),
		}, "refused"},
	} {
		ran, _ := permitting(t, "a", c.who, asks())
		if got := statuses(ran); got != c.want || len(c.who.asked) != 1 || c.who.asked[0].Reason != "costs money" ||
			c.who.asked[0].Call.Name != "a" {
			t.Errorf("%+v: %s, asked %+v", c.who, got, c.who.asked)
		}
	}
	ran, _ := permitting(t, "a", nil, asks())
	contains(t, ran.Calls[0].Err, "Permission denied for tool 'a': there is nobody to ask")
}

func TestAPredicateThatFailsNeverPermits(t *testing.T) {
	fails := args(func(string) (bool, error) { return true, errBoom })
	panics := args(func(string) (bool, error) { panic("boom") })
	for name, broken := range map[string]permission.Predicate{"error": fails, "panic": panics} {
		for _, c := range []struct {
			rules []permission.Rule
			want  string
		}{
			{all(permission.Rule{Tool: "a", Decision: permission.Deny, Args: broken}), "refused"},
			{
				all(permission.Rule{
					Tool:     "a",
					Decision: permission.Deny,
					Args:     broken,
				}, permission.Rule{Tool: "a", Decision: permission.Allow}),
				"refused",
			},
			{
				all(permission.Rule{
					Tool:     "a",
					Decision: permission.Allow,
					Args:     broken,
				}, permission.Rule{Tool: "a", Decision: permission.Deny}),
				"refused",
			},
			{
				all(permission.Rule{
					Tool:     "a",
					Decision: permission.Allow,
					Args:     broken,
				}, permission.Rule{Tool: "a", Decision: permission.Allow}),
				"succeeded",
			},
			{all(permission.Rule{Tool: "a", Decision: permission.Allow, Args: broken}), "refused"}, // though the default allows
		} {
			if ran, _ := permitting(t, "a", nil, &permission.Rules{List: c.rules}); statuses(ran) != c.want {
				t.Errorf("%s: with the rules %+v the call %s, want %s", name, c.rules, statuses(ran), c.want)
			}
		}
	}
}

func TestADeniedToolHasOneDenial(t *testing.T) {
	tool := &looptest.Tool{Name: "shell", Result: "ran"}
	rule := "shell"
	p := &permission.Rules{List: all(permission.Rule{Tool: rule, Decision: permission.Deny, Reason: "no shell"})}
	var denied []permission.Denied
	ran := looptest.Harness{
		Turns: all(looptest.Call("shell", `{"command":"ls","__theory__":"x"}`), looptest.Call("a", nil),
			looptest.Reply("ok")),
		Tools: append(letters(), tool),
		Hooks: all[agent.Hook](p, agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
			denied = p.Denials(run)
			return nil
		})),
	}.Run(t, "x")
	want := []permission.Denied{{Tool: "shell", Args: map[string]any{"command": "ls"}, Rule: &rule, Reason: "no shell"}}
	if diff := cmp.Diff(want, denied); diff != "" || tool.Count() != 0 || statuses(ran) != "refused succeeded" {
		t.Errorf("the body ran %d times; denials (-want +got):\n%s", tool.Count(), diff)
	}
	if text, err := json.Marshal(denied); err != nil || !strings.Contains(string(text), `"rule":"shell"`) {
		t.Errorf("encoded: %s, %v", text, err)
	}
	told := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
	if len(told) != 1 || told[0].Reason != "no shell" || !ran.Calls[0].NoRetry {
		t.Errorf("told of %+v", told)
	}
	if ran, denied := permitting(t, "ab", nil,
		&permission.Rules{Default: permission.Deny}); statuses(ran) != "refused refused" ||
		!slices.EqualFunc(denied, all("a", "b"), func(d permission.Denied, tool string) bool {
			return d.Tool == tool && d.Rule == nil && d.Reason == "no rule matched"
		}) {
		t.Errorf("unlisted tools under a default of deny: %s, %+v", statuses(ran), denied)
	}
}
