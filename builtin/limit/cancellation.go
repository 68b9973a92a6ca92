package limit

import (
	"context"
	"errors"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Cancellation stops a run when its source says so: the polite way to stop from outside.
//
// It contributes to ShouldStop, in the tier Safety, and has no state of its own. At each step boundary the source is
// asked; a signal stops the run with user_requested and its reason. A run that is done anyway, or whose context is
// cancelled, which the loop sees itself, does not ask. Source is required; [CancelSwitch] is one in memory.
type Cancellation struct {
	Source CancelSource
}

// A CancelSource says whether a run shall stop. It must be safe for concurrent use.
type CancelSource interface {
	// Cancelled returns why the run shall stop, and whether it shall. An error stops the run as failed.
	Cancelled(ctx context.Context, run *agent.Run) (reason string, cancelled bool, err error)
}

// Bind adds the hook. A nil Source panics.
func (c *Cancellation) Bind(h *agent.Hooks) {
	if c.Source == nil {
		kit.MustConfig("limit.Cancellation", errors.New("Source is nil, so nothing could stop a run; give a source, such as a CancelSwitch"))
	}
	h.ShouldStop.Add(c, hookkit.Priority(hookkit.Safety))
}

// ShouldStop asks the source.
func (c *Cancellation) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if step.Done || ctx.Err() != nil {
		return nil, nil
	}
	reason, cancelled, err := c.Source.Cancelled(ctx, run)
	if err != nil || !cancelled {
		return nil, err
	}
	return []agent.EndRun{{Cause: agent.CauseUserRequested, Message: reason}}, nil
}

// A CancelSwitch is a [CancelSource] in memory, for all runs that have it. The zero value is off. It is safe for
// concurrent use and must not be copied.
type CancelSwitch struct {
	mu     sync.Mutex
	reason string
	on     bool
}

// Cancel makes every run that asks stop, for the reason.
func (s *CancelSwitch) Cancel(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason, s.on = reason, true
}

// Reset lets runs go on again.
func (s *CancelSwitch) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason, s.on = "", false
}

// Cancelled returns what Cancel said.
func (s *CancelSwitch) Cancelled(context.Context, *agent.Run) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason, s.on, nil
}
