package ported

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Dedup warns the model about repeated calls. The calls are recorded per run.
type Dedup struct{ runs hookkit.PerRun[duplicates] }

type duplicates struct {
	seen     map[string]bool
	warnings []string
}

// Bind adds the hook.
func (d *Dedup) Bind(h *agent.Hooks) {
	h.AfterTool.Observe(d)
	h.Briefing.Add(d)
}

// ObserveAfterTool remembers the call.
func (d *Dedup) ObserveAfterTool(_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	call := fired.Final.Call
	key := call.Name + " " + string(call.Args)
	d.runs.Do(run, func(s *duplicates) {
		if s.seen == nil {
			s.seen = make(map[string]bool)
		}
		if s.seen[key] {
			s.warnings = append(s.warnings,
				fmt.Sprintf("⚠ DUPLICATE: You already called %s with these args. Try different parameters or a different tool.",
					call.Name))
		}
		s.seen[key] = true
	})
}

// Briefing contributes the warnings to the next prompt.
func (d *Dedup) Briefing(_ context.Context, run *agent.Run, _ agent.Step) (texts []string, err error) {
	d.runs.Do(run, func(s *duplicates) {
		texts, s.warnings = s.warnings, nil
	})
	return texts, nil
}
