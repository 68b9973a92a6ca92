package loop

import "github.com/hookgen/hookgen/loop/internal/toolkeys"

// reportKeys reports the keys with which hooks are registered and that name no tool of the run, nor of a run that
// started it and fires the same hooks.
func (r *run) reportKeys() {
	has := func(tool string) bool {
		for at := r; at != nil; at = at.outer {
			if at.tools.entry(tool) != nil {
				return true
			}
		}
		return false
	}
	toolkeys.Report(r.ctx, r.hooks, r.agent.name(), r.tools.Schemas, has, func(text string) { r.warn("%s", text) })
}
