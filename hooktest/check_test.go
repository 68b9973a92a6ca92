package hooktest

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

func TestFiringsFireEveryPoint(t *testing.T) {
	var points []string
	for _, p := range new(agent.Hooks).Points() {
		points = append(points, p.Name)
	}
	var fired []string
	for _, f := range firings {
		hooks := new(agent.Hooks)
		recorder := new(Recorder)
		hooks.ObserveAny(recorder)
		f.fire(t.Context(), hooks, agent.NewRun(newEnv()), ordinary)
		fired = append(fired, recorder.Points()...)
	}
	slices.Sort(points)
	slices.Sort(fired)
	if !slices.Equal(points, fired) {
		t.Errorf("fired  %v\npoints %v", fired, points)
	}
}

func TestMadePayloadsAreTheSameEachTimeAndShareNothing(t *testing.T) {
	for variant := range variants {
		a, b := made[agent.LLMRequest](variant), made[agent.LLMRequest](variant)
		if where := difference("payload", reflect.ValueOf(a), reflect.ValueOf(b)); where != "" {
			t.Errorf("payload %d differs at %s", variant, where)
		}
		if variant != empty {
			a.Messages[0].Content = "changed"
			if where := difference("payload", reflect.ValueOf(a), reflect.ValueOf(b)); where != "payload.Messages[0].Content" {
				t.Errorf("a change is seen at %q", where)
			}
		}
	}
}

// bad is a hook with one fault.
type bad struct {
	fault  string
	seen   int // shared between runs, which is one of the faults
	leaked chan struct{}
}

var sharedSeen struct {
	sync.Mutex
	n int
}

func (b *bad) Bind(h *agent.Hooks) { h.BeforeLLM.Add(b) }

func (b *bad) BeforeLLM(ctx context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	switch b.fault {
	case "panics":
		_ = req.Messages[1]
	case "pointer":
		return &agent.EndTurn{}, nil
	case "in place":
		if len(req.Messages) > 0 {
			req.Messages[0].Content += "!"
		}
	case "runs":
		b.seen++
		if b.seen > 3 {
			return agent.EndTurn{Reason: "enough"}, nil
		}
	case "instances":
		sharedSeen.Lock()
		defer sharedSeen.Unlock()
		if sharedSeen.n++; sharedSeen.n > 6 {
			return agent.EndTurn{Reason: "enough"}, nil
		}
	case "goroutines":
		go func() { <-b.leaked }()
	}
	return nil, nil
}

func TestCheckFindsWhatItLooksFor(t *testing.T) {
	leaked := make(chan struct{})
	defer close(leaked)
	new := func(fault string) checker {
		return checker{func() agent.Hook { return &bad{fault: fault, leaked: leaked} }}
	}
	hooks, failures := new("panics").bound()
	boundTo(hooks)[0].fire(t.Context(), hooks, agent.NewRun(newEnv()), empty)
	if why := found(failures); !strings.Contains(why, "panicked") {
		t.Errorf("a panic is %q", why)
	}
	hooks, failures = new("pointer").bound()
	boundTo(hooks)[0].fire(t.Context(), hooks, agent.NewRun(newEnv()), ordinary)
	if why := found(failures); !strings.Contains(why, "not legal") {
		t.Errorf("an exit by pointer is %q", why)
	}
	hooks, _ = new("in place").bound()
	fired := boundTo(hooks)[0].fire(t.Context(), hooks, agent.NewRun(newEnv()), ordinary)
	if where := difference("payload", reflect.ValueOf(fired.before), reflect.ValueOf(fired.shared)); where != "payload.Messages[0].Content" {
		t.Errorf("a change in place is at %q", where)
	}
	for _, fault := range []string{"runs", "instances"} {
		if failed := inner(func(t *testing.T) { new(fault).isolated(t) }); !failed {
			t.Errorf("state shared between %s is not found", fault)
		}
	}
	if got := labelled("hooktest", "nobody"); got != "" {
		t.Errorf("goroutines of nobody: %s", got)
	}
	if failed := inner(func(t *testing.T) { checker{func() agent.Hook { return agentHookOfNothing{} }}.binds(t) }); !failed {
		t.Error("a hook that binds to nothing is not found")
	}
}

// found returns all that is wrong with what a recorder saw.
func found(r *hookkit.Recorder) string {
	var all []string
	for _, e := range r.Events() {
		all = append(all, misbehaved(e.Failure))
	}
	return strings.Join(all, "")
}

type agentHookOfNothing struct{}

func (agentHookOfNothing) Bind(*agent.Hooks) {}

// inner runs a test of its own and reports whether it failed.
func inner(f func(*testing.T)) bool {
	return !testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "inner", F: f}})
}

// good does everything right: it keeps state per run, and replaces.
type good struct{ seen hookkit.PerRun[int] }

func (g *good) Bind(h *agent.Hooks) { h.BeforeTool.Add(g) }

func (g *good) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	n := 0
	g.seen.Do(run, func(seen *int) { *seen++; n = *seen })
	if n == 1 {
		call.Args = json.RawMessage(`{}`)
		return agent.ReplaceBeforeTool(call, "no arguments"), nil
	}
	return nil, nil
}

func TestCheckPassesAGoodHook(t *testing.T) {
	Check(t, func() agent.Hook { return new(good) })
}
