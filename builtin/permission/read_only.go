package permission

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// ReadOnly denies every call that may change something, for example while an agent plans its work. The zero value is
// on; [ReadOnly.Switch] or When turns it off.
//
// Points: OnPermission (Deny). Tier: Safety. State: the switch of each conversation; Share makes it wider.
//
// While the hook is on, it denies a call unless its tool is in Tools or its schema has ReadOnly set. Unknown tools are
// denied. List a tool that finishes the run, hands over or starts another agent in Tools if it must still work. While
// the hook is off, it does not vote.
type ReadOnly struct {
	// Tools are the names of tools that may run although their schemas are not ReadOnly. "*" matches any text in a name.
	Tools []string
	// When reports whether the hook is on for a call of the run. It must be safe for concurrent use. Nil: use Switch.
	When func(run *agent.Run) bool
	// Share selects the runs that have a switch in common; set it before the first use.
	Share share.Scope

	off sync.Map // has the owners for whom the hook is off
}

// Bind adds the hook. It panics if a name in Tools is empty or Share is invalid.
func (r *ReadOnly) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.ReadOnly", errors.Join(toolname.Check("Tools", r.Tools), r.Share.Check()))
	kit.WatchTools("permission.ReadOnly", kit.ToolNames("Tools", r.Tools)...).
		OnPermission(h, r, hookkit.Priority(hookkit.Safety))
}

// Switch turns the hook on or off for a conversation, beginning with the next call. For example, a user approves the
// plan of her conversation, and the agents of other users stay read-only. Switch has no effect if When is set. It
// returns an error if the identity does not name the conversation, or the user or tenant if Share is wider. It is safe
// for concurrent use.
func (r *ReadOnly) Switch(of agent.Identity, on bool) error {
	owner, err := r.Share.Address(of)
	if err != nil {
		return fmt.Errorf("nothing was switched: %w", err)
	}
	if on {
		r.off.Delete(owner)
	} else {
		r.off.Store(owner, true)
	}
	return nil
}

// On reports whether the hook is on for a run.
func (r *ReadOnly) On(run *agent.Run) bool {
	if r.When != nil {
		return r.When(run)
	}
	_, off := r.off.Load(r.Share.Owner(run))
	return !off
}

// OnPermission denies the call if its tool may change something.
func (r *ReadOnly) OnPermission(_ context.Context, run *agent.Run,
	call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	if !r.On(run) || toolname.Match(r.Tools, call.Name) || kit.IsReadOnly(run, call.Name) {
		return nil, nil
	}
	return agent.Deny{Reason: fmt.Sprintf("tool %s may change something, and only tools that change nothing may run now",
		shorten.To(call.Name, toolname.MaxDisplay))}, nil
}
