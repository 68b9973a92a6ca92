package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop/looptest"
)

// opinion fires OnPermission on a hook alone and says what it voted.
func opinion(t *testing.T, run *agent.Run, hook agent.Hook, call agent.ToolCallRequest) string {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(hook)
	exit, err := hooks.OnPermission.Fire(t.Context(), run, call)
	if err != nil {
		return "failed: " + err.Error()
	}
	switch x := exit.(type) {
	case nil:
		return ""
	case agent.Deny:
		return "deny: " + x.Reason
	case agent.Ask:
		return "ask: " + x.Reason
	case agent.Allow:
		return "allow: " + x.Reason
	}
	return fmt.Sprintf("%T", exit)
}

func TestDenyToolsJudgesByTheName(t *testing.T) {
	const notAllowed, denied = "deny: tool x is not in the allow list", "deny: tool x is denied by policy"
	for _, c := range []struct {
		name string
		hook *builtin.DenyTools
		want string
	}{
		{"denied", &builtin.DenyTools{Deny: []string{"y", "x"}}, denied},
		{"not denied", &builtin.DenyTools{Deny: []string{"y", "X", "xx"}}, ""},
		{"allowed", &builtin.DenyTools{Allow: []string{"x"}}, ""},
		{"not allowed", &builtin.DenyTools{Allow: []string{"y"}}, notAllowed},
		{"allowed and denied", &builtin.DenyTools{Allow: []string{"x"}, Deny: []string{"x"}}, denied},
		{"neither", &builtin.DenyTools{Allow: []string{"y"}, Deny: []string{"x"}}, notAllowed},
		{"an empty allow list denies every call", &builtin.DenyTools{Allow: []string{}}, notAllowed},
		{"a star", &builtin.DenyTools{Deny: []string{"*"}}, denied},
		{"a reason of one's own", &builtin.DenyTools{Deny: []string{"x"}, Reason: "no shells here"}, "deny: no shells here"},
	} {
		if got := opinion(t, agent.NewRun(nil), c.hook, agent.ToolCallRequest{Name: "x"}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	long := opinion(t, agent.NewRun(nil), &builtin.DenyTools{Deny: []string{"*"}}, agent.ToolCallRequest{Name: strings.Repeat("x", 1<<20)})
	if len(long) > 200 {
		t.Errorf("a long name makes a reason of %d bytes", len(long))
	}
}

func TestADeniedCallIsAnsweredAndTheOthersGoOn(t *testing.T) {
	shell, look := &looptest.Tool{Name: "shell"}, &looptest.Tool{Name: "look", Result: "a door"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("shell", `{"command":"ls"}`), looptest.Call("look", nil)), looptest.Reply("done"),
		},
		Tools: []agent.Tool{shell, look},
		Hooks: []agent.Hook{&builtin.DenyTools{Deny: []string{"shell"}}},
	}.Run(t, "go")
	if shell.Count() != 0 || look.Count() != 1 {
		t.Errorf("shell ran %d times, look %d times", shell.Count(), look.Count())
	}
	messages := ran.Script.Requests()[1].Messages
	answers := messages[len(messages)-2:]
	if !answers[0].IsError || !strings.Contains(answers[0].Content, "tool shell is denied by policy") || answers[1].Content != "a door" {
		t.Errorf("the model was told %+v", answers)
	}
	if c := ran.Calls[0]; c.OK() || c.Status != agent.CallRefused || c.Reason != "tool shell is denied by policy" || !c.NoRetry {
		t.Errorf("the call is recorded as %+v", c)
	}
	denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
	if len(denials) != 1 || denials[0].Kind != agent.DeniedByVote || denials[0].By != "builtin.DenyTools" || denials[0].Reason != "tool shell is denied by policy" {
		t.Errorf("the denial is recorded as %+v", denials)
	}
	ran.Recorder.Decided(t, "OnPermission", "builtin.DenyTools", "Deny", "tool shell is denied by policy")
}

func TestACachedResultDoesNotGetPastADenial(t *testing.T) {
	cache := agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.SkipTool{Result: agent.ToolCallResult{Output: "the secret"}, Reason: "cached"}, nil
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("shell", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "shell"}},
		Hooks: []agent.Hook{cache, &builtin.DenyTools{Deny: []string{"shell"}}},
	}.Run(t, "go")
	if c := ran.Calls[0]; c.OK() || c.Output != "" || c.Kind != agent.FailDenied {
		t.Errorf("the call is recorded as %+v", c)
	}
}

func TestDenyToolsRefusesWhatCannotWork(t *testing.T) {
	for _, c := range []struct {
		hook *builtin.DenyTools
		want string
	}{
		{&builtin.DenyTools{}, "neither an Allow nor a Deny list"},
		{&builtin.DenyTools{Deny: []string{""}}, "Deny[0] is empty"},
		{&builtin.DenyTools{Allow: []string{"a", ""}}, "Allow[1] is empty"},
	} {
		if got := refusal(c.hook); !strings.Contains(got, "builtin: DenyTools: ") || !strings.Contains(got, c.want) {
			t.Errorf("refused with %q, want %q", got, c.want)
		}
	}
	var hooks agent.Hooks
	hooks.Use(&builtin.DenyTools{Deny: []string{"a"}})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("it is bound as %+v", list)
	}
}

func ExampleDenyTools() {
	var hooks agent.Hooks
	hooks.Use(&builtin.DenyTools{Deny: []string{"bash", "shell_*"}})

	for _, tool := range []string{"read_file", "shell_exec"} {
		exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), agent.ToolCallRequest{Name: tool})
		fmt.Println(exit, err)
	}
	// Output:
	// <nil> <nil>
	// {tool shell_exec is denied by policy} <nil>
}
