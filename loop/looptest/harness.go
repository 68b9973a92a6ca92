// Package hooktest is what authors of hooks and loops test with.
//
//   - [Script] is a model that plays replies, tool calls, errors and functions, built by [Reply], [Call],
//     [Calls], [Echo], [Error] and [Func].
//   - [Tool] is a tool with a fixed result, error or delay that counts its calls.
//   - [Clock] is a clock that a test advances.
//   - [Recorder] remembers every fire and every decision, and who took it.
//   - [Loop] puts these together: one line runs an agent loop with hooks.
//
// The package may import loop; loop never imports it.
package hooktest

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A Loop is an agent loop for a test. The zero value has a model that is exhausted at once.
type Loop struct {
	Turns []Turn       // of the model; not used if Agent.Model is set
	Tools []agent.Tool // beside those of Agent
	Hooks []agent.Hook // in Agent.Hooks, or in new ones if that is nil
	Agent *loop.Agent  // what else the agent has; nil: nothing. It is changed by the first run
}

// A Ran is what came of a run of a Loop.
type Ran struct {
	agent.AgentResult
	Failed   error // what Run returned
	Script   *Script
	Recorder *Recorder
	Agent    *loop.Agent
}

// Run runs a task on a new loop, under a context that ends with the test. An error of the run is in the
// result, not a failure of the test.
func (l Loop) Run(t testing.TB, task string) *Ran {
	t.Helper()
	return l.Do(t, t.Context(), loop.Request{Task: task})
}

// Do is Run with a context and a conversation of the caller's.
func (l Loop) Do(t testing.TB, ctx context.Context, req loop.Request) *Ran {
	t.Helper()
	ran := l.Make()
	result, err := ran.Agent.Do(ctx, req)
	ran.AgentResult, ran.Failed = result, err
	return ran
}

// Make puts the loop together without running it.
func (l Loop) Make() *Ran {
	a := l.Agent
	if a == nil {
		a = &loop.Agent{Name: "tested"}
	}
	ran := &Ran{Script: NewScript(l.Turns...), Recorder: &Recorder{}, Agent: a}
	if a.Model == nil {
		a.Model = ran.Script
	}
	if script, ok := a.Model.(*Script); ok {
		ran.Script = script
	}
	a.Tools = append(a.Tools, l.Tools...)
	if a.Hooks == nil {
		a.Hooks = new(agent.Hooks)
	}
	for _, h := range l.Hooks {
		a.Hooks.Use(h)
	}
	ran.Recorder.Attach(a.Hooks)
	return ran
}
