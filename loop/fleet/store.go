package fleet

import (
	"context"
	"errors"
	"time"
)

// The errors of a store. Any other error means that the outcome is unknown: the change may have been made.
var (
	// ErrConflict is the error of a change that expected another state. It was not made.
	ErrConflict = errors.New("fleet: another process has changed it")
	// ErrNotFound is the error about a run or a key that does not exist.
	ErrNotFound = errors.New("fleet: it does not exist")
	// ErrTooLarge is the error of a change that the store never takes. It was not made.
	ErrTooLarge = errors.New("fleet: it is too large for the store")
	// ErrAnswer is the error of an answer that does not fit its question. Nothing was changed.
	ErrAnswer = errors.New("fleet: the answer does not fit its question")
	// ErrUnreadable is the error about a run or an account that this release cannot read. The run may go on: workers of
	// the other release continue it.
	ErrUnreadable = errors.New("another release has written it; upgrade this program, or ask a program of that release")
)

// A Store has the three parts of the memory of a fleet. All workers and clients of a fleet use the same store.
type Store struct {
	Log   Log
	Queue Queue
	Table Table
}

// A Log keeps the events of each run in order. It is safe for concurrent use.
type Log interface {
	// Append adds an event to the log of a run and returns its number. It fails with ErrConflict unless the number of
	// the last event is last; 0 means that the log is empty. Numbers grow, with gaps.
	Append(ctx context.Context, run string, event []byte, last uint64) (number uint64, err error)
	// Read returns the events after a number, in order.
	Read(ctx context.Context, run string, after uint64) ([]Entry, error)
	// Last returns the number of the last event, 0 if the log is empty.
	Last(ctx context.Context, run string) (uint64, error)
	// Await returns when the log has an event after a number, or with the error of ctx.
	Await(ctx context.Context, run string, after uint64) error
	// Runs returns the IDs of all runs, each with the count of its events.
	Runs(ctx context.Context) (map[string]uint64, error)
	// Forget removes the logs of ended runs that need not be kept any longer. The entries are their last ones, with
	// number and time. A log that another event follows stays.
	Forget(ctx context.Context, ended map[string]Entry) error
}

// An Entry is an event in a Log.
type Entry struct {
	Number uint64
	Time   time.Time // by the clock of the server
	Event  []byte
}

// A Queue has the runs that want a worker, each at most once. It is safe for concurrent use.
type Queue interface {
	// Put adds a run. It returns nil if the run is in the queue already, also if a worker holds it.
	Put(ctx context.Context, run string) error
	// Take waits for a run and claims it for the lifetime of a claim.
	Take(ctx context.Context) (Delivery, error)
	// Runs returns the runs in the queue, also those that a worker holds. A worker asks for them when it looks for lost
	// runs, about once in Worker.Sweep for the whole fleet.
	Runs(ctx context.Context) (map[string]bool, error)
	// Lifetime is the time after which a claim that is not renewed ends, by the clock of the server.
	Lifetime() time.Duration
}

// A Delivery is a run that a worker has taken from a Queue. It stays in the queue until Done.
type Delivery interface {
	Run() string
	Token() Token
	Renew(ctx context.Context) error // begins the lifetime of the claim again
	Done(ctx context.Context) error  // removes the run from the queue
	// Return gives the run to another worker after a delay.
	Return(ctx context.Context, after time.Duration) error
}

// A Token orders the deliveries of a run. A later delivery of the same queue has a greater message, or the same message
// and a greater try.
//
// Suppose that somebody deletes the queue while workers run. A worker makes it again, and its messages count from 1.
// Deliveries of different queues have no order. Each of them may claim the run, and the log decides.
type Token struct {
	Queue   int64  `json:"queue,omitempty"` // differs if the queue was made again
	Message uint64 `json:"message"`         // of the queue
	Try     uint64 `json:"try"`             // of the message, from 1
}

// After reports whether t may be a later delivery than u.
func (t Token) After(u Token) bool {
	return t.Queue != u.Queue || t.Message > u.Message || t.Message == u.Message && t.Try > u.Try
}

// same reports whether both are deliveries of one message.
func (t Token) same(u Token) bool { return t.Queue == u.Queue && t.Message == u.Message }

// A Table keeps small values under keys. It is safe for concurrent use.
type Table interface {
	// Get returns the value of a key and its revision, or ErrNotFound.
	Get(ctx context.Context, key string) (value []byte, revision uint64, err error)
	// Put stores the value of a key. It fails with ErrConflict unless the revision of the key is last; 0 means that the
	// key has no value.
	Put(ctx context.Context, key string, value []byte, last uint64) error
}
