package limit

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tools limits how often each tool may be called in a run.
//
// It stands at BeforeTool (SkipTool), in the tier Detection, and counts per run; sub-runs count for themselves. Every
// attempt counts, one that fails too; a call that this hook refuses does not. A call over the limit is refused with
// the Err "Tool 'x' reached its per-run limit (2/2). Try a different approach." and NoRetry, reason "tool_limit".
// Parallel calls lose no count. One of Limits and Default is required.
type Tools struct {
	Limits  map[string]int // by tool; 0 blocks it, and a negative number panics
	Default Bound[int]     // of tools not in Limits; default: none
	Message func(tool string, limit, used int) string

	counts hookkit.PerRun[map[string]int]
}

// Bind adds the hook. A negative limit, and no limit at all, panic.
func (l *Tools) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tools", l.check())
	h.BeforeTool.Add(l, hookkit.Priority(hookkit.Detection))
}

func (l *Tools) check() error {
	if l.Default == 0 && len(l.Limits) == 0 {
		return errors.New("Limits and Default are both empty, so nothing would be limited; give one of them")
	}
	for tool, n := range l.Limits {
		if n < 0 {
			return fmt.Errorf("Limits[%q] is %d; give 0 or more, or leave the tool out", tool, n)
		}
	}
	return l.Default.Check("Default")
}

// BeforeTool counts the call, or refuses it.
func (l *Tools) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	limit, known := l.Limits[call.Name]
	if !known {
		limit = l.Default.Or(None)
	}
	used, refused := 0, false
	l.counts.Do(run, func(counts *map[string]int) {
		if *counts == nil {
			*counts = make(map[string]int)
		}
		if used = (*counts)[call.Name]; used >= limit {
			refused = true
			return
		}
		(*counts)[call.Name] = used + 1
	})
	if !refused {
		return nil, nil
	}
	message := fmt.Sprintf("Tool '%s' reached its per-run limit (%d/%d). Try a different approach.", shorten.To(call.Name, toolname.MaxDisplay), used, limit)
	if l.Message != nil {
		message = l.Message(call.Name, limit, used)
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: message, NoRetry: true}, Reason: "tool_limit"}, nil
}

// Counts returns a copy of the run's counts by tool: how many calls were let through.
func (l *Tools) Counts(run *agent.Run) map[string]int {
	var counts map[string]int
	l.counts.Do(run, func(c *map[string]int) { counts = maps.Clone(*c) })
	return counts
}
