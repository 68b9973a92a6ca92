package permission

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// ReadOnly denies every call that may change something while it is on: a mode for planning and looking around.
//
// Points: OnPermission (Deny). Tier: Safety. State: the switch, shared by all runs.
//
// While it is on, a call is denied unless its tool is in Tools or says of itself that it changes nothing
// (ReadOnly of its schema). Whoever does not know a tool denies it. While it is off, it has no opinion. It is on
// from the start; [ReadOnly.Switch] or When switches it. A tool that finishes the run, hands over or starts another
// agent needs to be in Tools too.
type ReadOnly struct {
	// Tools are the names of tools that may run although they do not say that they change nothing. "*" stands for
	// any text in a name.
	Tools []string
	// When reports whether it is on, for each call; it must be safe for concurrent use. Nil: the switch says.
	When func(run *agent.Run) bool

	off atomic.Bool
}

// Bind adds the hook to OnPermission.
func (r *ReadOnly) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.ReadOnly", toolname.Check("Tools", r.Tools))
	h.OnPermission.Add(r, hookkit.Priority(hookkit.Safety))
}

// Switch switches it on or off, from the next call on. With When it does nothing.
func (r *ReadOnly) Switch(on bool) { r.off.Store(!on) }

// On reports whether it is on in a run.
func (r *ReadOnly) On(run *agent.Run) bool {
	if r.When != nil {
		return r.When(run)
	}
	return !r.off.Load()
}

// OnPermission denies what may change something.
func (r *ReadOnly) OnPermission(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	if !r.On(run) || toolname.Match(r.Tools, call.Name) || saysReadOnly(run, call.Name) {
		return nil, nil
	}
	return agent.Deny{Reason: fmt.Sprintf("tool %s may change something, and only tools that change nothing may run now",
		shorten.To(call.Name, toolname.MaxDisplay))}, nil
}

// saysReadOnly reports whether a tool of the run says of itself that it changes nothing.
func saysReadOnly(run *agent.Run, tool string) bool {
	env := kit.Env(run)
	if env == nil || env.Tools == nil {
		return false
	}
	schema, ok := env.Tools.Lookup(tool)
	return ok && schema.ReadOnly
}
