package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// A chunk is one event of a stream, or a whole answer.
type chunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"` // error: the fields of an error are at the top
}

type choice struct {
	Index        int             `json:"index"`
	Delta        delta           `json:"delta"`   // of a stream
	Message      delta           `json:"message"` // the whole reply, or that so far. It has the same fields
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type delta struct {
	Content          content     `json:"content"`
	Refusal          string      `json:"refusal"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	ToolCalls        []callDelta `json:"tool_calls"`
	Images           []part      `json:"images"`

	unknown map[string]json.RawMessage
}

// known are the fields of a message that are not kept in Extra: those of delta, and those that a request must not have.
var known = []string{
	"content", "refusal", "reasoning_content", "reasoning", "tool_calls", "images",
	"role", "name", "tool_call_id", "function_call", "annotations", "audio",
}

// UnmarshalJSON decodes a delta and keeps the fields that it does not know.
func (d *delta) UnmarshalJSON(data []byte) error {
	type plain delta
	if err := json.Unmarshal(data, (*plain)(d)); err != nil {
		return err
	}
	return remainder(data, known, &d.unknown)
}

// remainder decodes the fields of an object that have other names and are not empty.
func remainder(data []byte, names []string, into *map[string]json.RawMessage) error {
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	for name, value := range *into {
		if slices.Contains(names, name) || slices.Contains([]string{"null", `""`, "[]", "{}"}, string(value)) {
			delete(*into, name)
		}
	}
	return nil
}

// content is a text, or a list of parts with texts and thoughts, as Mistral sends it.
type content struct{ text, thoughts string }

// UnmarshalJSON decodes a text, null or a list.
func (c *content) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &c.text)
	}
	var list []struct {
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, p := range list {
		c.text += p.Text
		c.thoughts += p.Thinking.text
	}
	return nil
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`

	unknown map[string]json.RawMessage
}

// UnmarshalJSON decodes a call and keeps the fields that it does not know.
func (c *callDelta) UnmarshalJSON(data []byte) error {
	type plain callDelta
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	return remainder(data, []string{"index", "id", "type", "function"}, &c.unknown)
}

// arguments returns the piece of the arguments. Most servers send a text, some send the object itself.
func (c *callDelta) arguments() string {
	data := c.Function.Arguments
	var text string
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}

type usage struct {
	Prompt     modelhttp.Count `json:"prompt_tokens"`
	Completion modelhttp.Count `json:"completion_tokens"`
	Details    struct {
		Cached  modelhttp.Count `json:"cached_tokens"`
		Written modelhttp.Count `json:"cache_write_tokens"` // of OpenRouter
	} `json:"prompt_tokens_details"`
	CacheHit modelhttp.Count `json:"prompt_cache_hit_tokens"` // of DeepSeek
}

// A decoder adds the chunks of an answer up to the reply.
type decoder struct {
	answer *modelhttp.Reply
	emit   func(agent.Delta)

	id, model, finish           string
	chosen                      bool // there was a choice
	pieces                      bool // a delta had content
	refused                     bool
	text, reasoning, returnable strings.Builder // returnable: the reasoning that the API must get back
	calls                       []*call
	byIndex                     map[int]int // the position of the last call with an index on the wire
	parts                       []agent.Part
	last                        delta // the calls and images of the last message that has some
	usage                       agent.Usage
	unknown                     map[string][]json.RawMessage // the pieces of each field
}

type call struct {
	id, name string
	args     strings.Builder
	object   braces // of args
	extra    map[string]json.RawMessage
}

// endsBefore reports whether a piece belongs to another call. A new call has a name, or begins its arguments after
// complete ones. A new id alone does not count, because some servers send another id with each piece.
func (c *call) endsBefore(in *callDelta) bool {
	name := in.Function.Name
	named := name != "" && c.name != ""
	again := c.object.complete && in.arguments() != ""
	switch {
	case named && name != c.name:
		return true
	case in.ID != "" && c.id != "" && in.ID != c.id:
		return c.object.depth == 0 && (name != "" || again)
	}
	return named && again
}

// A braces follows a JSON object that arrives in pieces. It looks at each byte once.
type braces struct {
	depth           int
	inText, escaped bool
	complete        bool
}

func (b *braces) add(piece string) {
	for _, c := range []byte(piece) {
		switch {
		case b.escaped:
			b.escaped = false
		case b.inText:
			b.escaped, b.inText = c == '\\', c != '"'
		case c == '"':
			b.inText = true
		case c == '{':
			b.depth++
		case c == '}':
			b.depth--
			b.complete = b.depth == 0
		}
	}
}

// add adds a chunk.
func (d *decoder) add(c chunk) error {
	if err := d.failure(c.Error); err != nil {
		return err
	}
	d.id, d.model = cmp.Or(c.ID, d.id), cmp.Or(c.Model, d.model)
	if u := c.Usage; u != nil {
		d.usage = agent.Usage{
			Input: int(u.Prompt), Output: int(u.Completion),
			CacheRead: int(max(u.Details.Cached, u.CacheHit)), CacheWrite: int(u.Details.Written),
		}
	}
	for _, choice := range c.Choices {
		if err := d.failure(choice.Error); err != nil {
			return err
		}
		if choice.Index != 0 {
			continue // Extra asked for several replies
		}
		d.chosen = true
		d.addDelta(&choice.Delta, false)
		d.addMessage(&choice.Message)
		if choice.FinishReason == "error" {
			return d.answer.Failed(502, "", "", "the server ended the reply because of an error")
		}
		d.finish = cmp.Or(choice.FinishReason, d.finish)
	}
	return nil
}

// failure returns the error that a server reports in an answer with status 200, or nil.
func (d *decoder) failure(data json.RawMessage) error {
	if len(data) == 0 || string(data) == "null" {
		return nil
	}
	kind, code, message := modelhttp.Reported(data)
	return d.answer.Failed(statusOf(kind, code), kind, code, message)
}

// addDelta adds a piece of the reply. In a message, each call in the list is a call of its own.
func (d *decoder) addDelta(in *delta, whole bool) {
	d.pieces = d.pieces || !whole && !in.empty()
	thoughts := in.Content.thoughts
	if in.ReasoningContent != "" {
		thoughts += in.ReasoningContent
		d.returnable.WriteString(in.ReasoningContent)
	} else {
		thoughts += in.Reasoning // servers that send both send the same text
	}
	if thoughts != "" {
		d.reasoning.WriteString(thoughts)
		d.emit(agent.Delta{Reasoning: thoughts})
	}
	if text := in.Content.text + in.Refusal; text != "" {
		d.text.WriteString(text)
		d.emit(agent.Delta{Content: text})
	}
	d.refused = d.refused || in.Refusal != ""
	for i := range in.ToolCalls {
		d.addCall(&in.ToolCalls[i], whole)
	}
	for _, p := range in.Images {
		if p.ImageURL != nil {
			d.parts = append(d.parts, image(p.ImageURL.URL))
		}
	}
	for name, piece := range in.unknown {
		if d.unknown == nil {
			d.unknown = make(map[string][]json.RawMessage)
		}
		d.unknown[name] = append(d.unknown[name], piece)
	}
}

// addCall adds a piece of a call. The pieces of parallel calls may alternate. They differ in their index.
// Some servers send no index, or the index 0 for every call. There a new id begins a new call, or without ids another
// name, or a name after complete arguments.
func (d *decoder) addCall(in *callDelta, whole bool) {
	at := len(d.calls) - 1
	indexed := in.Index != nil && *in.Index >= 0
	if indexed {
		last, ok := d.byIndex[*in.Index]
		if at = last; !ok {
			at = -1
		}
	}
	empty := in.ID == "" && in.Function.Name == "" && in.arguments() == ""
	if empty && (at < 0 || whole) {
		return
	}
	if at < 0 || whole || d.calls[at].endsBefore(in) {
		at = len(d.calls)
		d.calls = append(d.calls, new(call))
		if indexed {
			if d.byIndex == nil {
				d.byIndex = make(map[int]int)
			}
			d.byIndex[*in.Index] = at
		}
	}
	c := d.calls[at]
	if len(in.unknown) > 0 {
		c.extra = in.unknown
	}
	piece := agent.ToolCallDelta{Index: at, Args: in.arguments()}
	if c.id == "" {
		c.id, piece.ID = in.ID, in.ID
	}
	if c.name == "" {
		c.name, piece.Name = in.Function.Name, in.Function.Name
	}
	c.args.WriteString(piece.Args)
	c.object.add(piece.Args)
	if piece.ID != "" || piece.Name != "" || piece.Args != "" {
		d.emit(agent.Delta{ToolCall: &piece})
	}
}

// joined returns an unknown field from its pieces: texts and lists are joined, otherwise the last piece counts.
func joined(pieces []json.RawMessage) json.RawMessage {
	var (
		text strings.Builder
		list []json.RawMessage
	)
	texts, lists := true, true
	for _, piece := range pieces {
		var (
			more  string
			items []json.RawMessage
		)
		texts = texts && json.Unmarshal(piece, &more) == nil
		lists = lists && json.Unmarshal(piece, &items) == nil
		text.WriteString(more)
		list = append(list, items...)
	}
	var out json.RawMessage
	switch {
	case texts:
		out, _ = json.Marshal(text.String()) // texts can be encoded
	case lists:
		out, _ = json.Marshal(list) // valid JSON can be encoded
	default:
		out = pieces[len(pieces)-1]
	}
	return out
}

// image returns an image of a reply. Servers send its data in the URL.
func image(at string) agent.Part {
	media, data, ok := strings.Cut(strings.TrimPrefix(at, "data:"), ";base64,")
	if strings.HasPrefix(at, "data:") && ok {
		if decoded, err := base64.StdEncoding.DecodeString(data); err == nil {
			return agent.Part{MediaType: media, Data: decoded}
		}
	}
	return agent.Part{MediaType: "image/*", URL: at}
}

// reply returns the reply.
func (d *decoder) reply() agent.LLMResponse {
	d.addLast()
	reply := agent.LLMResponse{
		ID: d.id, Model: d.model, Content: d.text.String(), Reasoning: d.reasoning.String(), Parts: d.parts,
		FinishReason: d.finish, Usage: d.usage,
	}
	var ofCalls []map[string]json.RawMessage
	unknown := false
	for _, c := range d.calls {
		reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{
			ID: c.id, Name: c.name, Args: json.RawMessage(c.args.String()),
		})
		ofCalls = append(ofCalls, c.extra)
		unknown = unknown || c.extra != nil
	}
	keep := func(name string, value any) {
		if reply.Extra == nil {
			reply.Extra = make(map[string]json.RawMessage)
		}
		reply.Extra[name], _ = json.Marshal(value) // texts and valid JSON can be encoded
	}
	for name, pieces := range d.unknown {
		keep(name, joined(pieces))
	}
	if unknown {
		keep("tool_calls", ofCalls)
	}
	if d.returnable.Len() > 0 {
		keep("reasoning_content", d.returnable.String())
	}
	switch {
	case d.refused:
		reply.FinishReason = "refusal"
	case reply.FinishReason == "" && len(reply.ToolCalls) > 0:
		reply.FinishReason = "tool_calls"
	case reply.FinishReason == "":
		reply.FinishReason = "stop"
	}
	return reply
}
