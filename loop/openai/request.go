package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
	"github.com/hookgen/hookgen/spec/agentspec"
)

type request struct {
	Model               string            `json:"model"`
	Messages            []json.RawMessage `json:"messages"`
	Tools               []tool            `json:"tools,omitempty"`
	ToolChoice          any               `json:"tool_choice,omitempty"` // a string, or a tool
	ResponseFormat      *responseFormat   `json:"response_format,omitempty"`
	MaxTokens           int               `json:"max_tokens,omitempty"`
	MaxCompletionTokens int               `json:"max_completion_tokens,omitempty"`
	Temperature         *float64          `json:"temperature,omitempty"`
	Seed                *uint64           `json:"seed,omitempty"`
	Stream              bool              `json:"stream,omitempty"`
	StreamOptions       *streamOptions    `json:"stream_options,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema,omitempty"`
	Strict bool            `json:"strict"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string            `json:"role"`
	Content    any               `json:"content,omitempty"` // a string, or a list of parts
	Name       string            `json:"name,omitempty"`
	ToolCalls  []json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type       string      `json:"type"`
	Text       string      `json:"text,omitempty"`
	ImageURL   *imageURL   `json:"image_url,omitempty"`
	InputAudio *inputAudio `json:"input_audio,omitempty"`
	File       *file       `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type inputAudio struct {
	Data   []byte `json:"data"`
	Format string `json:"format"`
}

type file struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

// encode returns the body of a request to a host.
func encode(req agent.LLMRequest, stream bool, host string) ([]byte, error) {
	out := request{
		Model: req.Model, Temperature: req.Temperature, ToolChoice: toolChoice(req),
		ResponseFormat: format(req.ResponseFormat), Stream: stream,
	}
	if stream {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	out.setMaxTokens(req, host)
	if req.Seed != nil {
		// The seed of a run has 64 bits. Servers take 32 or 64 bits, with or without a sign.
		seed := *req.Seed & math.MaxInt32
		out.Seed = &seed
	}
	for _, t := range req.Tools {
		f := function{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if len(f.Parameters) == 0 {
			f.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: f})
	}
	var err error
	if out.Messages, err = messages(req.Messages); err != nil {
		return nil, err
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("the request cannot be encoded: %w", err)
	}
	return modelhttp.Merge(data, req.Extra, "messages", "stream")
}

// setMaxTokens sets the limit of the reply. OpenAI renamed it for models that think, which reject the old name. Many
// other servers know only the old name. A name in Extra wins.
func (r *request) setMaxTokens(req agent.LLMRequest, host string) {
	_, old := req.Extra["max_tokens"]
	_, renamed := req.Extra["max_completion_tokens"]
	switch {
	case old || renamed:
	case host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com"):
		r.MaxCompletionTokens = req.MaxTokens
	default:
		r.MaxTokens = req.MaxTokens
	}
}

func toolChoice(req agent.LLMRequest) any {
	switch {
	case req.ToolChoice == "" || len(req.Tools) == 0:
		return nil
	case req.ToolChoice == "auto" || req.ToolChoice == "none" || req.ToolChoice == "required":
		return req.ToolChoice
	}
	return tool{Type: "function", Function: function{Name: req.ToolChoice}}
}

func format(f *agent.ResponseFormat) *responseFormat {
	if f == nil {
		return nil
	}
	out := &responseFormat{Type: f.Type}
	if f.Type == "json_schema" {
		out.JSONSchema = &jsonSchema{Name: legal(f.Name, "reply"), Schema: f.Schema, Strict: f.Strict}
	}
	return out
}

// messages encodes a conversation. Only users can send content other than text, so the images of a reply and of the
// results of tools follow in a user message. It comes after the last result of the same reply, because the API wants
// all results of a reply together. The Reasoning of a reply is not sent, because servers reject it or charge for it;
// those that must get it back have put it into Extra.
func messages(conversation []agent.Message) ([]json.RawMessage, error) {
	var (
		out  []json.RawMessage
		seen []part // content other than text, of messages that are not of the user
	)
	show := func(source string, content []agent.Part) {
		if len(content) > 0 {
			seen = append(seen, part{Type: "text", Text: "This comes from " + source + ", not from the user:"})
			seen = append(seen, parts(content)...)
		}
	}
	add := func(m message, extra map[string]json.RawMessage) error {
		data, err := json.Marshal(m)
		if err == nil {
			data, err = modelhttp.Merge(data, extra, "role", "content", "name", "tool_calls", "tool_call_id",
				reasoningKey)
		}
		if err != nil {
			return fmt.Errorf("message %d cannot be encoded: %w", len(out), err)
		}
		out = append(out, data)
		return nil
	}
	flush := func() error {
		if len(seen) == 0 {
			return nil
		}
		m := message{Role: "user", Content: seen}
		seen = nil
		return add(m, nil)
	}
	for _, m := range conversation {
		if m.Role != agent.RoleTool {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		encoded := message{Role: string(m.Role), Content: m.Content}
		switch m.Role {
		case agent.RoleTool:
			encoded.ToolCallID = m.ToolCallID
			if len(m.Parts) > 0 {
				encoded.Content = strings.TrimPrefix(m.Content+"\n(The content other than text is in the next user message.)", "\n")
				show(fmt.Sprintf("the tool %s (call %s)", m.Name, m.ToolCallID), m.Parts)
			}
		case agent.RoleAssistant:
			calls, err := toolCalls(m)
			if err != nil {
				return nil, err
			}
			encoded.ToolCalls = calls
			if m.Content == "" && len(calls) > 0 {
				encoded.Content = nil
			}
			show("your own message above", m.Parts)
		case agent.RoleSystem:
			show("the system message above", m.Parts)
		case agent.RoleUser:
			if m.Name != agentspec.InterruptionName {
				encoded.Name = legal(m.Name, "")
			}
			if len(m.Parts) > 0 {
				content := parts(m.Parts)
				if m.Content != "" {
					content = append([]part{{Type: "text", Text: m.Content}}, content...)
				}
				encoded.Content = content
			}
		}
		if err := add(encoded, m.Extra); err != nil {
			return nil, err
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return out, nil
}

// toolCalls encodes the calls of a message. Extra may have fields of a call that the API must get back, in the objects
// of the list tool_calls, for example the signatures of Gemini.
func toolCalls(m agent.Message) ([]json.RawMessage, error) {
	var extra []map[string]json.RawMessage
	if data, ok := m.Extra["tool_calls"]; ok {
		_ = json.Unmarshal(data, &extra) // an Extra that another API made is ignored
	}
	var out []json.RawMessage
	for i, c := range m.ToolCalls {
		data, err := json.Marshal(toolCall{ID: c.ID, Type: "function", Function: calledByName{
			Name: legal(c.Name, "unknown"), Arguments: string(modelhttp.Args(c.Args)),
		}})
		if err == nil && len(extra) == len(m.ToolCalls) {
			data, err = modelhttp.Merge(data, extra[i], "id", "type", "function")
		}
		if err != nil {
			return nil, fmt.Errorf("call %q cannot be encoded: %w", c.ID, err)
		}
		out = append(out, data)
	}
	return out, nil
}

// parts encodes content other than text. A part that the API cannot take becomes a text that says so. An error instead
// would fail every later request of the conversation.
func parts(all []agent.Part) []part {
	out := make([]part, 0, len(all))
	for _, p := range all {
		media, _, _ := strings.Cut(strings.ToLower(p.MediaType), ";")
		data := func() string { return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(p.Data) }
		switch {
		case strings.HasPrefix(media, "image/") && p.URL != "":
			out = append(out, part{Type: "image_url", ImageURL: &imageURL{p.URL}})
		case strings.HasPrefix(media, "image/"):
			out = append(out, part{Type: "image_url", ImageURL: &imageURL{data()}})
		case p.URL != "":
			out = append(out, part{Type: "text", Text: fmt.Sprintf("[%s: %s]", media, p.URL)})
		case media == "audio/wav" || media == "audio/x-wav":
			out = append(out, part{Type: "input_audio", InputAudio: &inputAudio{p.Data, "wav"}})
		case media == "audio/mpeg" || media == "audio/mp3":
			out = append(out, part{Type: "input_audio", InputAudio: &inputAudio{p.Data, "mp3"}})
		case media == "application/pdf":
			name := p.Name
			if name == "" {
				name = "file.pdf"
			}
			out = append(out, part{Type: "file", File: &file{name, data()}})
		case strings.HasPrefix(media, "text/") || media == "application/json":
			out = append(out, part{Type: "text", Text: strings.TrimPrefix(p.Name+"\n"+string(p.Data), "\n")})
		default:
			out = append(out, part{Type: "text", Text: fmt.Sprintf(
				"[content of type %s, %d bytes, which this API does not take]", media, len(p.Data))})
		}
	}
	return out
}

// legal returns a name that the API takes, or otherwise if name is empty.
func legal(name, otherwise string) string { return modelhttp.Name(name, otherwise, 64) }
