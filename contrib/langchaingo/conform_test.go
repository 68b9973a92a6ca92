package langchaingo_test

import (
	"context"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/hookgen/hookgen/contrib/langchaingo"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/adapt/adapttest"
)

// A queue is a model of langchaingo that replies with each of replies, and then no more.
type queue struct {
	llms.Model
	replies adapttest.Queue
}

func (q queue) GenerateContent(
	ctx context.Context, _ []llms.MessageContent, _ ...llms.CallOption,
) (*llms.ContentResponse, error) {
	r, err := q.replies.Next(ctx)
	if err != nil {
		return nil, err
	}
	c := &llms.ContentChoice{
		Content: r.Content, StopReason: r.FinishReason, ReasoningContent: r.Reasoning,
		GenerationInfo: map[string]any{"PromptTokens": r.Usage.Input, "CompletionTokens": r.Usage.Output},
	}
	for _, call := range r.ToolCalls {
		c.ToolCalls = append(c.ToolCalls, llms.ToolCall{
			ID: call.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: string(call.Args)},
		})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}, nil
}

// A called is a model that calls one of langchaingo inside a run. It returns the reply that the hooks see.
type called struct{ inner queue }

func (c called) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return adapttest.Seen(ctx, func(ctx context.Context, h *adapt.Host) error {
		var in []llms.MessageContent
		for _, m := range req.Messages {
			in = append(in, llms.TextParts(llms.ChatMessageType(m.Role), m.Content))
		}
		_, err := langchaingo.Model(h, c.inner).GenerateContent(ctx, in)
		return err
	})
}

func TestModelsConform(t *testing.T) {
	adapttest.CheckModels(t, func(q adapttest.Queue) agent.Model { return called{queue{replies: q}} })
}

func TestToolsConform(t *testing.T) {
	adapttest.CheckTools(t, func(
		ctx context.Context, h *adapt.Host, args string, inner func(context.Context, string) (string, error),
	) (string, error) {
		return langchaingo.Tools(h, named{"delete", inner})[0].Call(ctx, args)
	})
}
