package otel

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/hookgen/hookgen/generated/agent"
)

// A message is a message as the semantic conventions have it.
type message struct {
	Role         string `json:"role"`
	Name         string `json:"name,omitempty"`
	Parts        []part `json:"parts"`
	FinishReason string `json:"finish_reason,omitempty"`
}

// A part is a piece of a message. Binary content is left out.
type part struct {
	Type      string          `json:"type"`
	Content   string          `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  string          `json:"response,omitempty"`
	MediaType string          `json:"mime_type,omitempty"`
	URI       string          `json:"uri,omitempty"`
}

func messages(from []agent.Message) []message {
	all := make([]message, len(from))
	for i, m := range from {
		all[i] = message{Role: string(m.Role), Name: m.Name, Parts: parts(m)}
	}
	return all
}

func parts(m agent.Message) (all []part) {
	switch {
	case m.Role == agent.RoleTool:
		all = append(all, part{Type: "tool_call_response", ID: m.ToolCallID, Response: m.Content})
	case m.Content != "":
		all = append(all, part{Type: "text", Content: m.Content})
	}
	if m.Reasoning != "" {
		all = append(all, part{Type: "reasoning", Content: m.Reasoning})
	}
	for _, p := range m.Parts {
		kind := "uri"
		if p.URL == "" {
			kind = "blob"
		}
		all = append(all, part{Type: kind, Name: p.Name, MediaType: p.MediaType, URI: p.URL})
	}
	for _, c := range m.ToolCalls {
		args := c.Args
		if !json.Valid(args) {
			args, _ = json.Marshal(string(args))
		}
		all = append(all, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: args})
	}
	return all
}

// content returns an attribute with messages as JSON, redacted and truncated.
func (t *Telemetry) content(key string, messages []message) attribute.KeyValue {
	return attribute.String(key, string(t.Redact.CutValue(messages, contentChars)))
}
