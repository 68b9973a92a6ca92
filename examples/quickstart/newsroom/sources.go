package newsroom

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Sources withholds articles for which the agent has not read enough: less than Min results of the tool named Tool.
// It watches a point of the agent, decides at one of the newsroom, and counts per run: one value serves any
// number of runs at once.
type Sources struct {
	Tool string
	Min  int

	read hookkit.PerRun[int]
}

// Bind adds the hook to its points.
func (s *Sources) Bind(h *Hooks) {
	h.Agent.AfterTool.Observe(s)
	h.BeforePublish.Add(s, hookkit.Priority(hookkit.Safety))
}

// ObserveAfterTool counts.
func (s *Sources) ObserveAfterTool(ctx context.Context, run *Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	if fired.Left.Call.Name == s.Tool && fired.Left.OK() {
		s.read.Do(run, func(n *int) { *n++ })
	}
}

// BeforePublish decides.
func (s *Sources) BeforePublish(ctx context.Context, run *Run, article Article) (BeforePublishOutcome, error) {
	read := 0
	s.read.Do(run, func(n *int) { read = *n })
	if read < s.Min {
		return Withhold{Reason: fmt.Sprintf("%d of %d sources were read", read, s.Min)}, nil
	}
	return nil, nil
}
