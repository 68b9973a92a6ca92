package systems

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// args returns a predicate over the arguments as text.
func args(f func(string) (bool, error)) builtin.Predicate {
	return builtin.PredicateFunc(func(call agent.ToolCallRequest) (bool, error) { return f(string(call.Args)) })
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
func permitting(
	t *testing.T, calls string, approver agent.Approver, p *builtin.Permissions,
) (*looptest.Ran, []builtin.Denied) {
	t.Helper()
	var denied []builtin.Denied
	ends := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		denied = p.Denials(run)
		return nil
	})
	ran := looptest.Harness{
		Turns: playing(calls), Tools: letters(), Hooks: all[agent.Hook](p, ends), Agent: &loop.Agent{Approver: approver},
	}.Run(t, "x")
	return ran, denied
}

func TestL20_TheFirstRuleThatMatchesDecides(t *testing.T) {
	one := args(func(text string) (bool, error) { return strings.Contains(text, `"n":1`), nil })
	none := args(func(string) (bool, error) { return false, nil })
	for name, c := range map[string]struct {
		rules    []builtin.Rule
		preset   builtin.Decision
		statuses string // of calls of a and b
	}{
		"exact name": {all(builtin.Rule{Tool: "a", Decision: builtin.DecideDeny}), "", "refused succeeded"},
		"star":       {all(builtin.Rule{Tool: "*", Decision: builtin.DecideDeny}), "", "refused refused"},
		"predicate": {
			all(builtin.Rule{Tool: "a", Decision: builtin.DecideDeny, Args: one}, builtin.Rule{
				Tool: "b", Decision: builtin.DecideDeny, Args: none,
			}), "", "refused succeeded",
		},
		"first match": {
			all(builtin.Rule{Tool: "a", Decision: builtin.DecideAllow}, builtin.Rule{Tool: "*", Decision: builtin.DecideDeny}),
			"", "succeeded refused",
		},
		"default": {nil, "", "succeeded succeeded"},
		"default deny": {
			all(builtin.Rule{Tool: "b", Decision: builtin.DecideAllow}), builtin.DecideDeny, "refused succeeded",
		},
		"unknown default": {nil, "perhaps", "refused refused"},
	} {
		ran, denied := permitting(t, "ab", nil, &builtin.Permissions{Rules: c.rules, Default: c.preset})
		if got := statuses(ran); got != c.statuses {
			t.Errorf("%s: %s, want %s", name, got, c.statuses)
		}
		if n := strings.Count(c.statuses, "refused"); len(denied) != n || ran.Recorder.Count("OnPermissionDenied") != n {
			t.Errorf("%s: %d denials are recorded, want %d", name, len(denied), n)
		}
	}
	asks := func() *builtin.Permissions {
		return &builtin.Permissions{Rules: all(builtin.Rule{Tool: "a", Decision: builtin.DecideAsk, Reason: "costs money"})}
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

func TestL21_APredicateThatFailsNeverPermits(t *testing.T) {
	fails := args(func(string) (bool, error) { return true, errBoom })
	panics := args(func(string) (bool, error) { panic("boom") })
	for name, broken := range map[string]builtin.Predicate{"error": fails, "panic": panics} {
		for _, c := range []struct {
			rules []builtin.Rule
			want  string
		}{
			{all(builtin.Rule{Tool: "a", Decision: builtin.DecideDeny, Args: broken}), "refused"},
			{all(builtin.Rule{Tool: "a", Decision: builtin.DecideDeny, Args: broken}, builtin.Rule{
				Tool: "a", Decision: builtin.DecideAllow,
			}), "refused"},
			// The default allows.
			{all(builtin.Rule{Tool: "a", Decision: builtin.DecideAllow, Args: broken}, builtin.Rule{
				Tool: "a", Decision: builtin.DecideDeny,
			}), "refused"},
			// The default allows.
			{all(builtin.Rule{Tool: "a", Decision: builtin.DecideAllow, Args: broken}, builtin.Rule{
				Tool: "a", Decision: builtin.DecideAllow,
			}), "succeeded"},
			// The default allows.
			{all(builtin.Rule{Tool: "a", Decision: builtin.DecideAllow, Args: broken}), "refused"},
		} {
			if ran, _ := permitting(t, "a", nil, &builtin.Permissions{Rules: c.rules}); statuses(ran) != c.want {
				t.Errorf("%s: with the rules %+v the call %s, want %s", name, c.rules, statuses(ran), c.want)
			}
		}
	}
}

func TestL22_ADeniedToolHasOneDenial(t *testing.T) {
	tool := &looptest.Tool{Name: "shell", Result: "ran"}
	rule := "shell"
	p := &builtin.Permissions{Rules: all(builtin.Rule{Tool: rule, Decision: builtin.DecideDeny, Reason: "no shell"})}
	var denied []builtin.Denied
	ran := looptest.Harness{Turns: all(looptest.Call("shell", `{"command":"ls","__theory__":"x"}`),
		looptest.Call("a", nil), looptest.Reply("ok")),
		Tools: append(letters(), tool), Hooks: all[agent.Hook](p, agent.OnRunEndFunc(func(
			_ context.Context, run *agent.Run, _ agent.AgentResult,
		) error {
			denied = p.Denials(run)
			return nil
		}))}.Run(t, "x")
	want := []builtin.Denied{{Tool: "shell", Args: map[string]any{"command": "ls"}, Rule: &rule, Reason: "no shell"}}
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
		&builtin.Permissions{Default: builtin.DecideDeny}); statuses(ran) != "refused refused" ||
		!slices.EqualFunc(denied, all("a", "b"), func(d builtin.Denied, tool string) bool {
			return d.Tool == tool && d.Rule == nil && d.Reason == "no rule matched"
		}) {
		t.Errorf("unlisted tools under a default of deny: %s, %+v", statuses(ran), denied)
	}
}
