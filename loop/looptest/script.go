package looptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Script is a model that plays turns in order: replies, tool calls, errors and functions. After the last turn it
// fails. It streams word by word. Make one with [NewScript]. It is safe for concurrent use.
//
// If a turn has a Usage.Cost, the costs of all turns are known, so that the script can be used with Limits.Cost.
type Script struct {
	mu      sync.Mutex
	turns   []Turn
	next    int
	forEach bool
	ofRun   map[string]int // the next turn of each run
	calls   []ScriptCall
	name    string
}

// A ScriptCall is one recorded call of a script.
type ScriptCall struct {
	Run      string           // the calling run, "" outside a run
	Request  agent.LLMRequest // a copy of the whole request
	Streamed bool
	Response agent.LLMResponse
	Err      error
}

// ErrExhausted is the error of a script without a turn left. The error of Generate wraps it.
var ErrExhausted = errors.New("the script is exhausted")

// NewScript returns a script of the turns. Its tool calls get stable ids that are unique in the script. For
// example, call_1_2 is the second call of the first turn.
func NewScript(turns ...Turn) *Script {
	s := &Script{}
	return s.Add(turns...)
}

// Named prefixes the ids of tool calls that are added from now on with name. Use it if one test has two scripts,
// whose ids would be equal otherwise. It returns the script.
func (s *Script) Named(name string) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name + "_"
	for i := range s.turns {
		s.turns[i] = s.turns[i].identified(i, s.name)
	}
	return s
}

// ForEachRun makes the script start with its first turn in every run, so that many runs can share the script. It
// returns the script.
func (s *Script) ForEachRun() *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forEach, s.ofRun = true, make(map[string]int)
	return s
}

// Add adds turns at the end and returns the script.
func (s *Script) Add(turns ...Turn) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range turns {
		s.turns = append(s.turns, t.identified(len(s.turns), s.name))
	}
	return s
}

// Price implements agent.Pricer: the cost is that of the turn.
func (s *Script) Price(_ agent.LLMRequest, reply agent.LLMResponse) (cost float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known = slices.ContainsFunc(s.turns, func(t Turn) bool { return t.response.Usage.Cost != 0 })
	return reply.Usage.Cost, known
}

// Calls returns the recorded calls in order.
func (s *Script) Calls() []ScriptCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]ScriptCall, len(s.calls))
	for i, c := range s.calls {
		c.Request, c.Response = c.Request.Clone(), c.Response.Clone()
		out[i] = c
	}
	return out
}

// Requests returns the requests of Calls.
func (s *Script) Requests() []agent.LLMRequest {
	var out []agent.LLMRequest
	for _, c := range s.Calls() {
		out = append(out, c.Request)
	}
	return out
}

// Remaining returns the number of turns left. After ForEachRun it is the number of turns for a new run.
func (s *Script) Remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns) - s.next
}

// Generate plays the next turn.
func (s *Script) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return s.play(ctx, req, nil)
}

// Stream plays the next turn and emits its text word by word, then its tool calls.
func (s *Script) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return s.play(ctx, req, emit)
}

func (s *Script) play(
	ctx context.Context, req agent.LLMRequest, emit func(agent.Delta),
) (reply agent.LLMResponse, err error) {
	call := ScriptCall{Run: agentspec.RunID(ctx), Request: req.Clone(), Streamed: emit != nil}
	turn, at, err := s.take(call)
	if err != nil {
		return reply, err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls[at].Response, s.calls[at].Err = reply.Clone(), err
	}()
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	if turn.f != nil {
		reply, err = turn.f(ctx, req)
	} else {
		reply, err = turn.response.Clone(), turn.err
	}
	if emit != nil && err == nil {
		emitAll(reply, emit)
	}
	return reply, err
}

// take records a call and returns the turn that answers it.
func (s *Script) take(call ScriptCall) (Turn, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.next
	if s.forEach {
		next = s.ofRun[call.Run]
		s.ofRun[call.Run]++
	} else if s.next < len(s.turns) {
		s.next++
	}
	s.calls = append(s.calls, call)
	at := len(s.calls) - 1
	if next >= len(s.turns) {
		err := fmt.Errorf("%w: it has %d turns and was called once more; add a turn, or find out why the loop continues",
			ErrExhausted, len(s.turns))
		s.calls[at].Err = err
		return Turn{}, at, err
	}
	return s.turns[next], at, nil
}

func emitAll(reply agent.LLMResponse, emit func(agent.Delta)) {
	if reply.Reasoning != "" {
		emit(agent.Delta{Reasoning: reply.Reasoning})
	}
	for _, word := range strings.SplitAfter(reply.Content, " ") {
		if word != "" {
			emit(agent.Delta{Content: word})
		}
	}
	for i, c := range reply.ToolCalls {
		emit(agent.Delta{ToolCall: &agent.ToolCallDelta{Index: i, ID: c.ID, Name: c.Name, Args: string(c.Args)}})
	}
}
