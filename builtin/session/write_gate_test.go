package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleWriteGate() {
	gate := new(session.WriteGate)
	hooks := new(agent.Hooks)
	hooks.Use(gate)
	learn := func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		return "noted", gate.Write(ctx, func(context.Context) error {
			fmt.Println("the instructions are changed")
			return nil
		})
	}
	a := loop.Agent{
		Hooks: hooks, Model: looptest.NewScript(looptest.Call("learn", nil), looptest.Reply("done")),
		Tools: []agent.Tool{&looptest.Tool{Name: "learn", Func: learn}},
	}
	hooks.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error {
		fmt.Println("the run ends")
		return nil
	})
	_, _ = a.Do(context.Background(), loop.Request{Task: "go", Conversation: "c"})
	// Output:
	// the run ends
	// the instructions are changed
}

// env returns an environment of a run of a conversation.
func envOf(conversation string) *agent.Env {
	return &agent.Env{Tenant: "t", User: "u", Root: "root", Conversation: named(conversation)}
}

type named string

func (n named) ID() string              { return string(n) }
func (named) Messages() []agent.Message { return nil }

func TestWritesWaitForActiveRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		share share.Scope
		other string // conversation of the active run
		waits bool
	}{
		{"same conversation", share.Conversation, "c", true},
		{"another conversation", share.Conversation, "d", false},
		{"conversation of the user", share.User, "d", true},
		{"everyone", share.Everyone, "d", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			gate := &session.WriteGate{Share: c.share}
			var hooks agent.Hooks
			hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { t.Error(f) })
			hooks.Use(gate)
			hooks.Use(gate) // counts each run once
			ctx := agentspec.WithEnv(t.Context(), envOf("c"))
			var written []int
			write := func(n int) {
				if err := gate.Write(ctx, func(context.Context) error { written = append(written, n); return nil }); err != nil {
					t.Error(err)
				}
			}
			run := agent.NewRun(envOf(c.other))
			if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
				t.Fatal(err)
			}
			write(1)
			write(2)
			if waits := len(written) == 0; waits != c.waits {
				t.Errorf("written during the run: %v", written)
			}
			for range 2 { // the second end changes nothing
				hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
			}
			write(3)
			if !slices.Equal(written, []int{1, 2, 3}) {
				t.Errorf("written: %v", written)
			}
		})
	}
}

func TestWritesWaitForTheLastRun(t *testing.T) {
	gate := new(session.WriteGate)
	var hooks agent.Hooks
	hooks.Use(gate)
	runs := []*agent.Run{agent.NewRun(envOf("c")), agent.NewRun(envOf("c")), agent.NewRun(envOf("c"))}
	for _, run := range runs {
		if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
			t.Fatal(err)
		}
	}
	written := 0
	write := func(context.Context) error { written++; return nil }
	for i, run := range runs {
		if err := gate.Write(agentspec.WithEnv(t.Context(), envOf("c")), write); err != nil || written != 0 {
			t.Fatalf("%d writes before run %d ended, %v", written, i, err)
		}
		hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	}
	if written != len(runs) {
		t.Errorf("%d writes after the last run", written)
	}
}

func TestRunsThatEndEarlyOpenTheGate(t *testing.T) {
	ends := agent.OnRunStartFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
		return agent.EndTurn{Reply: "no"}, nil
	})
	fails := agent.OnRunStartFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
		panic("broken")
	})
	for name, c := range map[string]struct {
		before, after []agent.Hook
		turns         []looptest.Turn
		cancelled     bool
	}{
		"completed":          {turns: []looptest.Turn{looptest.Reply("ok")}},
		"ended by a hook":    {after: []agent.Hook{ends}},
		"failed at start":    {after: []agent.Hook{fails}},
		"model failed":       {turns: []looptest.Turn{looptest.Error(errors.New("down"))}},
		"cancelled at start": {cancelled: true},
	} {
		t.Run(name, func(t *testing.T) {
			gate := new(session.WriteGate)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancelled {
				cancel()
			}
			looptest.Harness{Turns: c.turns, Hooks: slices.Concat(c.before, []agent.Hook{gate}, c.after)}.Do(
				t, ctx, loop.Request{Task: "go", Conversation: "c"})
			written := false
			id := agentspec.WithIdentity(t.Context(), agent.Identity{Conversation: "c"})
			if err := gate.Write(id, func(context.Context) error { written = true; return nil }); err != nil || !written {
				t.Errorf("written: %t, %v", written, err)
			}
		})
	}
}

func TestWritesOfAnOwnerAreMadeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := new(session.WriteGate)
		var hooks agent.Hooks
		hooks.Use(gate)
		ctx := agentspec.WithEnv(t.Context(), envOf("c"))
		block, written := make(chan struct{}), make(chan int, 4)
		write := func(n int) func(context.Context) error {
			return func(context.Context) error {
				if n == 1 {
					<-block
				}
				written <- n
				return nil
			}
		}
		go func() { _ = gate.Write(ctx, write(1)) }()
		synctest.Wait()
		first, second := agent.NewRun(envOf("c")), agent.NewRun(envOf("c"))
		for i, run := range []*agent.Run{first, second} {
			if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
				t.Fatal("a run waited for a write:", err)
			}
			if err := gate.Write(ctx, write(i+2)); err != nil {
				t.Error(err)
			}
		}
		hooks.OnRunEnd.Fire(t.Context(), first, agent.AgentResult{})
		close(block)
		synctest.Wait()
		if n := len(written); n != 1 {
			t.Errorf("%d writes are made while a run is active", n)
		}
		hooks.OnRunEnd.Fire(t.Context(), second, agent.AgentResult{})
		close(written)
		want := 1
		for n := range written {
			if n != want {
				t.Errorf("write %d is made as number %d", n, want)
			}
			want++
		}
	})
}

func TestFailuresOfWritesAreReported(t *testing.T) {
	var reported []string
	gate := &session.WriteGate{OnError: func(err error) { reported = append(reported, err.Error()) }}
	var hooks agent.Hooks
	hooks.Use(gate)
	ctx := agentspec.WithEnv(t.Context(), envOf("c"))
	fails := func(context.Context) error { return errors.New("disk full") }
	panics := func(context.Context) error { panic("oops") }
	for _, write := range []func(context.Context) error{fails, panics} {
		if err := gate.Write(ctx, write); err == nil {
			t.Error("a failed write returned nil")
		}
	}
	run := agent.NewRun(envOf("c"))
	if _, err := hooks.OnRunStart.Fire(t.Context(), run, &agent.RunStart{}); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	for _, write := range []func(context.Context) error{
		fails, panics, func(ctx context.Context) error { return ctx.Err() },
	} {
		if err := gate.Write(cancelled, write); err != nil {
			t.Error(err)
		}
	}
	cancel()
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
	if got := strings.Join(reported, "; "); got != "a write failed: disk full; a write failed: panic: oops" {
		t.Errorf("reported %q", got)
	}
}

func TestDelayedWritesAreBounded(t *testing.T) {
	gate := new(session.WriteGate)
	var hooks agent.Hooks
	hooks.Use(gate)
	if _, err := hooks.OnRunStart.Fire(t.Context(), agent.NewRun(envOf("c")), &agent.RunStart{}); err != nil {
		t.Fatal(err)
	}
	ctx, refused := agentspec.WithEnv(t.Context(), envOf("c")), 0
	for range 1100 {
		if gate.Write(ctx, func(context.Context) error { return nil }) != nil {
			refused++
		}
	}
	if refused != 100 {
		t.Errorf("%d writes were refused", refused)
	}
}

func TestWritesNeedAnOwner(t *testing.T) {
	written := false
	err := new(session.WriteGate).Write(t.Context(), func(context.Context) error { written = true; return nil })
	if err == nil || written {
		t.Errorf("a write for nobody was made: %t, %v", written, err)
	}
	if text := fixture.UsePanic(&session.WriteGate{Share: 9}); !strings.Contains(text, "Share is 9") {
		t.Errorf("panicked with %q", text)
	}
}
