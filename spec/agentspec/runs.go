package agentspec

import (
	"context"
	"fmt"
	"time"
)

// A RunStore keeps suspended runs under Suspension.Run until they have ended. It is safe for concurrent use, also by
// several processes. A process takes a run before it continues it, and no other process can take it then.
//
// For example, a process is killed while it continues a run. Nobody knows which calls it had made, so the run stays
// taken, and List shows it as in doubt. An operator looks at what has happened. Put with the same state and no lease
// lets the run continue, which may repeat calls, and Delete without a lease forgets it.
//
// Each Take has a lease of its own, a text that the process gives back with its changes. The lease ends when the run is
// put or deleted. So a process that was stopped instead of killed, and wakes up when another one has continued the run,
// changes nothing: the store returns a *LeaseEnded.
type RunStore interface {
	// Put stores a run that waits for answers, and ends its lease. Without a lease, "", it replaces any state of the run.
	Put(ctx context.Context, s Suspension, lease string) error
	// Take returns a run with a new lease, and marks it as taken until a time. The error is a *NotFound for an unknown
	// run, and a *RunTaken for a run that is taken, also if that time has passed. One of several callers gets the run.
	Take(ctx context.Context, run string, until time.Time) (s Suspension, lease string, err error)
	// Extend sets a new time for a taken run.
	Extend(ctx context.Context, run, lease string, until time.Time) error
	// Delete forgets a run. Without a lease, "", it does not matter who has taken the run, and an unknown run is no error.
	Delete(ctx context.Context, run, lease string) error
	// List returns all runs, sorted by their IDs.
	List(ctx context.Context) ([]StoredRun, error)
}

// A StoredRun is a run in a [RunStore].
type StoredRun struct {
	Suspension
	TakenUntil time.Time `json:"taken_until,omitzero"` // zero: it waits for answers
}

// InDoubt reports whether the process that has taken the run did not extend its time before now. It may have been
// killed, and may have made calls before that.
func (r StoredRun) InDoubt(now time.Time) bool {
	return !r.TakenUntil.IsZero() && r.TakenUntil.Before(now)
}

// A RunTaken is the error of a [RunStore] for a run that another process has taken.
type RunTaken struct {
	Run   string
	Until time.Time
}

// Error names the run and what to do if nobody continues it.
func (e *RunTaken) Error() string {
	return fmt.Sprintf("the run %q is taken until %s: another process continues it, or was killed; see RunStore", e.Run,
		e.Until.Format(time.RFC3339))
}

// A LeaseEnded is the error of a [RunStore] for a change by a process that does not have the run any more.
type LeaseEnded struct{ Run string }

// Error names the run and says what has happened.
func (e *LeaseEnded) Error() string {
	return fmt.Sprintf("the lease of the run %q has ended: somebody has put or deleted the run since this process took "+
		"it, and another process may have continued it; nothing was changed", e.Run)
}
