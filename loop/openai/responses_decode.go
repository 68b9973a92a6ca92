package openai

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
)

// A response is the answer of the Responses API.
type response struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []output `json:"output"`
	Usage  struct {
		Input   modelhttp.Count `json:"input_tokens"`
		Output  modelhttp.Count `json:"output_tokens"`
		Details struct {
			Cached modelhttp.Count `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

// An output is an item of an answer: a message, a call or reasoning. Others, such as searches of the server, are left
// out of the reply.
type output struct {
	Type      string       `json:"type"`
	ID        string       `json:"id"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Arguments string       `json:"arguments"`
	Content   []outputText `json:"content"`
	Summary   []outputText `json:"summary"`
	Encrypted string       `json:"encrypted_content"`
}

type outputText struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal,omitempty"`
}

// An event is an event of a stream.
type event struct {
	Type    string   `json:"type"`
	Index   int      `json:"output_index"`
	Part    int      `json:"content_index"`
	Summary int      `json:"summary_index"`
	Delta   string   `json:"delta"`
	Item    output   `json:"item"`
	Whole   response `json:"response"`
}

// A responder decodes an answer of the Responses API. It emits the pieces of a stream, and then what they lack of the
// whole response, because some servers send no pieces of short texts.
type responder struct {
	emit   func(agent.Delta)
	answer *modelhttp.Reply
	whole  response
	items  []output // that are complete; some servers send a whole response without them

	text, reasoning strings.Builder // that were emitted
	part            [3]int          // of the last reasoning
	calls           map[int]int     // the position of a call by its output_index
	args            []int           // the bytes of arguments that were emitted, by the position of the call
}

// Whole decodes an answer that is not a stream.
func (d *responder) Whole(answer *modelhttp.Reply) error {
	d.answer = answer
	if err := answer.JSON(&d.whole); err != nil {
		return err
	}
	return d.end()
}

// Stream decodes a stream. It is complete with the event that has the whole response.
func (d *responder) Stream(answer *modelhttp.Reply) error {
	d.answer = answer
	for {
		next, err := answer.Next()
		if errors.Is(err, io.EOF) || err == nil && string(next.Data) == "[DONE]" {
			return answer.Cut()
		}
		if err != nil {
			return err
		}
		var e event
		if err := answer.Decode(next.Data, &e); err != nil {
			return err
		}
		switch e.Type {
		case "response.completed", "response.incomplete", "response.failed":
			d.whole = e.Whole
			return d.end()
		case "error":
			return d.failure(next.Data)
		}
		d.add(e)
	}
}

// add adds a piece of the reply.
func (d *responder) add(e event) {
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		d.say(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		at := [3]int{e.Index, e.Summary, e.Part}
		if at != d.part && d.reasoning.Len() > 0 {
			d.think("\n\n")
		}
		d.part = at
		d.think(e.Delta)
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			d.begin(e.Index, e.Item)
		}
	case "response.function_call_arguments.delta":
		if at, ok := d.calls[e.Index]; ok {
			d.argue(at, e.Delta)
		}
	case "response.output_item.done":
		d.items = append(d.items, e.Item)
	}
}

func (d *responder) say(text string) {
	if d.text.WriteString(text); text != "" {
		d.emit(agent.Delta{Content: text})
	}
}

func (d *responder) think(text string) {
	if d.reasoning.WriteString(text); text != "" {
		d.emit(agent.Delta{Reasoning: text})
	}
}

func (d *responder) begin(index int, call output) {
	if d.calls == nil {
		d.calls = make(map[int]int)
	}
	d.calls[index] = len(d.args)
	d.emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: len(d.args), ID: call.CallID, Name: call.Name}})
	d.args = append(d.args, 0)
}

func (d *responder) argue(at int, args string) {
	if d.args[at] += len(args); args != "" {
		d.emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: at, Args: args}})
	}
}

// end checks the whole response.
func (d *responder) end() error {
	if d.whole.Status == "failed" || len(d.whole.Error) > 0 && string(d.whole.Error) != "null" {
		return d.failure(d.whole.Error)
	}
	if len(d.whole.Output) == 0 {
		d.whole.Output = d.items
	}
	if len(d.whole.Output) == 0 && d.whole.Status != "incomplete" {
		return d.answer.Invalid("it has no output")
	}
	return nil
}

func (d *responder) failure(data json.RawMessage) error {
	kind, code, message := modelhttp.Reported(data)
	return d.answer.Failed(statusOf(kind, code), kind, code, message)
}

// reply returns the reply, and emits the text that the pieces lack.
func (d *responder) reply() agent.LLMResponse {
	reply := agent.LLMResponse{ID: d.whole.ID, Model: d.whole.Model, Usage: agent.Usage{
		Input: int(d.whole.Usage.Input), Output: int(d.whole.Usage.Output), CacheRead: int(d.whole.Usage.Details.Cached),
	}}
	var (
		text     strings.Builder
		summary  []string
		thoughts []thought
		refused  bool
	)
	for _, o := range d.whole.Output {
		switch o.Type {
		case "message":
			for _, c := range o.Content {
				text.WriteString(c.Text + c.Refusal)
				refused = refused || c.Refusal != ""
			}
		case "function_call":
			reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{
				ID: o.CallID, Name: o.Name, Args: json.RawMessage(o.Arguments),
			})
		case "reasoning":
			shown := o.Summary
			if len(shown) == 0 {
				shown = o.Content
			}
			for _, c := range shown {
				summary = append(summary, c.Text)
			}
			if o.Encrypted != "" {
				before := len(reply.ToolCalls)
				if text.Len() > 0 {
					before++
				}
				thoughts = append(thoughts, newThought(before, o))
			}
		}
	}
	reply.Content, reply.Reasoning = text.String(), strings.Join(summary, "\n\n")
	if len(thoughts) > 0 {
		data, _ := json.Marshal(thoughts) // texts can be encoded
		reply.Extra = map[string]json.RawMessage{reasoningKey: data}
	}
	d.complete(reply)
	switch {
	case refused:
		reply.FinishReason = "refusal"
	case d.whole.Status == "incomplete" && d.whole.Incomplete.Reason != "max_output_tokens":
		reply.FinishReason = d.whole.Incomplete.Reason
	case d.whole.Status == "incomplete":
		reply.FinishReason = "length"
	case len(reply.ToolCalls) > 0:
		reply.FinishReason = "tool_calls"
	default:
		reply.FinishReason = "stop"
	}
	return reply
}

// newThought returns the item that goes back to the server: the reasoning, without fields that only answers have.
func newThought(before int, o output) thought {
	if o.Summary == nil {
		o.Summary = []outputText{} // the API requires a list
	}
	data, _ := json.Marshal(map[string]any{ // texts can be encoded
		"type": o.Type, "id": o.ID, "summary": o.Summary, "encrypted_content": o.Encrypted,
	})
	return thought{before, data}
}

// complete emits the text of the reply that the pieces lack.
func (d *responder) complete(reply agent.LLMResponse) {
	if rest, ok := strings.CutPrefix(reply.Reasoning, d.reasoning.String()); ok {
		d.think(rest)
	}
	if rest, ok := strings.CutPrefix(reply.Content, d.text.String()); ok {
		d.say(rest)
	}
	for i, c := range reply.ToolCalls {
		if i == len(d.args) {
			d.begin(-1-i, output{CallID: c.ID, Name: c.Name})
		}
		if d.args[i] < len(c.Args) {
			d.argue(i, string(c.Args[d.args[i]:]))
		}
	}
}
