package permission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestDenyToolsDecidesByName(t *testing.T) {
	const notAllowed, denied = "deny: tool x is not in the allow list", "deny: tool x is denied by policy"
	for _, c := range []struct {
		name string
		hook *permission.DenyTools
		want string
	}{
		{"denied", &permission.DenyTools{Deny: []string{"y", "x"}}, denied},
		{"not denied", &permission.DenyTools{Deny: []string{"y", "X", "xx"}}, ""},
		{"allowed", &permission.DenyTools{Allow: []string{"x"}}, ""},
		{"not allowed", &permission.DenyTools{Allow: []string{"y"}}, notAllowed},
		{"allowed and denied", &permission.DenyTools{Allow: []string{"x"}, Deny: []string{"x"}}, denied},
		{"neither", &permission.DenyTools{Allow: []string{"y"}, Deny: []string{"x"}}, notAllowed},
		{"an empty allow list denies every call", &permission.DenyTools{Allow: []string{}}, notAllowed},
		{"a star", &permission.DenyTools{Deny: []string{"*"}}, denied},
		{"a custom reason", &permission.DenyTools{Deny: []string{"x"}, Reason: "no shells here"}, "deny: no shells here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := fixture.Vote(t, agent.NewRun(nil), c.hook, agent.ToolCallRequest{Name: "x"})
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	long := fixture.Vote(t, agent.NewRun(nil), &permission.DenyTools{Deny: []string{"*"}},
		agent.ToolCallRequest{Name: strings.Repeat("x", 1<<20)})
	if len(long) > 200 {
		t.Errorf("the reason for a long name has %d bytes", len(long))
	}
}

func TestOtherCallsContinueAfterADenial(t *testing.T) {
	shell, look := &looptest.Tool{Name: "shell"}, &looptest.Tool{Name: "look", Result: "a door"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(looptest.Call("shell", `{"command":"ls"}`), looptest.Call("look", nil)), looptest.Reply("done"),
		},
		Tools: []agent.Tool{shell, look},
		Hooks: []agent.Hook{&permission.DenyTools{Deny: []string{"shell"}}},
	}.Run(t, "go")
	if shell.Count() != 0 || look.Count() != 1 {
		t.Errorf("shell ran %d times, look %d times", shell.Count(), look.Count())
	}
	messages := ran.Script.Requests()[1].Messages
	answers := messages[len(messages)-2:]
	if !answers[0].IsError || !strings.Contains(answers[0].Content, "tool shell is denied by policy") ||
		answers[1].Content != "a door" {
		t.Errorf("the model received %+v", answers)
	}
	if c := ran.Calls[0]; c.OK() || c.Status != agent.CallRefused || c.Reason != "tool shell is denied by policy" ||
		!c.NoRetry {
		t.Errorf("the call is recorded as %+v", c)
	}
	denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
	if len(denials) != 1 || denials[0].Kind != agent.DeniedByVote || denials[0].By != "permission.DenyTools" ||
		denials[0].Reason != "tool shell is denied by policy" {
		t.Errorf("the denial is recorded as %+v", denials)
	}
	ran.Recorder.Decided(t, "OnPermission", "permission.DenyTools", "Deny", "tool shell is denied by policy")
}

func TestACachedResultCannotBypassADenial(t *testing.T) {
	cache := agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome,
		error) {
		return agent.SkipTool{Result: agent.ToolCallResult{Output: "the secret"}, Reason: "cached"}, nil
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("shell", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "shell"}},
		Hooks: []agent.Hook{cache, &permission.DenyTools{Deny: []string{"shell"}}},
	}.Run(t, "go")
	if c := ran.Calls[0]; c.OK() || c.Output != "" || c.Kind != agent.FailDenied {
		t.Errorf("the call is recorded as %+v", c)
	}
}

func TestInvalidDenyToolsPanicInUse(t *testing.T) {
	for _, c := range []struct {
		hook *permission.DenyTools
		want string
	}{
		{&permission.DenyTools{}, "neither an Allow nor a Deny list"},
		{&permission.DenyTools{Deny: []string{""}}, "Deny[0] is empty"},
		{&permission.DenyTools{Allow: []string{"a", ""}}, "Allow[1] is empty"},
	} {
		t.Run(c.want, func(t *testing.T) {
			got := fixture.UsePanic(c.hook)
			if !strings.Contains(got, "permission.DenyTools: ") || !strings.Contains(got, c.want) {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
	var hooks agent.Hooks
	hooks.Use(&permission.DenyTools{Deny: []string{"a"}})
	if list := hooks.OnPermission.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

func ExampleDenyTools() {
	var hooks agent.Hooks
	hooks.Use(&permission.DenyTools{Deny: []string{"bash", "shell_*"}})

	for _, tool := range []string{"read_file", "shell_exec"} {
		exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), agent.ToolCallRequest{Name: tool})
		fmt.Println(exit, err)
	}
	// Output:
	// <nil> <nil>
	// {tool shell_exec is denied by policy} <nil>
}
