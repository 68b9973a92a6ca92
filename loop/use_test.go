package loop_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// seenBy returns a hook that records the agents of the runs that it sees.
func seenBy(seen *[]string) agent.Hook {
	var mu sync.Mutex
	return beforeLLMOf(func(run *agent.Run) {
		mu.Lock()
		defer mu.Unlock()
		*seen = append(*seen, run.Env.Agent)
	})
}

// TestHooksOfRequestBelongToItsRun: they see the run and the runs that it starts, and no other run.
func TestHooksOfRequestBelongToItsRun(t *testing.T) {
	var seen, inner []string
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("done")).ForEachRun(),
		Hooks: loop.Hooks(seenBy(&inner))}
	a := &loop.Agent{Name: "main", Tools: tools(loop.Subagent(helper)), Hooks: new(agent.Hooks),
		Model: looptest.NewScript(looptest.Call("helper", `{"task":"t"}`), looptest.Reply("ok")).ForEachRun()}
	for _, use := range [][]agent.Hook{hooks(seenBy(&seen)), nil} {
		if _, err := looptest.Ended(a.Do(t.Context(), loop.Request{Task: "x", Use: use})); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(seen, []string{"main", "helper", "main"}) || len(inner) != 2 {
		t.Errorf("the hook of the request saw %v, the hook of the helper %v", seen, inner)
	}
	if n := a.Hooks.BeforeLLM.List(); len(n) != 0 {
		t.Errorf("the agent's own hooks have %v", n)
	}
}

func TestUnusableHookOfARequestFails(t *testing.T) {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("ok"))}
	for _, use := range [][]agent.Hook{{nil}, {bind(func(*agent.Hooks) { panic("no") })}} {
		if _, err := looptest.Ended(a.Do(t.Context(), loop.Request{Task: "x", Use: use})); err == nil {
			t.Error("no error")
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Hooks does not panic")
				}
			}()
			loop.Hooks(use...)
		}()
	}
}

func TestP11_AResumedRunTakesNewHooks(t *testing.T) {
	var seen []string
	s, result := suspended(t)
	state := sent(t, result.Suspended)
	got, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{
		Suspended: &state, Answers: []loop.Answer{loop.AnswerTo(state.Questions[0], yes())}, Use: hooks(seenBy(&seen)),
	}))
	if err != nil || got.Reply != "ok" || !slices.Equal(seen, []string{"main"}) {
		t.Errorf("%+v, %v, saw %v", got, err, seen)
	}
}
