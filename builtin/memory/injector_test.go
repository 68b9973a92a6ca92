package memory_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleInjector() {
	remembered := &memory.Map{} // or memory.OpenFile("memory.json")
	_, _ = remembered.AddFact(context.Background(), memory.Fact{Key: "city", Value: "Oslo"})
	_ = remembered.SetPreference(context.Background(), "language", "English")

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
	store := &memory.Map{Share: share.Everyone}
	if _, err := store.AddFact(t.Context(), memory.Fact{Key: "city", Value: "Oslo"}); err != nil {
		t.Fatal(err)
	}
	remember := &looptest.Tool{Name: "remember", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		_, err := store.AddFact(ctx, memory.Fact{Key: "pet", Value: "cat"})
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
	empty, one, two := &memory.Map{}, &memory.Map{}, &memory.Map{}
	_ = one.SetPreference(t.Context(), "a", "1")
	_ = two.SetPreference(t.Context(), "b", "2")
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

// brokenMemory fails a configured number of times.
type brokenMemory struct {
	memory.Map
	failures int
}

func (m *brokenMemory) Facts(ctx context.Context, scope string) ([]memory.Fact, error) {
	if m.failures > 0 {
		m.failures--
		return nil, errors.New("disk on fire")
	}
	return m.Map.Facts(ctx, scope)
}

func TestInjectorRetriesFailingStore(t *testing.T) {
	store := &brokenMemory{failures: 1}
	_ = store.SetPreference(t.Context(), "a", "1")
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

func TestRenderReturnsErrorsOfTheStore(t *testing.T) {
	for _, method := range []string{"Preferences", "Facts", "Recent"} {
		t.Run(method, func(t *testing.T) {
			text, err := memory.Render(t.Context(), failingStore{new(memory.Map), method}, 9, 9)
			if text != "" || err == nil || !strings.Contains(err.Error(), "in memory: "+method+" failed") {
				t.Errorf("rendered %q, %v", text, err)
			}
		})
	}
}

func TestInjectorFlushesAtRunEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.json")
	store, err := memory.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	store.Share = share.Everyone
	note := &looptest.Tool{Name: "note", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		return "", errors.Join(store.SetPreference(ctx, "a", "1"), store.SetPreference(ctx, "b", "2"))
	}}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("note", nil), looptest.Error(errors.New("model down"))},
		Tools: []agent.Tool{note},
		Hooks: []agent.Hook{&memory.Injector{Store: store}},
	}.Run(t, "x")
	again, err := memory.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := again.Preferences(t.Context()); len(p) != 2 {
		t.Errorf("the file holds %+v", p)
	}
}

func TestInjectorsShareNoState(t *testing.T) {
	store := &memory.Map{}
	_ = store.SetPreference(t.Context(), "a", "1")
	one, two := &memory.Injector{Store: store}, &memory.Injector{Store: store, Header: "# Two"}
	var hooks agent.Hooks
	hooks.Use(one)
	hooks.Use(two)
	for range 2 { // the second run has its own text
		run := agent.NewRun(nil)
		first := hooks.Briefing.Fire(t.Context(), run, agent.Step{})
		_ = store.SetPreference(t.Context(), "a", "2")
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
		hook.Store = new(memory.Map)
		fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(hook) })
	}
}
