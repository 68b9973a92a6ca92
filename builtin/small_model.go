package builtin

import "github.com/hookgen/hookgen/generated/agent"

// SmallModel bundles what makes a small model usable: [LoopDetector], [EchoedPayload] and [SchemaRetry], each with its
// defaults. State: that of the three, new with each Use.
type SmallModel struct{}

// Bind binds the hooks.
func (SmallModel) Bind(h *agent.Hooks) {
	h.Use(&LoopDetector{})
	h.Use(&EchoedPayload{})
	h.Use(&SchemaRetry{})
}
