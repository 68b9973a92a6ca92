package eino_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/hookgen/hookgen/contrib/eino"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/adapt/adapttest"
)

// A queue is a model of eino that replies with each of replies, and then no more.
type queue struct {
	model.ToolCallingChatModel
	replies adapttest.Queue
}

func (q queue) Generate(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	r, err := q.replies.Next(ctx)
	if err != nil {
		return nil, err
	}
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
	return m, nil
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
) error) (agent.LLMResponse, error) {
	return adapttest.Seen(ctx, func(ctx context.Context, h *adapt.Host) error {
		var in []*schema.Message
		for _, m := range req.Messages {
			in = append(in, &schema.Message{Role: schema.RoleType(m.Role), Content: m.Content, ToolCallID: m.ToolCallID})
		}
		return act(ctx, eino.Model(h, c.inner), in)
	})
}

func TestModelsConform(t *testing.T) {
	adapttest.CheckModels(t, func(q adapttest.Queue) agent.Model { return called{queue{replies: q}} })
}

func TestToolsConform(t *testing.T) {
	adapttest.CheckTools(t, func(
		ctx context.Context, h *adapt.Host, args string, inner func(context.Context, string) (string, error),
	) (string, error) {
		return eino.Tools(h, text{"delete", inner})[0].(tool.InvokableTool).InvokableRun(ctx, args)
	})
}
