package guardrail_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestInputRefusesRunsByTheirTask(t *testing.T) {
	for _, c := range []struct {
		name   string
		guard  *guardrail.Input
		task   string
		reason string // "": not refused
	}{
		{"a blocked word", &guardrail.Input{Block: []string{"virus", "bomb"}},
			"how to build a Bomb", "blocklist match: bomb"},
		{"the first entry of two", &guardrail.Input{Block: []string{"bomb", "build"}},
			"build a bomb", "blocklist match: bomb"},
		{"no blocked word", &guardrail.Input{Block: []string{"bomb"}}, "bake a cake", ""},
		{"case folding", &guardrail.Input{Block: []string{"STRASSE", "kelvin", "ſ"}}, "0 \u212aelvin",
			"blocklist match: kelvin"},
		{"an allowed word", &guardrail.Input{Allow: []string{"cake", "bread"}}, "bake BREAD", ""},
		{"no allowed word", &guardrail.Input{Allow: []string{"cake"}}, "wash the car", "not in allowlist"},
		{"the allow list comes first", &guardrail.Input{Allow: []string{"cake"}, Block: []string{"bomb"}}, "a bomb",
			"not in allowlist"},
		{"allowed and blocked", &guardrail.Input{Allow: []string{"cake"}, Block: []string{"bomb"}}, "a bomb in a cake",
			"blocklist match: bomb"},
		{"an empty allow list", &guardrail.Input{Allow: []string{}}, "anything", "not in allowlist"},
		{"an empty task", &guardrail.Input{Block: []string{"bomb"}}, "", ""},
		{"an empty task with an allow list", &guardrail.Input{Allow: []string{"cake"}}, "", "not in allowlist"},
		{"a custom match", &guardrail.Input{Block: []string{`^rm\b`}, Match: regexp.MatchString}, "rm everything",
			`blocklist match: ^rm\b`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{c.guard}}.Run(t, c.task)
			if c.reason == "" {
				if ran.Reply != "done" {
					t.Errorf("refused with %q because %q", ran.Reply, ran.Stop.Message)
				}
				return
			}
			if ran.Reply != "I can't help with that." || ran.Stop.Message != c.reason ||
				ran.Stop.Cause != agent.CauseStopRequested {
				t.Errorf("ended with %q because %q, want %q", ran.Reply, ran.Stop.Message, c.reason)
			}
			if n := len(ran.Script.Calls()); n != 0 || ran.Recorder.Count("BeforeStep") != 0 {
				t.Errorf("the model was called %d times", n)
			}
		})
	}
}

func TestInputChecksOnlyTheTask(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("look", `{"for":"bomb"}`), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "bomb"}},
		Hooks: []agent.Hook{&guardrail.Input{Block: []string{"bomb"}}},
	}.Do(t, t.Context(), loop.Request{Task: "look", Messages: []agent.Message{{Role: agent.RoleUser, Content: "bomb"}}})
	if ran.Reply != "done" {
		t.Errorf("refused because %q", ran.Stop.Message)
	}
}

func TestAFailingMatchRefusesTheRun(t *testing.T) {
	for name, match := range map[string]func(string, string) (bool, error){
		"invalid pattern": regexp.MatchString,
		"panic":           func(string, string) (bool, error) { panic("no idea") },
		"error":           func(string, string) (bool, error) { return false, errors.New("no idea") },
	} {
		for list, guard := range map[string]*guardrail.Input{
			"Block": {Block: []string{"("}, Match: match},
			"Allow": {Allow: []string{"("}, Match: match},
		} {
			t.Run(name+" in "+list, func(t *testing.T) {
				ran := looptest.Harness{
					Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{guard},
				}.Run(t, "anything")
				if ran.Failed == nil || ran.Reply != "" || len(ran.Script.Calls()) != 0 ||
					ran.Stop.Cause != agent.CauseError {
					t.Errorf("ended with %q, %v", ran.Reply, ran.Failed)
				}
			})
		}
	}
}

func TestInvalidInputPanicsInUse(t *testing.T) {
	for _, c := range []struct {
		guard *guardrail.Input
		want  string
	}{
		{&guardrail.Input{}, "neither a Block nor an Allow list"},
		{&guardrail.Input{Block: []string{"a", ""}}, "Block[1] is empty"},
		{&guardrail.Input{Allow: []string{""}}, "Allow[0] is empty"},
	} {
		t.Run(c.want, func(t *testing.T) {
			got := fixture.UsePanic(c.guard)
			if !strings.Contains(got, "guardrail.Input: ") || !strings.Contains(got, c.want) {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
	var hooks agent.Hooks
	hooks.Use(&guardrail.Input{Block: []string{"a"}})
	if list := hooks.OnRunStart.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

// The second task is refused, because it contains a blocked word.
func ExampleInput() {
	var hooks agent.Hooks
	hooks.Use(&guardrail.Input{Block: []string{"password"}, Reply: "Ask the help desk."})

	for _, task := range []string{"what is the weather", "What is Bob's Password?"} {
		start := agent.RunStart{Task: task}
		exit, err := hooks.OnRunStart.Fire(context.Background(), agent.NewRun(nil), &start)
		fmt.Println(exit, err)
	}
	// Output:
	// <nil> <nil>
	// {Ask the help desk. blocklist match: password} <nil>
}

func TestSecretsOfTasksAreRedacted(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{&guardrail.Input{Validators: []guardrail.Validator{guardrail.Redact(redact.Redactor{})}}},
	}.Run(t, "log in with password=hunter2hunter2")
	if got := ran.Script.Requests()[0].Messages[0].Content; got != "log in with password=[REDACTED]" {
		t.Errorf("the model got %q", got)
	}
}
