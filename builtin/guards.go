package builtin

import (
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Guards bundles [limit.Steps], [limit.Tokens], [limit.Time] and [limit.FinishReason]: what keeps a run from going on
// for ever.
//
// The zero value is what [Guards] of most loops want: 20 steps, 32768 tokens, five minutes, no finish reason. Each
// limit can be changed with AtMost and switched off with limit.None. State: none; one value serves any number of runs.
// In a sub-run the limits hold for the sub-run's own steps, tokens and time.
type Guards struct {
	Steps         limit.Bound[int]           // default 20
	Tokens        limit.Bound[int]           // default 32768, input and output together
	Time          limit.Bound[time.Duration] // default 300 s
	FinishReasons []string                   // default none, which switches that guard off
}

// Bind binds the guards.
func (g Guards) Bind(h *agent.Hooks) {
	h.Use(&limit.Steps{Max: g.Steps})
	h.Use(&limit.Tokens{Max: g.Tokens})
	h.Use(&limit.Time{Max: g.Time})
	if len(g.FinishReasons) > 0 {
		h.Use(&limit.FinishReason{Reasons: g.FinishReasons})
	}
}
