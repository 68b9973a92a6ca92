package limit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tools limits how often each tool may be called in a run.
//
// Points: BeforeTool (SkipTool), AfterTool (no exit). Tier: Detection. State: the counts, per run; a sub-run has
// counts of its own. A run that continues an interrupted one counts its calls too, if a hook such as session.Checkpoint
// restores them. With All, a model that has used up its calls can still answer from its results so far.
//
// A call over the limit is refused: the model receives the error "Tool 'x' reached its per-run limit (2/2). Try a
// different approach.", with NoRetry and the reason "tool_limit". Failed calls count too; calls that were
// refused do not, by this hook or another one or a person. The counts are exact even if calls run in parallel.
type Tools struct {
	// Limits are the most calls of each tool, by the name of the tool; 0 blocks the tool. Limits or Default is required.
	// The map must not change while the hook is in use.
	Limits map[string]int
	// Default is the most calls of each tool that is not in Limits. The zero value means no limit.
	Default Bound[int]
	// All is the most calls of all tools together. The zero value means no limit.
	All Bound[int]
	// Message returns the error for the model; nil: the text above.
	Message func(tool string, limit, used int) string

	counts hookkit.PerRun[map[string]int]
}

// Bind adds the hook. It panics if a limit is negative or if neither Limits nor Default is set.
func (l *Tools) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tools", l.check())
	kit.WatchTools("limit.Tools", kit.ToolKeys("Limits", l.Limits)...).
		BeforeTool(h, l, hookkit.Priority(hookkit.Detection))
	// An observer would copy each result. The first hook too sees it as the loop made it.
	h.AfterTool.Add(l, hookkit.Priority(math.MaxInt))
}

func (l *Tools) check() error {
	if l.Default == 0 && l.All == 0 && len(l.Limits) == 0 {
		return errors.New("Limits, Default and All are all empty, so nothing would be limited; give one of them")
	}
	for tool, n := range l.Limits {
		if n < 0 {
			return fmt.Errorf("Limits[%q] is %d; give 0 or more, or leave the tool out", tool, n)
		}
	}
	return errors.Join(l.Default.Check("Default"), l.All.Check("All"))
}

// BeforeTool counts the call, or refuses it if the tool has reached its limit.
func (l *Tools) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome,
	error) {
	limit, known := l.Limits[call.Name]
	if !known {
		limit = l.Default.Or(None)
	}
	used, refused, reached := 0, false, false
	l.counts.Do(run, func(counts *map[string]int) {
		if *counts == nil {
			if *counts = maps.Clone(kit.Env(run).Count().Tools); *counts == nil {
				*counts = make(map[string]int)
			}
		}
		all := 0
		if l.All != 0 {
			for _, n := range *counts {
				all += n
			}
		}
		if used = (*counts)[call.Name]; used >= limit || all >= l.All.Or(None) {
			refused, reached = true, used >= limit
			if !reached {
				used, limit = all, l.All.Or(None)
			}
			return
		}
		(*counts)[call.Name] = used + 1
	})
	if !refused {
		return nil, nil
	}
	message := fmt.Sprintf("Tool '%s' reached its per-run limit (%d/%d). Try a different approach.",
		shorten.To(call.Name, toolname.MaxDisplay), used, limit)
	if !reached {
		message = fmt.Sprintf("The limit of tool calls in a run is reached (%d/%d). Answer with what you have.", used, limit)
	}
	if l.Message != nil {
		message = l.Message(call.Name, limit, used)
	}
	return agent.SkipTool{Result: agent.ToolCallResult{Err: message, NoRetry: true}, Reason: toolLimit}, nil
}

// AfterTool gives back the count of a call that another hook or a person refused.
func (l *Tools) AfterTool(_ context.Context, run *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	if r.Status == agent.CallRefused && r.Reason != toolLimit {
		l.counts.Do(run, func(counts *map[string]int) {
			if n := (*counts)[r.Call.Name]; n > 0 {
				(*counts)[r.Call.Name] = n - 1
			}
		})
	}
	return nil, nil
}

// toolLimit is the reason of calls that Tools refuses.
const toolLimit = "tool_limit"

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
