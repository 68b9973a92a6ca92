package langchaingo_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/hookgen/hookgen/contrib/langchaingo"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A queue is a model of langchaingo that replies with each of replies, and then no more.
type queue struct {
	llms.Model
	replies chan agent.LLMResponse
}

func (q queue) GenerateContent(
	ctx context.Context, _ []llms.MessageContent, _ ...llms.CallOption,
) (*llms.ContentResponse, error) {
	select {
	case r := <-q.replies:
		c := &llms.ContentChoice{
			Content: r.Content, StopReason: r.FinishReason, ReasoningContent: r.Reasoning,
			GenerationInfo: map[string]any{"PromptTokens": r.Usage.Input, "CompletionTokens": r.Usage.Output},
		}
		for _, call := range r.ToolCalls {
			c.ToolCalls = append(c.ToolCalls, llms.ToolCall{
				ID: call.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: string(call.Args)},
			})
		}
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, ctx.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A called is a model that calls one of langchaingo inside a run. It returns the reply that the hooks see.
type called struct{ inner queue }

func (c called) Generate(ctx context.Context, req agent.LLMRequest) (reply agent.LLMResponse, err error) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.AfterLLM.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.AfterLLMFired[agent.LLMResponse]) {
		reply = f.Payload
	})
	_, err = h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		var in []llms.MessageContent
		for _, m := range req.Messages {
			in = append(in, llms.TextParts(llms.ChatMessageType(m.Role), m.Content))
		}
		_, err := langchaingo.Model(h, c.inner).GenerateContent(ctx, in)
		return "", err
	})
	return reply, err
}

func TestModelsConform(t *testing.T) {
	looptest.CheckModel(t, func(_ testing.TB, replies ...agent.LLMResponse) agent.Model {
		q := queue{replies: make(chan agent.LLMResponse, len(replies))}
		for _, r := range replies {
			q.replies <- r
		}
		return called{q}
	})
}

// A hosted is a tool that calls one of langchaingo inside a run.
type hosted struct{}

func (hosted) Schema() agent.ToolSchema {
	return agent.ToolSchema{Name: "delete", Parameters: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
}

func (hosted) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	inner := named{"delete", func(_ context.Context, input string) (string, error) {
		var args struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal([]byte(input), &args)
		return "deleted " + args.Name, err
	}}
	result, err := h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		return langchaingo.Tools(h, inner)[0].Call(ctx, string(call.Args))
	})
	return result.Reply, err
}

func TestToolsConform(t *testing.T) {
	looptest.CheckTool(t, func() agent.Tool { return hosted{} }, `{"name":"a.txt"}`)
}
