package agentspec

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// An LLMRequest is one request to a model. For zero values the model decides.
type LLMRequest struct {
	Step           int             `json:"step"`
	Messages       []Message       `json:"messages"`
	Tools          []ToolSchema    `json:"tools,omitempty"`       // offered here; a call of any other is refused
	ToolChoice     string          `json:"tool_choice,omitempty"` // auto, none, required, or the name of a tool
	Model          string          `json:"model,omitempty"`
	ResponseFormat *ResponseFormat `json:"response_format,omitempty"` // nil: text
	MaxTokens      int             `json:"max_tokens,omitempty"`      // of the reply; 0: the default of the model
	Temperature    *float64        `json:"temperature,omitempty"`     // nil: the default of the model
	Seed           *uint64         `json:"seed,omitempty"`            // the seed of the run, unless the host set another

	// Extra holds settings that have no field here, by the names of the model API. The loop passes them on unread.
	// The values are valid JSON.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// Clone returns a deep copy of r.
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

// A ResponseFormat requests a certain format of the reply.
type ResponseFormat struct {
	Type   string          `json:"type"` // text, json_object or json_schema
	Name   string          `json:"name,omitempty"`
	Schema json.RawMessage `json:"schema,omitempty"` // for json_schema
	Strict bool            `json:"strict,omitempty"`
}

// An LLMResponse is one complete reply of a model.
type LLMResponse struct {
	Step         int               `json:"step"`
	Content      string            `json:"content"`
	Parts        []Part            `json:"parts,omitempty"`
	ToolCalls    []ToolCallRequest `json:"tool_calls,omitempty"` // in call order
	FinishReason string            `json:"finish_reason,omitempty"`
	Usage        Usage             `json:"usage"`
	Model        string            `json:"model,omitempty"` // the model that replied
	ID           string            `json:"id,omitempty"`    // as the model API names it
	Reasoning    string            `json:"reasoning,omitempty"`
	Elapsed      time.Duration     `json:"elapsed_ns,omitempty"` // of the call; 0 for a reply without a call

	// Extra holds data that the model API must get back with the message of the reply. The loop copies it to that
	// message unread. The values are valid JSON.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// FinishInterrupted is the FinishReason of a reply of which a person has read the beginning before the run was
// cancelled. Such a reply has this text only.
const FinishInterrupted = "interrupted"

// Message returns the assistant message for the conversation.
func (r LLMResponse) Message() Message {
	return Message{
		Role: RoleAssistant, Content: r.Content, Parts: r.Parts,
		ToolCalls: r.ToolCalls, Reasoning: r.Reasoning, Extra: r.Extra,
	}
}

// Cut reports whether the model stopped because it reached a limit on the tokens of the reply, in the words of the
// usual model APIs. The text of such a reply is incomplete, and so may be its last call.
func (r LLMResponse) Cut() bool {
	switch strings.ToLower(r.FinishReason) {
	case "length", "max_tokens", "max_output_tokens", "model_context_window_exceeded":
		return true
	}
	return false
}

// Clone returns a deep copy of r.
func (r LLMResponse) Clone() LLMResponse {
	m := r.Message().Clone()
	r.Parts, r.ToolCalls, r.Extra = m.Parts, m.ToolCalls, m.Extra
	return r
}

// Usage is the usage of model calls. Input includes cached input.
type Usage struct {
	Input      int     `json:"input_tokens"`
	Output     int     `json:"output_tokens"`
	CacheRead  int     `json:"cache_read_tokens,omitempty"`  // of Input, read from a cache
	CacheWrite int     `json:"cache_write_tokens,omitempty"` // of Input, written to a cache
	Cost       float64 `json:"cost,omitempty"`               // in the currency of the price list; 0: unknown
}

// Total is the sum of input and output tokens, at most math.MaxInt.
func (u Usage) Total() int { return sum(u.Input, u.Output) }

// Plus returns the sum of two usages. It guards against bad numbers from models, so that every limit is reached in
// the end. Sums of tokens saturate at math.MaxInt. Negative numbers and costs that are not finite count as 0.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: sum(u.Input, v.Input), Output: sum(u.Output, v.Output),
		CacheRead: sum(u.CacheRead, v.CacheRead), CacheWrite: sum(u.CacheWrite, v.CacheWrite),
		Cost: min(cost(u.Cost)+cost(v.Cost), math.MaxFloat64),
	}
}

// sum adds two counts. Negative counts are 0, and the sum saturates at math.MaxInt.
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

// A Pricer computes the cost of model calls. A hook sets one with [Env].UsePricer. A Model that knows the cost of its
// calls can implement Pricer instead. It must be safe for concurrent use.
type Pricer interface {
	// Price returns the cost of a reply, for its Usage.Cost, and whether the price is known. The Model of req is the name
	// that was requested in this attempt, or "" if the model has no name. A loop that has a limit on the cost calls
	// Price with a zero reply before each call, and does not make the call if the price of a named model is unknown. A
	// cost that is negative or not finite is unknown.
	Price(req LLMRequest, reply LLMResponse) (cost float64, known bool)
}

// A NamedModel knows the names of the models that answer, for example because its configuration has the name.
type NamedModel interface {
	// ModelName returns the name of the model that answers a request for the model requested, which may be "".
	ModelName(requested string) string
}

// A Model answers requests. It must be safe for concurrent use and return when ctx is done. If the prompt is too
// long, its error must be or wrap a [PromptTooLong].
//
// The messages of a request are not a copy, because a model is a trusted part of the program, unlike a hook. It
// must not change them. It may append to them and keep them, because the loop never changes them either. The loop
// copies the reply.
type Model interface {
	Generate(ctx context.Context, req LLMRequest) (LLMResponse, error)
}

// A StreamingModel also streams its replies. Stream calls emit in order, from one goroutine, and never after it
// has returned. It returns the complete reply.
type StreamingModel interface {
	Model
	Stream(ctx context.Context, req LLMRequest, emit func(Delta)) (LLMResponse, error)
}

// A ContextWindow is a model with a known limit on the tokens of a request and its reply.
type ContextWindow interface {
	ContextWindow() int
}

// A Delta is a piece of a streamed reply.
type Delta struct {
	Content   string         `json:"content,omitempty"`
	Reasoning string         `json:"reasoning,omitempty"`
	ToolCall  *ToolCallDelta `json:"tool_call,omitempty"`
}

// A ToolCallDelta is a piece of a tool call. Append Args to the previous pieces with the same Index.
type ToolCallDelta struct {
	Index int    `json:"index"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"`
}

// A Chunk is a Delta with its position. A retry of a request starts the reply again, with a higher Attempt.
type Chunk struct {
	Step    int   `json:"step"`
	Attempt int   `json:"attempt"` // from 1
	Index   int   `json:"index"`   // from 0, within the attempt
	Delta   Delta `json:"delta"`
}

// PromptTooLong is the error of a model whose request exceeds its context window. Unknown counts are 0.
type PromptTooLong struct {
	Tokens int
	Window int
}

// Error has the length of the prompt and the limit.
func (e *PromptTooLong) Error() string {
	if e.Tokens == 0 || e.Window == 0 {
		return "the prompt is too long for the model: shorten the conversation"
	}
	return fmt.Sprintf("the prompt has %d tokens, the model takes %d: shorten the conversation", e.Tokens, e.Window)
}

// An Embedder turns texts into vectors: the closer the meanings of two texts, the smaller the angle between their
// vectors. It returns one vector for each text, in the same order and all of one length. It is safe for concurrent use
// and returns when ctx is done.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
