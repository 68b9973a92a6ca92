package agent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A guard is a hook of two points.
type guard struct{ denied []string }

func (g *guard) Bind(h *agent.Hooks) {
	h.OnPermission.Add(g, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Add(g)
}

func (g *guard) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (
	agent.OnPermissionOutcome, error,
) {
	for _, name := range g.denied {
		if call.Name == name {
			return agent.Deny{Reason: name + " is denied"}, nil
		}
	}
	return nil, nil // no vote
}

func (g *guard) AfterTool(_ context.Context, _ *agent.Run, result agent.ToolCallResult) (
	agent.AfterToolOutcome, error,
) {
	result.Warnings = append(result.Warnings, "checked")
	return agent.ReplaceAfterTool(result, "a note for the model"), nil
}

// A hook is a type with a Bind method. A program with a loop of its own fires the points, and handles each decision.
func Example() {
	var hooks agent.Hooks
	hooks.Use(&guard{denied: []string{"shell"}})
	run := agent.NewRun(&agent.Env{})
	for _, name := range []string{"search", "shell"} {
		exit, by, err := hooks.OnPermission.FireBy(context.Background(), run, agent.ToolCallRequest{Name: name})
		if err != nil {
			fmt.Println("a guard failed, so the call is denied:", err)
			continue
		}
		fmt.Println(name, agent.MatchOnPermission(exit,
			func() string { return "runs: no hook voted" },
			func(d agent.Deny) string { return "is denied by " + by.Hook + ": " + d.Reason },
			func(a agent.Ask) string { return "needs a person: " + a.Reason },
			func(agent.Allow) string { return "is allowed" },
		))
	}
	// Output:
	// search runs: no hook voted
	// shell is denied by agent_test.guard: shell is denied
}

// A hook of AfterTool may replace the result.
func ExampleAfterToolPoint_Fire() {
	var hooks agent.Hooks
	hooks.Use(new(guard))
	result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "search"}, Output: "nothing"}
	_, err := hooks.AfterTool.Fire(context.Background(), agent.NewRun(&agent.Env{}), &result)
	fmt.Println(result.Output, result.Warnings, err)
	// Output: nothing [checked] <nil>
}

// A failing hook of a point that is FailClosed refuses the act: the fire returns the error.
func ExampleOnPermissionPoint_AddFunc() {
	down := errors.New("the policy server is down")
	var hooks agent.Hooks
	hooks.OnPermission.AddFunc(
		func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			return nil, down
		})
	_, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(&agent.Env{}), agent.ToolCallRequest{})
	fmt.Println(errors.Is(err, down))
	// Output: true
}
