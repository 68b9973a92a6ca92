package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       []*block      `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
	Tools        []tool        `json:"tools,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Stream       bool          `json:"stream,omitempty"`
}

type message struct {
	Role    string   `json:"role"`
	Content []*block `json:"content"`
}

// A block is a piece of the content of a message, or a block of an earlier reply as the API sent it.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`          // of tool_use
	Name         string          `json:"name,omitempty"`        // of tool_use
	Input        json.RawMessage `json:"input,omitempty"`       // of tool_use
	ToolUseID    string          `json:"tool_use_id,omitempty"` // of tool_result
	Content      []*block        `json:"content,omitempty"`     // of tool_result
	IsError      bool            `json:"is_error,omitempty"`    // of tool_result
	Source       *source         `json:"source,omitempty"`      // of image and document
	Title        string          `json:"title,omitempty"`       // of document
	CacheControl *cacheControl   `json:"cache_control,omitempty"`

	more map[string]json.RawMessage // of tool_use: fields that only the API understands
	raw  json.RawMessage            // the whole block, if only the API understands it
}

// MarshalJSON encodes a block.
func (b *block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block
	data, err := json.Marshal((*plain)(b))
	if err != nil {
		return nil, err
	}
	return modelhttp.Merge(data, b.more, "type", "id", "name", "input")
}

type source struct {
	Type      string `json:"type"` // base64, url or text
	MediaType string `json:"media_type,omitempty"`
	Data      any    `json:"data,omitempty"` // bytes for base64, a string for text
	URL       string `json:"url,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type toolChoice struct {
	Type string `json:"type"` // auto, any, tool or none
	Name string `json:"name,omitempty"`
}

type outputConfig struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// encode returns the body of a request.
func encode(req agent.LLMRequest, stream bool) ([]byte, error) {
	out := request{
		Model: req.Model, MaxTokens: req.MaxTokens, Temperature: req.Temperature, Stream: stream, ToolChoice: choice(req),
	}
	if out.MaxTokens <= 0 {
		out.MaxTokens = DefaultMaxTokens
	}
	if f := req.ResponseFormat; f != nil && f.Type != "text" {
		if f.Type != "json_schema" || len(f.Schema) == 0 {
			return nil, errors.New("the API has no response format without a schema; use json_schema with one")
		}
		out.OutputConfig = &outputConfig{outputFormat{Type: f.Type, Schema: f.Schema}}
	}
	for _, t := range req.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	volatile := out.converse(req.Messages)
	if _, ok := req.Extra["cache_control"]; !ok {
		out.cache(volatile)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be encoded: %w", err)
	}
	return modelhttp.Merge(data, req.Extra, "messages", "stream")
}

func choice(req agent.LLMRequest) *toolChoice {
	if len(req.Tools) == 0 {
		return nil
	}
	switch req.ToolChoice {
	case "":
		return nil
	case "auto", "none":
		return &toolChoice{Type: req.ToolChoice}
	case "required":
		return &toolChoice{Type: "any"}
	}
	return &toolChoice{Type: "tool", Name: req.ToolChoice}
}

// converse adds the conversation. The system messages at its beginning are the system prompt. Most models take no
// system message later on, so that such a message becomes a text in a user message. Results of tools are blocks of a
// user message, and messages of the same role in a row become one message. Only users and tools can send images, so
// those of a reply or of the system prompt follow in a user message, after the results of the reply. Volatile is the
// number of blocks at the end that come from system messages: the loop puts texts there that are different in every
// request.
func (r *request) converse(conversation []agent.Message) (volatile int) {
	begun := false
	var seen []*block // content other than text, of messages that are not of the user
	show := func(source string, content []agent.Part) {
		if len(content) > 0 {
			seen = append(seen, &block{Type: "text", Text: "This comes from " + source + ", not from the user:"})
		}
		for _, p := range content {
			seen = append(seen, encodePart(p))
		}
	}
	for _, m := range conversation {
		if m.Role != agent.RoleTool && !(m.Role == agent.RoleSystem && !begun) {
			r.add("user", seen)
			seen = nil
		}
		if m.Role == agent.RoleSystem && !begun {
			show("the system prompt", m.Parts)
			if !blank(m.Content) {
				r.System = append(r.System, &block{Type: "text", Text: m.Content})
			}
			continue
		}
		begun = true
		if m.Role == agent.RoleAssistant {
			r.add("assistant", said(m))
			show("your own message above", m.Parts)
			volatile = 0
			continue
		}
		blocks := contentOf(m)
		r.add("user", blocks)
		if m.Role == agent.RoleSystem {
			volatile += len(blocks)
		} else if len(blocks) > 0 {
			volatile = 0
		}
	}
	r.add("user", seen)
	return volatile
}

// add adds blocks of a role to the last message or to a new one. The first message is of the user.
func (r *request) add(role string, blocks []*block) {
	if len(blocks) == 0 {
		return
	}
	if len(r.Messages) == 0 && role != "user" {
		r.add("user", []*block{{Type: "text", Text: "(the beginning of the conversation was removed)"}})
	}
	last := len(r.Messages) - 1
	if last >= 0 && r.Messages[last].Role == role {
		r.Messages[last].Content = append(r.Messages[last].Content, blocks...)
		return
	}
	r.Messages = append(r.Messages, message{Role: role, Content: blocks})
}

// cache marks the ends of prefixes that later requests have as well: the tools and the system prompt, the conversation
// of the request before, and that of this request. The API reads the longest prefix that it has in its cache. It looks
// for one at no more than 20 blocks before a mark, and a reply with many calls adds more than that, so that the second
// mark is needed.
func (r *request) cache(volatile int) {
	mark := &cacheControl{Type: "ephemeral"}
	if len(r.System) > 0 {
		r.System[len(r.System)-1].CacheControl = mark
	} else if len(r.Tools) > 0 {
		r.Tools[len(r.Tools)-1].CacheControl = mark
	}
	left := 2
	for i, m := range slices.Backward(r.Messages) {
		if m.Role != "user" || left == 0 {
			continue
		}
		end := len(m.Content)
		if i == len(r.Messages)-1 {
			end -= volatile
		}
		if end > 0 {
			m.Content[end-1].CacheControl = mark
			left--
		}
	}
}

// contentOf encodes a message that the model receives.
func contentOf(m agent.Message) []*block {
	content := m.Content
	if m.Role == agent.RoleSystem && !blank(content) {
		content = "<system>\n" + content + "\n</system>"
	}
	var blocks []*block
	if !blank(content) {
		blocks = append(blocks, &block{Type: "text", Text: content})
	}
	for _, p := range m.Parts {
		blocks = append(blocks, encodePart(p))
	}
	if m.Role == agent.RoleTool {
		return []*block{{Type: "tool_result", ToolUseID: legal(m.ToolCallID), Content: blocks, IsError: m.IsError}}
	}
	return blocks
}

// blank reports whether a text has no visible character. The API rejects such texts.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// encodePart encodes content other than text. A part that the API cannot take becomes a text that says so. An error
// instead would fail every later request of the conversation.
func encodePart(p agent.Part) *block {
	media, _, _ := strings.Cut(strings.ToLower(p.MediaType), ";")
	from := &source{Type: "base64", MediaType: media, Data: p.Data}
	if p.URL != "" {
		from = &source{Type: "url", URL: p.URL}
	}
	switch {
	case slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, media),
		strings.HasPrefix(media, "image/") && p.URL != "":
		return &block{Type: "image", Source: from}
	case media == "application/pdf":
		return &block{Type: "document", Source: from, Title: p.Name}
	case p.URL != "":
		return &block{Type: "text", Text: fmt.Sprintf("[%s: %s]", media, p.URL)}
	case (strings.HasPrefix(media, "text/") || media == "application/json") && !blank(string(p.Data)):
		return &block{
			Type: "document", Title: p.Name,
			Source: &source{Type: "text", MediaType: "text/plain", Data: string(p.Data)},
		}
	}
	return &block{
		Type: "text",
		Text: fmt.Sprintf("[content of type %s, %d bytes, which this API does not take]", media, len(p.Data)),
	}
}

// said encodes a message of the model: its text and its calls, and the blocks that only the API understands at their
// places. The Reasoning of the message is not sent as it is, because the API rejects thoughts without their signature.
func said(m agent.Message) []*block {
	var (
		blocks []*block
		left   = m.Content
		called = make([]bool, len(m.ToolCalls))
	)
	text := func(text string) {
		if !blank(text) {
			blocks = append(blocks, &block{Type: "text", Text: text})
		}
	}
	call := func(at int, fields map[string]json.RawMessage) {
		c := m.ToolCalls[at]
		called[at] = true
		blocks = append(blocks, &block{
			Type: "tool_use", ID: legal(c.ID), Name: legal(c.Name), Input: modelhttp.Args(c.Args), more: fields,
		})
	}
	for _, p := range placesOf(m) {
		switch p.kind {
		case "text":
			text(left[:p.bytes])
			left = left[p.bytes:]
		case "tool_use":
			at := slices.IndexFunc(m.ToolCalls, func(c agent.ToolCallRequest) bool { return c.ID == p.id })
			if at >= 0 && !called[at] {
				call(at, p.fields)
			}
		default:
			blocks = append(blocks, &block{raw: p.raw})
		}
	}
	text(left)
	for i := range m.ToolCalls {
		if !called[i] {
			call(i, nil)
		}
	}
	return blocks
}

// legal returns an id or a name that the API takes.
func legal(name string) string { return modelhttp.Name(name, "unknown", 128) }
