package builtin

import (
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Guards bundles [StepLimit], [TokenLimit], [TimeLimit] and [FinishReason]: what keeps a run from going on for ever.
//
// The zero value is what [Guards] of most loops want: 20 steps, 32768 tokens, five minutes, no finish reason. Each
// limit can be changed with AtMost and switched off with NoLimit. State: none; one value serves any number of runs.
// In a sub-run the limits hold for the sub-run's own steps, tokens and time.
type Guards struct {
	Steps         Bound[int]           // default 20
	Tokens        Bound[int]           // default 32768, input and output together
	Time          Bound[time.Duration] // default 300 s
	FinishReasons []string             // default none, which switches that guard off
}

// Bind binds the guards.
func (g Guards) Bind(h *agent.Hooks) {
	h.Use(&StepLimit{Max: g.Steps})
	h.Use(&TokenLimit{Max: g.Tokens})
	h.Use(&TimeLimit{Max: g.Time})
	if len(g.FinishReasons) > 0 {
		h.Use(&FinishReason{Reasons: g.FinishReasons})
	}
}
