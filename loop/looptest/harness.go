package looptest

import (
	"context"
	"errors"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
)

// A Harness runs an agent for a test: the model plays Turns, and a recorder observes every fire. Use it for a test
// that checks fires or model requests; otherwise a [loop.Agent] with a [Script] is enough. The model of the zero
// value has no turn, so its run fails with [ErrExhausted].
type Harness struct {
	Turns []Turn       // of the model; ignored if Agent.Model is set
	Tools []agent.Tool // in addition to those of Agent
	Hooks []agent.Hook // added to Agent.Hooks, or to new Hooks if that is nil
	Agent *loop.Agent  // the rest of the agent; may be nil. The first run changes it
}

// A Ran is the result of a run of a [Harness], with the parts that a test checks.
type Ran struct {
	agent.AgentResult
	Returned error // the error of Run
	Failed   error // the same, or nil if the run was only stopped or suspended
	Script   *Script
	Recorder *hooktest.Recorder
	Trace    *hookkit.TraceRecorder // every hook call
	Agent    *loop.Agent
}

// Run runs a task under a context that ends with the test. An error of the run is in Ran.Failed and does not fail
// the test.
func (h Harness) Run(t testing.TB, task string) *Ran {
	t.Helper()
	return h.Do(t, t.Context(), loop.Request{Task: task})
}

// Do is like Run with the caller's context and conversation.
func (h Harness) Do(t testing.TB, ctx context.Context, req loop.Request) *Ran {
	t.Helper()
	ran := h.Make()
	result, err := ran.Agent.Do(ctx, req)
	ran.Returned = err
	ran.AgentResult, ran.Failed = Ended(result, err)
	return ran
}

// Ended returns the result of a run and its error, or nil for the error if the run was only stopped or suspended. For
// example, a test of a limit checks the result of Ended(a.Run(ctx, task)).
func Ended(result agent.AgentResult, err error) (agent.AgentResult, error) {
	if stopped := new(loop.StoppedError); errors.As(err, &stopped) || errors.Is(err, loop.ErrSuspended) {
		err = nil
	}
	return result, err
}

// Make builds the agent without running it.
func (h Harness) Make() *Ran {
	a := h.Agent
	if a == nil {
		a = &loop.Agent{Name: "tested"}
	}
	ran := &Ran{Script: NewScript(h.Turns...), Trace: new(hookkit.TraceRecorder), Agent: a}
	if a.Model == nil {
		a.Model = ran.Script
	}
	if script, ok := a.Model.(*Script); ok {
		ran.Script = script
	}
	a.Tools = append(a.Tools, h.Tools...)
	if a.Hooks == nil {
		a.Hooks = new(agent.Hooks)
	}
	for _, hook := range h.Hooks {
		a.Hooks.Use(hook)
	}
	ran.Recorder = hooktest.Record(a.Hooks.Points())
	a.Hooks.Trace(ran.Trace)
	return ran
}
