package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/hookgen/hookgen/contrib/eino"
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

type file struct {
	Name string `json:"name"`
}

func Example() {
	ctx := context.Background()
	host := &adapt.Host{Hooks: new(agent.Hooks)}
	host.Hooks.Use(keepFiles{})
	remove, err := utils.InferTool("delete", "deletes a file", func(_ context.Context, f file) (string, error) {
		return "deleted " + f.Name, nil
	})
	if err != nil {
		panic(err)
	}
	a, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: eino.Model(host, script{}),
		ToolsConfig:      compose.ToolsNodeConfig{Tools: eino.Tools(host, remove)},
	})
	if err != nil {
		panic(err)
	}
	result, err := host.Run(ctx, adapt.Task{Text: "Delete a.txt."}, func(
		ctx context.Context, task adapt.Task,
	) (string, error) {
		reply, err := a.Generate(ctx, []*schema.Message{schema.UserMessage(task.Text)})
		if err != nil {
			return "", err
		}
		return reply.Content, nil
	})
	fmt.Println(result.Reply, err)
	fmt.Println(result.Calls[0].Status, result.Calls[0].By)
	// Output:
	// I could not do it: error: Permission denied for tool 'delete': files must stay <nil>
	// refused eino_test.keepFiles
}

// script plays a model. A real program has a model of eino-ext here.
type script struct{}

func (s script) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	if last := in[len(in)-1]; last.Role == schema.Tool {
		return schema.AssistantMessage("I could not do it: "+last.Content, nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{
		{ID: "c1", Type: "function", Function: schema.FunctionCall{Name: "delete", Arguments: `{"name":"a.txt"}`}},
	}), nil
}

func (s script) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s script) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }
