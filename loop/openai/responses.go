package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// reasoningKey is the key of Extra for the encrypted reasoning of a reply. Chat completions never get it.
const reasoningKey = "responses_reasoning"

// A thought is a piece of encrypted reasoning, and the number of texts and calls of the reply before it.
type thought struct {
	Before int             `json:"before"`
	Item   json.RawMessage `json:"item"`
}

type responsesRequest struct {
	Model           string          `json:"model"`
	Input           []any           `json:"input"`
	Tools           []responsesTool `json:"tools,omitempty"`
	ToolChoice      any             `json:"tool_choice,omitempty"`
	Text            *responsesText  `json:"text,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	Temperature     *float64        `json:"temperature,omitempty"`
	Store           bool            `json:"store"`
	Include         []string        `json:"include"`
	Stream          bool            `json:"stream,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict"` // the default of the API is true, which most schemas do not satisfy
}

type responsesText struct {
	Format any `json:"format"`
}

// An item is a part of the input or the output.
type item struct {
	Type      string `json:"type,omitempty"`
	ID        string `json:"id,omitempty"`
	Role      string `json:"role,omitempty"`
	Content   any    `json:"content,omitempty"` // a string, or a list of pieces
	CallID    string `json:"call_id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"` // a string, or a list of pieces
}

type piece struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
}

// encodeResponses returns the body of a request to the Responses API. The server stores nothing, so the reasoning of
// earlier replies goes with the request, encrypted.
func encodeResponses(req agent.LLMRequest, stream bool) ([]byte, error) {
	out := responsesRequest{
		Model: req.Model, MaxOutputTokens: req.MaxTokens, Temperature: req.Temperature, Stream: stream,
		Input: []any{}, Include: []string{"reasoning.encrypted_content"},
	}
	if out.ToolChoice = toolChoice(req); out.ToolChoice != nil && out.ToolChoice != req.ToolChoice {
		out.ToolChoice = item{Type: "function", Name: req.ToolChoice}
	}
	if f := req.ResponseFormat; f != nil && f.Type == "json_schema" {
		out.Text = &responsesText{struct {
			Type string `json:"type"`
			jsonSchema
		}{f.Type, jsonSchema{Name: legal(f.Name, "reply"), Schema: f.Schema, Strict: f.Strict}}}
	} else if f != nil {
		out.Text = &responsesText{responseFormat{Type: f.Type}}
	}
	for _, t := range req.Tools {
		tool := responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if len(tool.Parameters) == 0 {
			tool.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool)
	}
	for _, m := range req.Messages {
		out.Input = append(out.Input, items(m)...)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be encoded: %w", err)
	}
	return modelhttp.Merge(data, req.Extra, "input", "stream")
}

// items encodes a message. Only users and tools can send content other than text, so that of others follows in a user
// message.
func items(m agent.Message) (out []any) {
	switch m.Role {
	case agent.RoleTool:
		if len(m.Parts) > 0 {
			return []any{item{Type: "function_call_output", CallID: m.ToolCallID, Output: pieces(m)}}
		}
		return []any{map[string]any{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Content}}
	case agent.RoleUser:
		if len(m.Parts) > 0 {
			return []any{item{Role: "user", Content: pieces(m)}}
		}
		return []any{map[string]any{"role": "user", "content": m.Content}}
	}
	if m.Content != "" {
		out = append(out, item{Role: string(m.Role), Content: m.Content})
	}
	for _, c := range m.ToolCalls {
		out = append(out, item{
			Type: "function_call", CallID: c.ID, Name: legal(c.Name, "unknown"), Arguments: string(modelhttp.Args(c.Args)),
		})
	}
	var thoughts []thought
	if data, ok := m.Extra[reasoningKey]; ok {
		_ = json.Unmarshal(data, &thoughts) // an Extra that another API made is ignored
	}
	sent := 0
	for _, t := range thoughts {
		// A hook may have removed a call. The API refuses reasoning that precedes nothing.
		if at := t.Before + sent; t.Before >= 0 && at < len(out) {
			out = slices.Insert(out, at, any(t.Item))
			sent++
		}
	}
	if len(m.Parts) > 0 {
		m.Content = "This comes from the " + string(m.Role) + " message above, not from the user:"
		out = append(out, item{Role: "user", Content: pieces(m)})
	}
	return out
}

// pieces encodes the content of a message.
func pieces(m agent.Message) (out []piece) {
	if m.Content != "" {
		out = append(out, piece{Type: "input_text", Text: m.Content})
	}
	for i, p := range parts(m.Parts) {
		switch p.Type {
		case "image_url":
			out = append(out, piece{Type: "input_image", ImageURL: p.ImageURL.URL})
		case "file":
			out = append(out, piece{Type: "input_file", Filename: p.File.Filename, FileData: p.File.FileData})
		case "text":
			out = append(out, piece{Type: "input_text", Text: p.Text})
		default:
			out = append(out, piece{Type: "input_text", Text: fmt.Sprintf(
				"[content of type %s, %d bytes, which this API does not take]", m.Parts[i].MediaType, len(m.Parts[i].Data))})
		}
	}
	return out
}
