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
// taken, and List shows it as in doubt. An operator looks at what has happened. Put with the same state lets the run
// continue, which may repeat calls, and Delete forgets it.
type RunStore interface {
	// Put stores a run that waits for answers. It replaces the state of the same run, also one that is taken.
	Put(ctx context.Context, s Suspension) error
	// Take returns a run and marks it as taken until a time. The error is a *NotFound for an unknown run, and a *RunTaken
	// for a run that is taken, also if that time has passed. One of several callers gets the run.
	Take(ctx context.Context, run string, until time.Time) (Suspension, error)
	// Extend sets a new time for a taken run. For a run that is not taken it returns a *NotFound.
	Extend(ctx context.Context, run string, until time.Time) error
	// Delete forgets a run, taken or not. An unknown run is no error.
	Delete(ctx context.Context, run string) error
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
