package builtin

import (
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

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
