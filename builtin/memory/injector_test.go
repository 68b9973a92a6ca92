package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleInjector() {
	remembered := &memory.Facts{} // or In: session.Dir{Path: "memory"}
	_ = remembered.Put(context.Background(), memory.Fact{Key: "city", Value: "Oslo"})
	_ = remembered.Put(context.Background(), memory.Fact{
		Key: "language", Value: "English", Scope: memory.PreferenceScope,
	})

	var hooks agent.Hooks
	hooks.Use(&memory.Injector{Store: remembered})
	for _, text := range hooks.Briefing.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 1}) {
		fmt.Println(text)
	}
	// Output:
	// ## Memory
	// Known preferences:
	// - language: English
	// Known facts:
	// - city: Oslo
}

func TestInjectorRendersOncePerRun(t *testing.T) {
	store := &memory.Facts{Share: share.Everyone}
	if err := store.Put(t.Context(), memory.Fact{Key: "city", Value: "Oslo"}); err != nil {
		t.Fatal(err)
	}
	remember := &looptest.Tool{Name: "remember", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		err := store.Put(ctx, memory.Fact{Key: "pet", Value: "cat"})
		return "stored", err
	}}
	tested := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("remember", nil), looptest.Reply("a"), looptest.Reply("b")},
		Tools: []agent.Tool{remember},
		Hooks: []agent.Hook{&memory.Injector{Store: store}},
		Agent: &loop.Agent{Instructions: "Mind the header ## Memory"},
	}.Make()
	for range 2 {
		result, err := tested.Agent.Run(t.Context(), "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range result.Messages {
			if strings.Contains(m.Content, "Oslo") {
				t.Errorf("the stored conversation holds %q", m.Content)
			}
		}
	}
	requests := tested.Script.Requests()
	for i, req := range requests {
		text := fixture.Briefing(req)
		if strings.Count(text, "## Memory\nKnown facts:") != 1 || strings.Count(text, "city: Oslo") != 1 {
			t.Errorf("prompt %d is briefed %q", i, text)
		}
		if pet := strings.Contains(text, "pet: cat"); pet != (i == 2) {
			t.Errorf("prompt %d is briefed %q", i, text)
		}
	}
}

func TestInjectorsWithTwoStoresBothAppear(t *testing.T) {
	empty, one, two := &memory.Facts{}, &memory.Facts{}, &memory.Facts{}
	prefer(t, one, "a", "1")
	prefer(t, two, "b", "2")
	for name, c := range map[string]struct {
		stores []memory.Store
		want   string
	}{
		"empty": {[]memory.Store{empty}, ""},
		"two": {[]memory.Store{one, empty, two},
			"## Memory\nKnown preferences:\n- a: 1\n\n## Memory\nKnown preferences:\n- b: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			var hooks []agent.Hook
			for _, s := range c.stores {
				hooks = append(hooks, &memory.Injector{Store: s})
			}
			ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("ok")}, Hooks: hooks}.Run(t, "x")
			if got := fixture.Briefing(ran.Script.Requests()[0]); got != c.want {
				t.Errorf("briefed %q, want %q", got, c.want)
			}
		})
	}
}

// prefer stores a preference.
func prefer(t *testing.T, s memory.Store, key, value string) {
	t.Helper()
	if err := s.Put(t.Context(), memory.Fact{Key: key, Value: value, Scope: memory.PreferenceScope}); err != nil {
		t.Fatal(err)
	}
}

// brokenMemory fails a configured number of times.
type brokenMemory struct {
	memory.Facts
	failures int
}

func (m *brokenMemory) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	if m.failures > 0 {
		m.failures--
		return nil, 0, errors.New("disk on fire")
	}
	return m.Facts.Search(ctx, q)
}

func TestInjectorRetriesFailingStore(t *testing.T) {
	store := &brokenMemory{failures: 1}
	prefer(t, store, "a", "1")
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
		Hooks: []agent.Hook{&memory.Injector{Store: store, Header: "# M"}},
	}.Run(t, "x")
	requests := ran.Script.Requests()
	if ran.Failed != nil || fixture.Briefing(requests[0]) != "" ||
		fixture.Briefing(requests[1]) != "# M\nKnown preferences:\n- a: 1" {
		t.Errorf("%v, %q, %q", ran.Failed, fixture.Briefing(requests[0]), fixture.Briefing(requests[1]))
	}
	if f := ran.Recorder.Fires("Briefing")[0].Failures; len(f) != 1 || !strings.Contains(f[0].Error(), "disk on fire") {
		t.Errorf("reported %v", f)
	}
}

// failsIn is a store that cannot search one scope.
type failsIn struct {
	memory.Store
	scope string
}

func (s failsIn) Search(ctx context.Context, q memory.Query) ([]memory.Fact, int, error) {
	if q.Scope == s.scope {
		return nil, 0, errors.New("disk on fire")
	}
	return s.Store.Search(ctx, q)
}

func TestRenderReturnsErrorsOfTheStore(t *testing.T) {
	for _, scope := range []string{"", memory.PreferenceScope, memory.EpisodeScope} {
		text, err := memory.Render(t.Context(), failsIn{new(memory.Facts), scope}, "", 9, 9)
		if text != "" || err == nil || !strings.Contains(err.Error(), "in memory: disk on fire") {
			t.Errorf("%q: rendered %q, %v", scope, text, err)
		}
	}
}

func TestInjectorsShareNoState(t *testing.T) {
	store := &memory.Facts{}
	prefer(t, store, "a", "1")
	one, two := &memory.Injector{Store: store}, &memory.Injector{Store: store, Header: "# Two"}
	var hooks agent.Hooks
	hooks.Use(one)
	hooks.Use(two)
	for range 2 { // the second run has its own text
		run := agent.NewRun(nil)
		first := hooks.Briefing.Fire(t.Context(), run, agent.Step{})
		prefer(t, store, "a", "2")
		second := hooks.Briefing.Fire(t.Context(), run, agent.Step{})
		if len(first) != 2 || first[0] != second[0] || first[1] != second[1] || first[0] == first[1] {
			t.Errorf("got %q, %q", first, second)
		}
	}
}

func TestInjectorWithoutStorePanicsInBind(t *testing.T) {
	fixture.MustPanic(t, "memory.Injector: Store is nil", func() { new(agent.Hooks).Use(&memory.Injector{}) })
	for want, hook := range map[string]*memory.Injector{
		"MaxFacts is -1": {MaxFacts: -1}, "MaxEpisodes is -1": {MaxEpisodes: -1},
	} {
		hook.Store = new(memory.Facts)
		fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(hook) })
	}
}
