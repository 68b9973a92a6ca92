package looptest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// briefing contributes the name of the agent, which comes from run.Env.
type briefing struct{ times hookkit.PerRun[int] }

func (b *briefing) Bind(h *agent.Hooks) { h.Briefing.Add(b) }

func (b *briefing) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	b.times.Do(run, func(n *int) { *n++ })
	return []string{fmt.Sprint(run.Env.Agent, b.times.Load(run), run.Env.Counters().Step)}, nil
}

func TestCheckPassesAGoodHook(t *testing.T) {
	Check(t, func() agent.Hook { return new(briefing) })
}

// reports collects the errors of a test.
type reports struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (r *reports) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts = append(r.texts, fmt.Sprintf(format, args...))
}

func TestCheckFindsAHookThatPanics(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"hook": agent.AfterToolFunc(func(
			_ context.Context, _ *agent.Run, result agent.ToolCallResult,
		) (agent.AfterToolOutcome, error) {
			if result.Call.ID == "call_2" {
				panic("the second call")
			}
			return nil, nil
		}),
		"exit by pointer": agent.AfterToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallResult,
		) (agent.AfterToolOutcome, error) {
			//hookvet:ignore exitvalue this test is about the failure
			return &agent.EndTurn{}, nil
		}),
	} {
		t.Run(name, func(t *testing.T) {
			r := &reports{TB: t}
			checkLoop(r, hook)
			if found := strings.Join(r.texts, "\n"); !strings.Contains(found, "AfterTool: ") {
				t.Errorf("found %q", found)
			}
		})
	}
}
