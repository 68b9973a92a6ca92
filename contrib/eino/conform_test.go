package eino_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/hookgen/hookgen/contrib/eino"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A queue is a model of eino that replies with each of replies, and then no more.
type queue struct {
	model.ToolCallingChatModel
	replies chan agent.LLMResponse
}

func (q queue) Generate(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	select {
	case r := <-q.replies:
		m := schema.AssistantMessage(r.Content, nil)
		m.ReasoningContent = r.Reasoning
		for _, c := range r.ToolCalls {
			m.ToolCalls = append(m.ToolCalls, schema.ToolCall{
				ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: string(c.Args)},
			})
		}
		m.ResponseMeta = &schema.ResponseMeta{FinishReason: r.FinishReason, Usage: &schema.TokenUsage{
			PromptTokens: r.Usage.Input, CompletionTokens: r.Usage.Output,
			PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: r.Usage.CacheRead},
		}}
		return m, ctx.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A called is a model that calls one of eino inside a run. The hooks see the reply that it returns.
type called struct {
	inner queue
}

func (c called) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return c.call(ctx, req, func(ctx context.Context, m model.ToolCallingChatModel, in []*schema.Message) error {
		_, err := m.Generate(ctx, in)
		return err
	})
}

func (c called) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return c.call(ctx, req, func(ctx context.Context, m model.ToolCallingChatModel, in []*schema.Message) error {
		stream, err := m.Stream(ctx, in)
		if err != nil {
			return err
		}
		defer stream.Close()
		for {
			chunk, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			emit(agent.Delta{Content: chunk.Content, Reasoning: chunk.ReasoningContent})
			for i, call := range chunk.ToolCalls {
				emit(agent.Delta{ToolCall: &agent.ToolCallDelta{
					Index: i, ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments,
				}})
			}
		}
	})
}

func (c called) call(ctx context.Context, req agent.LLMRequest, act func(
	ctx context.Context, m model.ToolCallingChatModel, in []*schema.Message,
) error) (reply agent.LLMResponse, err error) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.AfterLLM.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.AfterLLMFired[agent.LLMResponse]) {
		reply = f.Payload
	})
	_, err = h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		var in []*schema.Message
		for _, m := range req.Messages {
			in = append(in, &schema.Message{Role: schema.RoleType(m.Role), Content: m.Content, ToolCallID: m.ToolCallID})
		}
		return "", act(ctx, eino.Model(h, c.inner), in)
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

// A hosted is a tool that calls one of eino inside a run.
type hosted struct{}

func (hosted) Schema() agent.ToolSchema {
	return agent.ToolSchema{Name: "delete", Parameters: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
}

func (hosted) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	inner := text{"delete", func(_ context.Context, args string) (string, error) {
		var f file
		err := json.Unmarshal([]byte(args), &f)
		return "deleted " + f.Name, err
	}}
	result, err := h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		return eino.Tools(h, inner)[0].(tool.InvokableTool).InvokableRun(ctx, string(call.Args))
	})
	return result.Reply, err
}

func TestToolsConform(t *testing.T) {
	looptest.CheckTool(t, func() agent.Tool { return hosted{} }, `{"name":"a.txt"}`)
}
