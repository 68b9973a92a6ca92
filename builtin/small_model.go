package builtin

import (
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

// SmallModel bundles what makes a small model usable: [repair.LoopDetector], [repair.EchoedPayload] and
// [repair.SchemaRetry], each with its defaults. State: that of the three, new with each Use.
type SmallModel struct{}

// Bind binds the hooks.
func (SmallModel) Bind(h *agent.Hooks) {
	h.Use(&repair.LoopDetector{})
	h.Use(&repair.EchoedPayload{})
	h.Use(&repair.SchemaRetry{})
}
