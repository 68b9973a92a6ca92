package langchaingo_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/tools"

	"github.com/hookgen/hookgen/contrib/langchaingo"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// keepFiles denies every call of the tool delete.
type keepFiles struct{}

func (keepFiles) Bind(h *agent.Hooks) { h.OnPermission.Add(keepFiles{}) }

func (keepFiles) OnPermission(
	_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	if call.Name == "delete" {
		return agent.Deny{Reason: "files must stay"}, nil
	}
	return nil, nil
}

// remove is a tool that deletes a file.
type remove struct{}

func (remove) Name() string        { return "delete" }
func (remove) Description() string { return "deletes a file" }

func (remove) Call(_ context.Context, name string) (string, error) { return "deleted " + name, nil }

func Example() {
	host := &adapt.Host{Hooks: new(agent.Hooks)}
	host.Hooks.Use(keepFiles{})
	model := fake.NewFakeLLM([]string{ // a real program has a model here
		"Action: delete\nAction Input: a.txt",
		"Final Answer: I may not delete it.",
	})
	all := langchaingo.Tools(host, tools.Tool(remove{}))
	executor := agents.NewExecutor(agents.NewOneShotAgent(langchaingo.Model(host, model), all))
	result, err := host.Run(context.Background(), adapt.Task{Text: "Delete a.txt."}, func(
		ctx context.Context, task adapt.Task,
	) (string, error) {
		return chains.Run(ctx, executor, task.Text)
	})
	fmt.Println(result.Reply, err)
	fmt.Println(result.Calls[0].Status, result.Calls[0].By, result.Calls[0].Err)
	// Output:
	// I may not delete it. <nil>
	// refused langchaingo_test.keepFiles Permission denied for tool 'delete': files must stay
}
