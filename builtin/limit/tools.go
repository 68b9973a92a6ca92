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
// Points: BeforeTool (SkipTool). Tier: Detection. State: the counts, per run; a sub-run has counts of its own. A run
// that continues an interrupted one counts its calls too, if a hook such as session.Checkpoint restores them.
//
// A call over the limit is refused: the model receives the error "Tool 'x' reached its per-run limit (2/2). Try a
// different approach.", with NoRetry and the reason "tool_limit". Failed calls count too; calls that this hook refused
// do not. The counts are exact even if calls run in parallel.
type Tools struct {
	// Limits are the most calls of each tool, by the name of the tool; 0 blocks the tool. Limits or Default is required.
	// The map must not change while the hook is in use.
	Limits map[string]int
	// Default is the most calls of each tool that is not in Limits. The zero value means no limit.
	Default Bound[int]
	// Message returns the error for the model; nil: the text above.
	Message func(tool string, limit, used int) string

	counts hookkit.PerRun[map[string]int]
}

// Bind adds the hook. It panics if a limit is negative or if neither Limits nor Default is set.
func (l *Tools) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tools", l.check())
	h.BeforeTool.Add(l, hookkit.Priority(hookkit.Detection))
	kit.WatchTools(h, "limit.Tools", kit.ToolKeys("Limits", l.Limits)...)
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

// BeforeTool counts the call, or refuses it if the tool has reached its limit.
func (l *Tools) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome,
	error) {
	limit, known := l.Limits[call.Name]
	if !known {
		limit = l.Default.Or(None)
	}
	used, refused := 0, false
	l.counts.Do(run, func(counts *map[string]int) {
		if *counts == nil {
			if *counts = maps.Clone(kit.Env(run).Count().Tools); *counts == nil {
				*counts = make(map[string]int)
			}
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
	message := fmt.Sprintf("Tool '%s' reached its per-run limit (%d/%d). Try a different approach.",
		shorten.To(call.Name, toolname.MaxDisplay), used, limit)
	if l.Message != nil {
		message = l.Message(call.Name, limit, used)
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: message, NoRetry: true}, Reason: "tool_limit"}, nil
}

// Counts returns the number of calls of each tool that the hook has let through in the run. The caller owns the map.
func (l *Tools) Counts(run *agent.Run) map[string]int {
	var counts map[string]int
	l.counts.Do(run, func(c *map[string]int) {
		if counts = maps.Clone(*c); counts == nil {
			counts = maps.Clone(kit.Env(run).Count().Tools)
		}
	})
	return counts
}
