package langchaingo

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/tmc/langchaingo/llms"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// Model returns a model that fires the hooks around each call of m.
//
// Hooks may change the messages. The tools and the other settings of a request pass as they are, and hooks do not see
// them. A message that the hooks do not change is the original. A changed message has only its text and its calls.
// Hooks see the first choice of a reply, without a call in the deprecated field FuncCall, and a changed reply has only
// that choice. A streaming function gets the chunks before the hooks see the reply.
func Model(h *adapt.Host, m llms.Model) llms.Model { return hooked{h, m} }

type hooked struct {
	host  *adapt.Host
	inner llms.Model
}

// Call calls the model with one prompt.
func (m hooked) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, opts...)
}

// GenerateContent calls the model.
func (m hooked) GenerateContent(
	ctx context.Context, in []llms.MessageContent, opts ...llms.CallOption,
) (*llms.ContentResponse, error) {
	asked := agent.LLMRequest{Messages: adapt.Convert(in, fromChain)}
	return adapt.ModelAs(ctx, m.host, asked, func(ctx context.Context, r agent.LLMRequest) (*llms.ContentResponse, error) {
		return m.inner.GenerateContent(ctx, adapt.Restore(r.Messages, asked.Messages, in, toChain), opts...)
	}, replyOf, responseOf)
}

// The roles whose names differ.
var roles = map[llms.ChatMessageType]agent.Role{
	llms.ChatMessageTypeAI: agent.RoleAssistant, llms.ChatMessageTypeFunction: agent.RoleTool,
	llms.ChatMessageTypeHuman: agent.RoleUser, llms.ChatMessageTypeGeneric: agent.RoleUser,
}

var types = map[agent.Role]llms.ChatMessageType{
	agent.RoleAssistant: llms.ChatMessageTypeAI, agent.RoleUser: llms.ChatMessageTypeHuman,
}

func fromChain(m llms.MessageContent) agent.Message {
	out := agent.Message{Role: cmp.Or(roles[m.Role], agent.Role(m.Role))}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			out.Content += p.Text
		case llms.ToolCall:
			out.ToolCalls = append(out.ToolCalls, fromCall(p))
		case llms.ToolCallResponse:
			out.Content, out.ToolCallID, out.Name = out.Content+p.Content, p.ToolCallID, p.Name
		}
	}
	return out
}

func toChain(m agent.Message) llms.MessageContent {
	out := llms.TextParts(cmp.Or(types[m.Role], llms.ChatMessageType(m.Role)), m.Content)
	if m.Role == agent.RoleTool {
		out.Parts[0] = llms.ToolCallResponse{ToolCallID: m.ToolCallID, Name: m.Name, Content: m.Content}
	}
	for _, c := range m.ToolCalls {
		out.Parts = append(out.Parts, toCall(c))
	}
	return out
}

func fromCall(c llms.ToolCall) agent.ToolCallRequest {
	f := cmp.Or(c.FunctionCall, new(llms.FunctionCall))
	return agent.ToolCallRequest{ID: c.ID, Name: f.Name, Args: json.RawMessage(f.Arguments)}
}

func toCall(c agent.ToolCallRequest) llms.ToolCall {
	f := &llms.FunctionCall{Name: c.Name, Arguments: string(c.Args)}
	return llms.ToolCall{ID: c.ID, Type: "function", FunctionCall: f}
}

func replyOf(r *llms.ContentResponse) agent.LLMResponse {
	c := slices.Concat(r.Choices, []*llms.ContentChoice{{}})[0] // an empty one without choices
	return agent.LLMResponse{
		Content: c.Content, FinishReason: c.StopReason, Reasoning: c.ReasoningContent,
		ToolCalls: adapt.Convert(c.ToolCalls, fromCall), Usage: agent.Usage{
			Input: count(c, "PromptTokens", "InputTokens"), Output: count(c, "CompletionTokens", "OutputTokens"),
		},
	}
}

// count returns a number that the model reported, which has one of several types and names.
func count(c *llms.ContentChoice, names ...string) (n int) {
	for _, name := range names {
		if v := reflect.ValueOf(c.GenerationInfo[name]); v.CanInt() {
			n = int(v.Int())
		}
	}
	return n
}

func responseOf(r agent.LLMResponse) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: r.Content, StopReason: r.FinishReason, ReasoningContent: r.Reasoning,
		ToolCalls: adapt.Convert(r.ToolCalls, toCall),
	}}}
}
