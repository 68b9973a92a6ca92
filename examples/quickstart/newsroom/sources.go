package newsroom

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Sources withholds articles for which the agent has read fewer than Min results of the tool named Tool. It observes a
// point of the agent and decides at one of the newsroom. The count is kept per run, so that one value can serve
// parallel runs.
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

// ObserveAfterTool counts the results that were read.
func (s *Sources) ObserveAfterTool(ctx context.Context, run *Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	if fired.Final.Call.Name == s.Tool && fired.Final.OK() {
		s.read.Do(run, func(n *int) { *n++ })
	}
}

// BeforePublish withholds the article if the count is too low.
func (s *Sources) BeforePublish(ctx context.Context, run *Run, article Article) (BeforePublishOutcome, error) {
	read := s.read.Load(run)
	if read < s.Min {
		return Withhold{Reason: fmt.Sprintf("%d of %d sources were read", read, s.Min)}, nil
	}
	return nil, nil
}
