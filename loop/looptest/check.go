package looptest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
)

// Check runs the conformance suite [hooktest.Check] on a hook of an agent, with a complete run.Env. In addition it
// runs an agent with the hook. That run must end, and the hook must not fail in it. newHook returns a new instance
// with the same configuration each time.
func Check(t *testing.T, newHook func() agent.Hook) {
	t.Helper()
	build := func() []hookkit.AnyPoint {
		hooks := new(agent.Hooks)
		hooks.Use(newHook())
		return hooks.Points()
	}
	hooktest.Check(t, build, hooktest.Env(checkedEnv))
	t.Run("a run of a loop", func(t *testing.T) { checkLoop(t, newHook()) })
}

// checkLoop runs an agent with the hook.
func checkLoop(t testing.TB, hook agent.Hook) {
	hooks := new(agent.Hooks)
	hooks.Use(hook)
	recorder := hooktest.Record(hooks.Points())
	failures := new(hookkit.TraceRecorder)
	hooks.Trace(failures)
	type place struct {
		At string `json:"at"`
	}
	look := func(context.Context, place) (string, error) { return "seen", nil }
	fail := func(context.Context, struct{}) (string, error) { return "", errors.New("down") }
	a := &loop.Agent{
		Name: "checked", Hooks: hooks, Model: &replies{all: loopReplies},
		Tools: []agent.Tool{loop.Tool("look", "Looks.", look), loop.Tool("fail", "Fails.", fail)},
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.Run(t.Context(), "go") // a hook may end the run with an error
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the run does not end")
	}
	recorder.Times(t, "OnRunEnd", 1)
	for _, e := range failures.Events() {
		if panicked := new(hookkit.PanicError); errors.As(e.Failure, &panicked) || errors.Is(e.Failure, hookkit.ErrGoexit) ||
			errors.Is(e.Failure, hookkit.ErrNoAnswer) || errors.Is(e.Failure, hookkit.ErrIllegal) {
			t.Errorf("%s: %v", e.Point, e.Failure)
		}
	}
}

// patience is the time limit for the run of a checked hook.
const patience = 20 * time.Second

// checkedEnv returns an environment in which every field is set.
func checkedEnv() *agent.Env {
	env := &agent.Env{
		Agent: "checked", Model: alwaysReplies{}, Tools: oneTool{}, Conversation: twoMessages{},
		Random: rand.NewPCG(1, 2), Seed: 1,
		Clock: stoppedClock{},
	}
	env.Counters = func() agent.Counters { return agent.Counters{Step: 3, MaxSteps: 20, ModelCalls: 3, ToolCalls: 2} }
	env.Exceeded = func(context.Context, agent.BudgetExceeded) {}
	env.RequestCompaction = func(string) {}
	env.RewriteConversation = func(string, func([]agent.Message) []agent.Message) {}
	env.UseCompactor = func(agent.Compactor) {}
	return env
}

type alwaysReplies struct{}

func (alwaysReplies) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{Content: "reply", FinishReason: "stop"}, ctx.Err()
}

// stoppedClock always returns the same time. A hook that sleeps on it wakes only when its context is done.
type stoppedClock struct{}

func (stoppedClock) Now() time.Time { return time.Unix(1_700_000_000, 0) }

func (stoppedClock) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

type oneTool struct{}

func (oneTool) Lookup(name string) (agent.ToolSchema, bool) {
	return agent.ToolSchema{
		Name: "look", Description: "Looks.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`),
	}, name == "look"
}
func (t oneTool) Schemas() []agent.ToolSchema { s, _ := t.Lookup("look"); return []agent.ToolSchema{s} }
func (oneTool) Add(agent.Tool) error          { return errors.New("the run is over") }

type twoMessages struct{}

func (twoMessages) ID() string { return "conversation" }
func (twoMessages) Messages() []agent.Message {
	return []agent.Message{{Role: agent.RoleUser, Content: "go"}, {Role: agent.RoleAssistant, Content: "going"}}
}

// loopReplies are the model's replies in the checked run: good, failing, unknown and malformed calls, then an
// answer.
var loopReplies = []agent.LLMResponse{
	{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
		{ID: "call_1", Name: "look", Args: json.RawMessage(`{"at":"a"}`)},
		{ID: "call_2", Name: "fail", Args: json.RawMessage(`{}`)},
		{ID: "call_3", Name: "unknown", Args: json.RawMessage(`{}`)},
	}},
	{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
		{ID: "call_4", Name: "look", Args: json.RawMessage(`not JSON`)},
	}},
	{FinishReason: "stop", Content: "done"},
}

// replies is a model that plays its replies in order and then fails. The checked hook may call it too.
type replies struct {
	all  []agent.LLMResponse
	next atomic.Int64
}

func (r *replies) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	at := int(r.next.Add(1)) - 1
	if at >= len(r.all) {
		return agent.LLMResponse{}, errors.New("no reply is left")
	}
	return r.all[at].Clone(), ctx.Err()
}

func (r *replies) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	reply, err := r.Generate(ctx, req)
	if err == nil {
		emit(agent.Delta{Content: reply.Content})
	}
	return reply, err
}
