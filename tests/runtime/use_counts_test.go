package runtime_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/race"
)

// A guard is a hook of one point of a large spec.
type guard struct{}

func (guard) BeforeTool(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	return nil, nil
}

func (g guard) Bind(h *agent.Hooks) { h.BeforeTool.Add(g) }

func TestUseOfOneHookAllocatesLittleInALargeSpec(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	if points := new(agent.Hooks).Points(); len(points) < 21 {
		t.Fatalf("the spec has %d points", len(points))
	}
	var h agent.Hooks
	if got := testing.AllocsPerRun(100, func() { h.Use(guard{}) }); got > 60 {
		t.Errorf("%v allocations", got)
	}
}
