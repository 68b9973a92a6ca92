package builtin

import (
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

// Guards keeps a run from continuing forever. It bundles [limit.Steps], [limit.Tokens], [limit.Time] and
// [limit.FinishReason].
//
// The zero value suits most loops. Set a field to limit.AtMost(n) to change a limit, and to limit.None to remove it. A
// sub-run has its own steps, tokens and time, so each limit applies to it separately. State: none; one value serves any
// number of concurrent runs.
type Guards struct {
	Steps         limit.Bound[int]           // default 20
	Tokens        limit.Bound[int]           // of all model calls, input and output together; default 1,000,000
	Time          limit.Bound[time.Duration] // default 5 minutes
	FinishReasons []string                   // default none: the finish reason is not checked
}

// Bind adds the hooks of the bundle. It panics if a bound is negative or a finish reason is empty.
func (g Guards) Bind(h *agent.Hooks) {
	h.Use(&limit.Steps{Max: g.Steps})
	h.Use(&limit.Tokens{Max: g.Tokens})
	h.Use(&limit.Time{Max: g.Time})
	if len(g.FinishReasons) > 0 {
		h.Use(&limit.FinishReason{Reasons: g.FinishReasons})
	}
}

// SmallModel corrects frequent mistakes of small models: repeated calls, replies that only echo the input, and invalid
// arguments. It bundles [repair.LoopDetector], [repair.EchoedPayload] and [repair.SchemaRetry] with their defaults.
//
// State: that of the three hooks. Each Use creates new ones.
type SmallModel struct{}

// Bind adds the hooks of the bundle.
func (SmallModel) Bind(h *agent.Hooks) {
	h.Use(&repair.LoopDetector{})
	h.Use(&repair.EchoedPayload{})
	h.Use(&repair.SchemaRetry{})
}
