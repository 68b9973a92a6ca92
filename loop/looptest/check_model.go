package looptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// CheckModel runs a conformance suite on a model, for authors of models. It checks replies with text and parallel
// calls, streaming, usage, finish reasons, cancellation, concurrent use, and that requests are not changed.
//
// The author gives the model another side that says what the suite wants. newModel returns a model whose other side
// answers each request with the next of the replies. Without a reply left it accepts the request and never answers. For
// the model of an API, the other side is a test server that encodes the replies. End it with t.Cleanup. For example:
//
//	looptest.CheckModel(t, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
//		server := serve(t, replies)
//		return &mymodel.Model{URL: server.URL}
//	})
//
// The replies have texts, calls with ids and JSON arguments, a finish reason of chat completions (stop, length or
// tool_calls), and a usage. A model may leave out the reasoning and the cached tokens of a reply, if its API has none.
func CheckModel(t *testing.T, newModel func(t testing.TB, replies ...agent.LLMResponse) agent.Model) {
	t.Helper()
	for _, check := range modelChecks {
		t.Run(check.name, func(t *testing.T) { check.run(t, newModel) })
	}
}

// newModelFunc is the parameter of CheckModel.
type newModelFunc = func(t testing.TB, replies ...agent.LLMResponse) agent.Model

var modelChecks = []struct {
	name string
	run  func(testing.TB, newModelFunc)
}{
	{"replies", checkReplies},
	{"streamed replies", checkStreams},
	{"requests stay unchanged", checkRequests},
	{"cancelled before", checkCancelledBefore},
	{"cancelled while waiting", checkCancelledWaiting},
	{"deadline while waiting", checkDeadline},
	{"cancelled while streaming", checkCancelledStreaming},
	{"concurrent use", checkConcurrent},
	{"window", checkWindow},
}

// modelReplies are the replies of the checks, by name.
func modelReplies() map[string]agent.LLMResponse {
	calls := []agent.ToolCallRequest{
		{ID: "call_a", Name: "look", Args: json.RawMessage(`{"at":"the \"door\" \u00e9\ud83d\ude00\n","depth":3}`)},
		{ID: "call_b", Name: "look", Args: json.RawMessage(`{}`)},
		{ID: "call_c", Name: "write_file", Args: json.RawMessage(`{"lines":["a","b"],"nested":{"deep":[null,true,1.5]}}`)},
	}
	usage := agent.Usage{Input: 120, Output: 7, CacheRead: 80}
	return map[string]agent.LLMResponse{
		"text": {
			Content:      "A reply.\n\nWith é, 😀, \"quotes\" and <tags> & spaces at the end. ",
			FinishReason: "stop", Usage: usage,
		},
		"one call":       {ToolCalls: calls[:1], FinishReason: "tool_calls", Usage: usage},
		"parallel calls": {ToolCalls: calls, FinishReason: "tool_calls", Usage: usage},
		"text and calls": {Content: "I look.", ToolCalls: calls[1:], FinishReason: "tool_calls", Usage: usage},
		"reasoning":      {Reasoning: "They greet me.\nI greet them.", Content: "Hello.", FinishReason: "stop", Usage: usage},
		"cut off":        {Content: "It was a dark and", FinishReason: "length", Usage: usage},
	}
}

// modelRequest is a request with every kind of message.
func modelRequest() agent.LLMRequest {
	temperature, seed := 0.5, uint64(7)
	look := agent.ToolSchema{
		Name: "look", Description: "Looks.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
	}
	image := agent.Part{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n"), Name: "door.png"}
	return agent.LLMRequest{
		Step: 2, Model: "checked", MaxTokens: 1000, Temperature: &temperature, Seed: &seed, ToolChoice: "auto",
		Tools: []agent.ToolSchema{look, {Name: "write_file"}},
		Messages: []agent.Message{
			{Role: agent.RoleSystem, Content: "You look."},
			{Role: agent.RoleUser, Content: "Look at this.", Name: "ann", Parts: []agent.Part{image}},
			{Role: agent.RoleAssistant, Content: "I look.", Reasoning: "An image.", ToolCalls: []agent.ToolCallRequest{
				{ID: "call_1", Name: "look", Args: json.RawMessage(`{"at":"door"}`)},
				{ID: "call_2", Name: "look", Args: json.RawMessage(`not JSON`)},
			}},
			{Role: agent.RoleTool, Name: "look", ToolCallID: "call_1", Content: "A door.", Parts: []agent.Part{image}},
			{Role: agent.RoleTool, Name: "look", ToolCallID: "call_2", Content: "error: not JSON", IsError: true},
			{Role: agent.RoleAssistant, Content: "A door."},
			{Role: agent.RoleUser, Content: "And now?"},
			{Role: agent.RoleSystem, Name: agentspec.BriefingName, Content: "It is late."},
		},
	}
}

func checkReplies(t testing.TB, newModel newModelFunc) {
	for name, want := range modelReplies() {
		got, err := within(t, func() (agent.LLMResponse, error) {
			return newModel(t, want.Clone()).Generate(t.Context(), modelRequest())
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, problem := range differences(want, got) {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

func checkStreams(t testing.TB, newModel newModelFunc) {
	if _, ok := newModel(t).(agent.StreamingModel); !ok {
		return
	}
	for name, want := range modelReplies() {
		model := newModel(t, want.Clone(), want.Clone(), want.Clone())
		pieces := &collected{t: t, name: name}
		got, err := within(t, func() (agent.LLMResponse, error) {
			reply, err := model.(agent.StreamingModel).Stream(t.Context(), modelRequest(), pieces.emit)
			pieces.over.Store(true)
			return reply, err
		})
		if err != nil {
			t.Errorf("%s: Stream: %v", name, err)
			continue
		}
		for _, problem := range differences(want, got) {
			t.Errorf("%s: Stream: %s", name, problem)
		}
		pieces.compare(got)
		whole, err := within(t, func() (agent.LLMResponse, error) { return model.Generate(t.Context(), modelRequest()) })
		if err != nil {
			t.Errorf("%s: Generate after Stream: %v", name, err)
			continue
		}
		for _, problem := range differences(whole, got) {
			t.Errorf("%s: Stream and Generate differ: %s", name, problem)
		}
	}
}

// A collected adds up the pieces of a streamed reply.
type collected struct {
	t    testing.TB
	name string
	busy atomic.Bool
	over atomic.Bool // Stream has returned

	mu                 sync.Mutex
	content, reasoning string
	calls              []agent.ToolCallDelta
}

func (c *collected) emit(d agent.Delta) {
	if c.over.Load() {
		c.t.Errorf("%s: emit was called after Stream had returned", c.name)
		return
	}
	if c.busy.Swap(true) {
		c.t.Errorf("%s: emit was called twice at the same time; emit from one goroutine", c.name)
		return
	}
	defer c.busy.Store(false)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.content += d.Content
	c.reasoning += d.Reasoning
	if d.ToolCall == nil {
		return
	}
	at := d.ToolCall.Index
	if at < 0 || at > len(c.calls) {
		c.t.Errorf("%s: a piece has the index %d after %d calls; count the calls from 0", c.name, at, len(c.calls))
		return
	}
	if at == len(c.calls) {
		c.calls = append(c.calls, agent.ToolCallDelta{Index: at})
	}
	c.calls[at].ID += d.ToolCall.ID
	c.calls[at].Name += d.ToolCall.Name
	c.calls[at].Args += d.ToolCall.Args
}

// compare reports pieces that do not add up to the reply.
func (c *collected) compare(reply agent.LLMResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.content != reply.Content {
		c.t.Errorf("%s: the pieces of the text are %q, the reply has %q", c.name, c.content, reply.Content)
	}
	if c.reasoning != reply.Reasoning {
		c.t.Errorf("%s: the pieces of the reasoning are %q, the reply has %q", c.name, c.reasoning, reply.Reasoning)
	}
	var calls []agent.ToolCallDelta
	for i, call := range reply.ToolCalls {
		calls = append(calls, agent.ToolCallDelta{Index: i, ID: call.ID, Name: call.Name, Args: string(call.Args)})
	}
	if !slices.Equal(calls, c.calls) {
		c.t.Errorf("%s: the pieces of the calls are %+v, the reply has %+v", c.name, c.calls, calls)
	}
}

func checkRequests(t testing.TB, newModel newModelFunc) {
	model := newModel(t, modelReplies()["text"], modelReplies()["text"])
	for name, send := range ways(model) {
		req := modelRequest()
		if _, err := within(t, func() (agent.LLMResponse, error) { return send(t.Context(), req, nothing) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := modelRequest(); !reflect.DeepEqual(req, want) {
			t.Errorf("%s: the request was changed to %+v, it was %+v; copy what you change", name, req, want)
		}
	}
}

func checkCancelledBefore(t testing.TB, newModel newModelFunc) {
	model := newModel(t, modelReplies()["text"], modelReplies()["text"])
	for name, send := range ways(model) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := within(t, func() (agent.LLMResponse, error) { return send(ctx, modelRequest(), nothing) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context returned %v; return an error that wraps ctx.Err()", name, err)
		}
	}
}

func checkCancelledWaiting(t testing.TB, newModel newModelFunc) {
	model := newModel(t)
	for name, send := range ways(model) {
		ctx, cancel := context.WithCancel(t.Context())
		looked := &noticed{Context: ctx, seen: cancel}
		_, err := within(t, func() (agent.LLMResponse, error) { return send(looked, modelRequest(), nothing) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned %v after its context was cancelled; return an error that wraps ctx.Err()", name, err)
		}
		cancel()
	}
}

// A noticed is a context that is cancelled as soon as somebody waits for its end.
type noticed struct {
	context.Context
	seen func()
}

// Done cancels the context.
func (n *noticed) Done() <-chan struct{} {
	n.seen()
	return n.Context.Done()
}

func checkDeadline(t testing.TB, newModel newModelFunc) {
	model := newModel(t)
	for name, send := range ways(model) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := within(t, func() (agent.LLMResponse, error) { return send(ctx, modelRequest(), nothing) })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s returned %v after its deadline; return an error that wraps ctx.Err()", name, err)
		}
		cancel()
	}
}

func checkCancelledStreaming(t testing.TB, newModel newModelFunc) {
	want := modelReplies()["text"]
	model, ok := newModel(t, want.Clone()).(agent.StreamingModel)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err := within(t, func() (agent.LLMResponse, error) {
		return model.Stream(ctx, modelRequest(), func(agent.Delta) { cancel() })
	})
	switch {
	case err == nil: // all of it had arrived
		for _, problem := range differences(want, got) {
			t.Errorf("the reply of a cancelled stream: %s; return an error instead of a part", problem)
		}
	case !errors.Is(err, context.Canceled):
		t.Errorf("Stream returned %v after its context was cancelled; return an error that wraps ctx.Err()", err)
	}
}

func checkConcurrent(t testing.TB, newModel newModelFunc) {
	const n = 8
	var want, got []string
	replies := make([]agent.LLMResponse, n)
	for i := range replies {
		replies[i] = modelReplies()["parallel calls"].Clone()
		replies[i].Content = fmt.Sprint("reply ", i)
		want = append(want, replies[i].Content)
	}
	model, req := newModel(t, replies...), modelRequest()
	var (
		mu   sync.Mutex
		wait sync.WaitGroup
	)
	for i := range n {
		send := ways(model)["Generate"]
		if stream, ok := ways(model)["Stream"]; ok && i%2 == 1 {
			send = stream
		}
		wait.Go(func() {
			reply, err := within(t, func() (agent.LLMResponse, error) { return send(t.Context(), req, nothing) })
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("concurrent use: %v", err)
				return
			}
			got = append(got, reply.Content)
			if len(reply.ToolCalls) != 3 {
				t.Errorf("concurrent use: a reply has %d calls, not 3; do the calls of a model share data?", len(reply.ToolCalls))
			}
		})
	}
	wait.Wait()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("concurrent use: got the replies %q, want %q", got, want)
	}
}

func checkWindow(t testing.TB, newModel newModelFunc) {
	if w, ok := newModel(t).(agent.ContextWindow); ok && w.ContextWindow() < 0 {
		t.Errorf("the context window is %d; return 0 if it is unknown", w.ContextWindow())
	}
}

func nothing(agent.Delta) {}

// ways returns the methods of a model that send a request, by name.
func ways(m agent.Model) map[string]func(
	context.Context, agent.LLMRequest, func(agent.Delta),
) (agent.LLMResponse, error) {
	type send = func(context.Context, agent.LLMRequest, func(agent.Delta)) (agent.LLMResponse, error)
	all := map[string]send{"Generate": func(
		ctx context.Context, req agent.LLMRequest, _ func(agent.Delta),
	) (agent.LLMResponse, error) {
		return m.Generate(ctx, req)
	}}
	if s, ok := m.(agent.StreamingModel); ok {
		all["Stream"] = s.Stream
	}
	return all
}

// within returns the result of f. It fails the test if f takes too long.
func within(t testing.TB, f func() (agent.LLMResponse, error)) (agent.LLMResponse, error) {
	t.Helper()
	type result struct {
		reply agent.LLMResponse
		err   error
	}
	done := make(chan result, 1)
	go func() {
		reply, err := f()
		done <- result{reply, err}
	}()
	select {
	case r := <-done:
		return r.reply, r.err
	case <-time.After(patience):
		return agent.LLMResponse{}, fmt.Errorf("the model did not return within %v; return when ctx is done", patience)
	}
}

// differences lists the fields in which a reply is not as wanted.
func differences(want, got agent.LLMResponse) []string {
	var out []string
	note := func(field string, want, got any) {
		if !reflect.DeepEqual(want, got) {
			out = append(out, fmt.Sprintf("%s is %+v, want %+v", field, got, want))
		}
	}
	note("Content", want.Content, got.Content)
	note("FinishReason", want.FinishReason, got.FinishReason)
	note("Usage.Input", want.Usage.Input, got.Usage.Input)
	note("Usage.Output", want.Usage.Output, got.Usage.Output)
	if got.Usage.CacheRead != 0 {
		note("Usage.CacheRead", want.Usage.CacheRead, got.Usage.CacheRead)
	}
	if got.Reasoning != "" {
		note("Reasoning", want.Reasoning, got.Reasoning)
	}
	note("the number of calls", len(want.ToolCalls), len(got.ToolCalls))
	for i := range min(len(want.ToolCalls), len(got.ToolCalls)) {
		w, g := want.ToolCalls[i], got.ToolCalls[i]
		at := fmt.Sprintf("ToolCalls[%d].", i)
		note(at+"ID", w.ID, g.ID)
		note(at+"Name", w.Name, g.Name)
		note(at+"Args", compact(w.Args), compact(g.Args))
	}
	return out
}

// compact returns JSON without insignificant space, and with escapes that mean the same written alike.
func compact(args json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return string(args)
	}
	text, _ := json.Marshal(value) // it was JSON
	return string(text)
}
