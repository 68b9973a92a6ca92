package eino

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// Model returns a chat model that fires the hooks around each call of m.
//
// Hooks may change the messages and remove tools; other settings of a request pass as they are. A message that the
// hooks do not change is the original. A changed message has only its text, its calls and its reasoning. A streamed
// reply is one chunk, because hooks see a reply as a whole.
func Model(h *adapt.Host, m model.ToolCallingChatModel) model.ToolCallingChatModel {
	return hooked{h, m, nil}
}

type hooked struct {
	host  *adapt.Host
	inner model.ToolCallingChatModel
	tools []*schema.ToolInfo
}

// WithTools returns a model with tools, which fires the hooks as well.
func (m hooked) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	inner, err := m.inner.WithTools(tools)
	return hooked{m.host, inner, tools}, err
}

// IsCallbacksEnabled reports whether the wrapped model calls the callbacks of eino itself.
func (m hooked) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(m.inner) }

// Stream calls the model and returns its reply as one chunk.
func (m hooked) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{out}), err
}

// Generate calls the model.
func (m hooked) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	set := model.GetCommonOptions(&model.Options{Tools: m.tools}, opts...)
	asked := agent.LLMRequest{
		Messages: adapt.Convert(in, fromEino),
		Tools: adapt.Convert(set.Tools, func(t *schema.ToolInfo) agent.ToolSchema {
			return agent.ToolSchema{Name: t.Name, Description: t.Desc}
		}),
	}
	return adapt.ModelAs(ctx, m.host, asked, func(ctx context.Context, req agent.LLMRequest) (*schema.Message, error) {
		passed := opts[:len(opts):len(opts)]
		if len(req.Tools) < len(asked.Tools) {
			offered := adapt.Offered(set.Tools, req, func(t *schema.ToolInfo) string { return t.Name })
			passed = append(passed, model.WithTools(offered))
		}
		return m.inner.Generate(ctx, adapt.Restore(req.Messages, asked.Messages, in, toEino), passed...)
	}, replyOf, func(reply agent.LLMResponse) *schema.Message { return toEino(reply.Message()) })
}

func fromEino(m *schema.Message) agent.Message {
	text := m.Content
	for _, p := range m.UserInputMultiContent {
		text += p.Text
	}
	return agent.Message{
		Role: agent.Role(m.Role), Content: text, Name: m.Name, ToolCallID: m.ToolCallID, Reasoning: m.ReasoningContent,
		ToolCalls: adapt.Convert(m.ToolCalls, func(c schema.ToolCall) agent.ToolCallRequest {
			return agent.ToolCallRequest{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)}
		}),
	}
}

func toEino(m agent.Message) *schema.Message {
	return &schema.Message{
		Role: schema.RoleType(m.Role), Content: m.Content, Name: m.Name, ToolCallID: m.ToolCallID,
		ReasoningContent: m.Reasoning,
		ToolCalls: adapt.Convert(m.ToolCalls, func(c agent.ToolCallRequest) schema.ToolCall {
			function := schema.FunctionCall{Name: c.Name, Arguments: string(c.Args)}
			return schema.ToolCall{ID: c.ID, Type: "function", Function: function}
		}),
	}
}

func replyOf(m *schema.Message) agent.LLMResponse {
	msg := fromEino(m)
	meta := cmp.Or(m.ResponseMeta, new(schema.ResponseMeta))
	u := cmp.Or(meta.Usage, new(schema.TokenUsage))
	return agent.LLMResponse{
		Content: msg.Content, ToolCalls: msg.ToolCalls, Reasoning: msg.Reasoning, FinishReason: meta.FinishReason,
		Usage: agent.Usage{Input: u.PromptTokens, Output: u.CompletionTokens, CacheRead: u.PromptTokenDetails.CachedTokens},
	}
}
