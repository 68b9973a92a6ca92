package limit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Cancellation stops a run from outside, for example when a user closes the window. The current step is completed
// first, so no tool call is interrupted; to interrupt calls, cancel the context of the run.
//
// Points: ShouldStop. Tier: Safety. State: none.
//
// The hook queries Source once per step. If Source reports a cancellation, the run ends with the cause user_requested
// and the source's reason. The hook does not query Source if the run is already done or its context is cancelled.
type Cancellation struct {
	Source CancelSource // required, for example a CancelSwitch
}

// A CancelSource reports whether a run must stop, for example by reading a flag in a database. It must be safe for
// concurrent use.
type CancelSource interface {
	// Cancelled reports whether the run must stop, and why. An error ends the run as failed.
	Cancelled(ctx context.Context, run *agent.Run) (reason string, cancelled bool, err error)
}

// Bind adds the hook. It panics if Source is nil.
func (c *Cancellation) Bind(h *agent.Hooks) {
	if c.Source == nil {
		kit.MustConfig("limit.Cancellation",
			errors.New("Source is nil, so nothing could stop a run; give a source, such as a CancelSwitch"))
	}
	h.ShouldStop.Add(c, hookkit.Priority(hookkit.Safety))
}

// ShouldStop ends the run if the source reports a cancellation.
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

// A CancelSwitch is a [CancelSource] in memory. It stops the runs of one conversation, or of a user, a tenant or
// everyone if Share says so. The zero value is off. It is safe for concurrent use and must not be copied.
type CancelSwitch struct {
	Share share.Scope // the runs that one call of Cancel stops; set it before the first use

	reasons sync.Map // texts, by owner
}

// Cancel turns the switch on for a conversation: each of its runs stops before its next step. If Cancel is called
// twice, the last reason counts. The switch stays on for later runs until Reset. Cancel returns an error if the
// identity does not name the conversation, or the user or tenant if Share is wider.
func (s *CancelSwitch) Cancel(of agent.Identity, reason string) error {
	owner, err := s.Share.Address(of)
	if err != nil {
		return fmt.Errorf("nothing was cancelled: %w", err)
	}
	s.reasons.Store(owner, reason)
	return nil
}

// Reset turns the switch off for a conversation. Runs that have already stopped do not continue.
func (s *CancelSwitch) Reset(of agent.Identity) {
	s.reasons.Delete(s.Share.Of(of))
}

// Cancelled returns the reason given to Cancel. It never returns an error.
func (s *CancelSwitch) Cancelled(_ context.Context, run *agent.Run) (string, bool, error) {
	reason, on := s.reasons.Load(s.Share.Owner(run))
	text, _ := reason.(string)
	return text, on, nil
}
