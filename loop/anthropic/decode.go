package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// An event is one event of a stream.
type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      start           `json:"message"`       // of message_start
	ContentBlock json.RawMessage `json:"content_block"` // of content_block_start
	Delta        delta           `json:"delta"`         // of content_block_delta and message_delta
	Usage        usage           `json:"usage"`         // of message_delta: the sums so far
	Error        json.RawMessage `json:"error"`         // of error
}

type start struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	Usage usage  `json:"usage"`
}

// A wholeMessage is an answer that is not a stream.
type wholeMessage struct {
	start
	Type        string            `json:"type"` // message or error
	Content     []json.RawMessage `json:"content"`
	StopReason  string            `json:"stop_reason"`
	StopDetails stopDetails       `json:"stop_details"`
	Error       json.RawMessage   `json:"error"`
}

type delta struct {
	Type        string      `json:"type"`
	Text        string      `json:"text"`
	Thinking    string      `json:"thinking"`
	Signature   string      `json:"signature"`
	PartialJSON string      `json:"partial_json"`
	StopReason  string      `json:"stop_reason"` // of message_delta
	StopDetails stopDetails `json:"stop_details"`
}

type stopDetails struct {
	Explanation string `json:"explanation"`
}

// usage has tokens that were neither read from the cache nor written to it in Input.
type usage struct {
	Input  modelhttp.Count `json:"input_tokens"`
	Output modelhttp.Count `json:"output_tokens"`
	Read   modelhttp.Count `json:"cache_read_input_tokens"`
	Write  modelhttp.Count `json:"cache_creation_input_tokens"`
}

// A decoder adds the events of an answer up to the reply.
type decoder struct {
	answer *modelhttp.Reply
	emit   func(agent.Delta)

	id, model, finish string
	text, reasoning   strings.Builder
	calls             []agent.ToolCallRequest
	blocks            []*replied       // in order
	byIndex           map[int]*replied // on the wire
	usage             usage
}

// A replied is a block of a reply.
type replied struct {
	kind   string
	fields map[string]json.RawMessage // as they came with the beginning of the block
	call   int                        // of tool_use: its position among the calls
	ended  bool

	text, thinking, signature, input strings.Builder
}

func (d *decoder) start(s start) {
	d.id, d.model = s.ID, s.Model
	d.count(s.Usage)
}

// count updates the usage. The numbers of later events are sums, and events may lack some of them.
func (d *decoder) count(u usage) {
	d.usage = usage{
		Input: max(d.usage.Input, u.Input), Output: max(d.usage.Output, u.Output),
		Read: max(d.usage.Read, u.Read), Write: max(d.usage.Write, u.Write),
	}
}

// add adds an event. It ignores kinds of events and deltas that it does not know, as the API asks of its clients.
func (d *decoder) add(e *event) error {
	switch e.Type {
	case "error":
		return d.failure(e.Error)
	case "message_start":
		d.start(e.Message)
	case "message_delta":
		d.count(e.Usage)
		if e.Delta.StopReason != "" {
			d.stop(e.Delta.StopReason, e.Delta.StopDetails)
		}
	case "content_block_start":
		b, err := d.begin(e.ContentBlock)
		if err != nil {
			return err
		}
		if d.byIndex == nil {
			d.byIndex = make(map[int]*replied)
		}
		d.byIndex[e.Index] = b
	case "content_block_delta", "content_block_stop":
		b := d.byIndex[e.Index]
		if b == nil || b.ended {
			return d.answer.Invalid("an event is about a block that is not open")
		}
		if e.Type == "content_block_stop" {
			d.end(b)
		} else {
			d.grow(b, &e.Delta)
		}
	}
	return nil
}

// failure returns the error that the server reports in an answer with status 200.
func (d *decoder) failure(data json.RawMessage) error {
	kind, code, message := modelhttp.Reported(data)
	return d.answer.Failed(statusOf(kind), kind, code, message)
}

// begin begins a block. In a whole answer it is the complete block.
func (d *decoder) begin(raw json.RawMessage) (*replied, error) {
	var content struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		ID        string `json:"id"`
		Name      string `json:"name"`
	}
	b := &replied{}
	if err := d.answer.Decode(raw, &content); err != nil {
		return nil, err
	}
	if err := d.answer.Decode(raw, &b.fields); err != nil {
		return nil, err
	}
	if b.kind = content.Type; b.kind == "" {
		return nil, d.answer.Invalid("a block without a type")
	}
	switch b.kind {
	case "tool_use":
		b.call = len(d.calls)
		d.calls = append(d.calls, agent.ToolCallRequest{ID: content.ID, Name: content.Name})
		d.emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: b.call, ID: content.ID, Name: content.Name}})
	case "thinking":
		if d.reasoning.Len() > 0 {
			d.think("\n\n")
		}
	}
	d.blocks = append(d.blocks, b)
	d.grow(b, &delta{Text: content.Text, Thinking: content.Thinking, Signature: content.Signature})
	return b, nil
}

// grow adds a delta to a block.
func (d *decoder) grow(b *replied, in *delta) {
	switch b.kind {
	case "text":
		b.text.WriteString(in.Text)
		d.say(in.Text)
	case "thinking":
		b.thinking.WriteString(in.Thinking)
		b.signature.WriteString(in.Signature)
		d.think(in.Thinking)
	case "tool_use":
		d.argue(b, in.PartialJSON)
	default:
		b.input.WriteString(in.PartialJSON)
	}
}

// end completes a block. The input of a call without deltas came with its beginning.
func (d *decoder) end(b *replied) {
	b.ended = true
	if b.kind != "tool_use" {
		return
	}
	if b.input.Len() == 0 {
		d.argue(b, cmp.Or(string(b.fields["input"]), "{}"))
	}
	d.calls[b.call].Args = json.RawMessage(b.input.String())
}

func (d *decoder) argue(b *replied, args string) {
	b.input.WriteString(args)
	if args != "" {
		d.emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: b.call, Args: args}})
	}
}

func (d *decoder) say(text string) {
	d.text.WriteString(text)
	if text != "" {
		d.emit(agent.Delta{Content: text})
	}
}

func (d *decoder) think(text string) {
	d.reasoning.WriteString(text)
	if text != "" {
		d.emit(agent.Delta{Reasoning: text})
	}
}

// finishReasons are the names that chat completions have for the reasons of the API. Hooks know those names.
var finishReasons = map[string]string{
	"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls",
	"max_tokens": "length", "model_context_window_exceeded": "length",
}

// stop notes why the reply ended. A refusal often has no text, so that it gets one.
func (d *decoder) stop(reason string, details stopDetails) {
	d.finish = cmp.Or(finishReasons[reason], reason)
	if reason == "refusal" && d.text.Len() == 0 {
		d.say(cmp.Or(details.Explanation, "The model refused to answer."))
	}
}

// complete ends a stream.
func (d *decoder) complete() error {
	if d.finish == "" {
		return d.answer.Invalid("it has no stop reason")
	}
	for _, b := range d.blocks {
		if !b.ended {
			d.end(b)
		}
	}
	return nil
}

// reply returns the reply.
func (d *decoder) reply() agent.LLMResponse {
	if n := len(d.blocks); n > 0 && d.finish == "length" { // a call that was cut before its first argument has {}
		if b := d.blocks[n-1]; b.kind == "tool_use" && b.input.String() == "{}" {
			d.calls[b.call].Args = nil
		}
	}
	reply := agent.LLMResponse{
		ID: d.id, Model: d.model, Content: d.text.String(), Reasoning: d.reasoning.String(), ToolCalls: d.calls,
		FinishReason: d.finish,
		Usage: agent.Usage{
			Input:  int(d.usage.Input + d.usage.Read + d.usage.Write),
			Output: int(d.usage.Output), CacheRead: int(d.usage.Read), CacheWrite: int(d.usage.Write),
		},
	}
	if content := d.places(); content != nil {
		reply.Extra = map[string]json.RawMessage{"content": content}
	}
	return reply
}

// places returns the content of the reply for the field content of Extra, or nil if the text and the calls are all of
// it. It has the blocks that only the API understands, for example thoughts with their signatures, which the API wants
// back unchanged and at their place. Texts and calls are in it without their content, because hooks change that in the
// message. A text has its length in bytes.
func (d *decoder) places() json.RawMessage {
	needed := false
	var list []map[string]json.RawMessage
	encoded := func(v any) json.RawMessage {
		data, _ := json.Marshal(v) // numbers and texts can be encoded
		return data
	}
	for _, b := range d.blocks {
		place := maps.Clone(b.fields)
		switch b.kind {
		case "text":
			place = map[string]json.RawMessage{"type": b.fields["type"], "bytes": encoded(b.text.Len())}
		case "tool_use":
			delete(place, "name")
			delete(place, "input")
			needed = needed || len(place) > 2 // type and id
		case "thinking":
			place["thinking"], place["signature"] = encoded(b.thinking.String()), encoded(b.signature.String())
			needed = true
		default:
			if input := b.input.String(); json.Valid([]byte(input)) {
				place["input"] = json.RawMessage(input)
			}
			needed = true
		}
		list = append(list, place)
	}
	if !needed {
		return nil
	}
	return encoded(list)
}

// A place is where a block of a reply was.
type place struct {
	kind   string
	bytes  int    // of a text
	id     string // of a call
	fields map[string]json.RawMessage
	raw    json.RawMessage
}

// placesOf returns the places of the blocks of a message that the API sent. A hook may have changed the text since.
// Then all of it is at the place of the first text.
func placesOf(m agent.Message) []place {
	var list []json.RawMessage
	if json.Unmarshal(m.Extra["content"], &list) != nil {
		return nil
	}
	var (
		out   []place
		total int
	)
	for _, raw := range list {
		var p struct {
			Type  string `json:"type"`
			Bytes int    `json:"bytes"`
			ID    string `json:"id"`
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &p) != nil || json.Unmarshal(raw, &fields) != nil || p.Type == "" || p.Bytes < 0 {
			return nil // another API made it
		}
		p.Bytes = min(p.Bytes, len(m.Content)+1) // so that the sum cannot overflow
		total += p.Bytes
		out = append(out, place{kind: p.Type, bytes: p.Bytes, id: p.ID, fields: fields, raw: raw})
	}
	if total != len(m.Content) {
		first := slices.IndexFunc(out, func(p place) bool { return p.kind == "text" })
		for i := range out {
			out[i].bytes = 0
			if i == first {
				out[i].bytes = len(m.Content)
			}
		}
	}
	return out
}
