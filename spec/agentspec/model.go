package agentspec

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// An LLMRequest is one request to a model. Its zero values leave the choice to the model.
type LLMRequest struct {
	Step           int             `json:"step"`
	Messages       []Message       `json:"messages"`
	Tools          []ToolSchema    `json:"tools,omitempty"`       // offered in this request; a call of any other is refused
	ToolChoice     string          `json:"tool_choice,omitempty"` // auto, none, required, or the name of a tool
	Model          string          `json:"model,omitempty"`
	ResponseFormat *ResponseFormat `json:"response_format,omitempty"` // nil: text
	MaxTokens      int             `json:"max_tokens,omitempty"`      // of the reply; 0: the model's own limit
	Temperature    *float64        `json:"temperature,omitempty"`     // nil: the model's own
	Seed           *uint64         `json:"seed,omitempty"`            // that of the run, unless the host set another one

	// Extra holds settings that this type has no field for, by the names of the model's interface. The loop
	// carries it along unread. Its values are valid JSON.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Clone returns a copy that shares no memory with r that could be changed.
func (r LLMRequest) Clone() LLMRequest {
	r.Messages = CloneMessages(r.Messages)
	r.Tools = slices.Clone(r.Tools)
	for i := range r.Tools {
		r.Tools[i].Parameters = slices.Clone(r.Tools[i].Parameters)
	}
	if r.ResponseFormat != nil {
		f := *r.ResponseFormat
		f.Schema = slices.Clone(f.Schema)
		r.ResponseFormat = &f
	}
	if r.Temperature != nil {
		t := *r.Temperature
		r.Temperature = &t
	}
	if r.Seed != nil {
		s := *r.Seed
		r.Seed = &s
	}
	r.Extra = cloneExtra(r.Extra)
	return r
}

// A ResponseFormat asks for a reply of a given form.
type ResponseFormat struct {
	Type   string          `json:"type"` // text, json_object or json_schema
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"` // for json_schema
	Strict bool            `json:"strict,omitempty"`
}

// An LLMResponse is one reply of a model, complete.
type LLMResponse struct {
	Step         int               `json:"step"`
	Content      string            `json:"content"`
	Parts        []Part            `json:"parts,omitempty"`
	ToolCalls    []ToolCallRequest `json:"tool_calls,omitempty"` // in call order
	FinishReason string            `json:"finish_reason,omitempty"`
	Usage        Usage             `json:"usage"`
	Model        string            `json:"model,omitempty"` // that replied
	ID           string            `json:"id,omitempty"`    // of the reply, as the model's interface names it
	Reasoning    string            `json:"reasoning,omitempty"`
	Elapsed      time.Duration     `json:"elapsed_ns,omitempty"` // of the call; 0 for a reply that no call made

	// Extra holds what the model's interface needs back with the reply's message. The loop carries it into
	// that message unread. Its values are valid JSON.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Message returns the assistant message that the reply makes in a conversation.
func (r LLMResponse) Message() Message {
	return Message{
		Role: RoleAssistant, Content: r.Content, Parts: r.Parts,
		ToolCalls: r.ToolCalls, Reasoning: r.Reasoning, Extra: r.Extra,
	}
}

// Clone returns a copy that shares no memory with r that could be changed.
func (r LLMResponse) Clone() LLMResponse {
	m := r.Message().Clone()
	r.Parts, r.ToolCalls, r.Extra = m.Parts, m.ToolCalls, m.Extra
	return r
}

// Usage is what model calls used. Cached input is counted in Input too.
type Usage struct {
	Input      int     `json:"input_tokens"`
	Output     int     `json:"output_tokens"`
	CacheRead  int     `json:"cache_read_tokens,omitempty"`  // of Input, read from a cache
	CacheWrite int     `json:"cache_write_tokens,omitempty"` // of Input, written to a cache
	Cost       float64 `json:"cost,omitempty"`               // in the currency of whoever priced it; 0: not known
}

// Total is the sum of input and output tokens, at most math.MaxInt.
func (u Usage) Total() int { return sum(u.Input, u.Output) }

// Plus returns the sum of two usages, so that a limit is reached whatever a model reports: sums of tokens stop at
// math.MaxInt, and counts and costs below 0 are 0. So is a cost that is not a finite number.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: sum(u.Input, v.Input), Output: sum(u.Output, v.Output),
		CacheRead: sum(u.CacheRead, v.CacheRead), CacheWrite: sum(u.CacheWrite, v.CacheWrite),
		Cost: min(cost(u.Cost)+cost(v.Cost), math.MaxFloat64),
	}
}

// sum adds counts, of which those below 0 are 0, up to the largest number.
func sum(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func cost(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return max(f, 0)
}

// A Model answers requests. It must be safe for concurrent use and return when ctx is done. An error that says
// that the prompt is too long is or wraps a [PromptTooLong].
//
// A model is part of the program, unlike a hook, so it is trusted with the stored conversation itself: the
// messages of a request are not a copy. It must not change them. It may append to them and keep them, because
// the loop does not change them either. The loop copies the reply.
type Model interface {
	Generate(ctx context.Context, req LLMRequest) (LLMResponse, error)
}

// A StreamingModel can also report a reply while it comes in. Stream calls emit in order and from one
// goroutine, not after it returned, and returns the complete reply.
type StreamingModel interface {
	Model
	Stream(ctx context.Context, req LLMRequest, emit func(Delta)) (LLMResponse, error)
}

// A ContextWindow is a model that knows how many tokens a request and its reply may have together.
type ContextWindow interface {
	ContextWindow() int
}

// A Delta is a piece of a reply that is still coming in.
type Delta struct {
	Content   string         `json:"content,omitempty"`
	Reasoning string         `json:"reasoning,omitempty"`
	ToolCall  *ToolCallDelta `json:"tool_call,omitempty"`
}

// A ToolCallDelta is a piece of a tool call: Args are to be appended to what came before for the Index.
type ToolCallDelta struct {
	Index int    `json:"index"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"`
}

// A Chunk is a Delta and where it belongs. A retry of the same request has a higher Attempt and starts
// the reply anew.
type Chunk struct {
	Step    int   `json:"step"`
	Attempt int   `json:"attempt"` // from 1
	Index   int   `json:"index"`   // from 0, within the attempt
	Delta   Delta `json:"delta"`
}

// PromptTooLong is the error of a model whose request does not fit its context window. Counts are 0 where
// they are not known.
type PromptTooLong struct {
	Tokens int
	Window int
}

// Error says how long the prompt is and how long it may be.
func (e *PromptTooLong) Error() string {
	if e.Tokens == 0 || e.Window == 0 {
		return "the prompt is too long for the model: shorten the conversation"
	}
	return fmt.Sprintf("the prompt has %d tokens, the model takes %d: shorten the conversation", e.Tokens, e.Window)
}
