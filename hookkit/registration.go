package hookkit

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Registration is the result of a call of Add, AddFunc, Observe, ObserveFunc, ObserveAny, Use or Trace. Keep it to
// remove its hooks, or to order other hooks around it. All methods may be called at any time from any goroutine, also
// from inside a hook. A nil or zero Registration refers to nothing: its methods do nothing and return zero values.
type Registration opaque.Registration

// registered returns the implementation, nil for a nil or zero Registration.
func (r *Registration) registered() opaque.Registered {
	if r == nil {
		return nil
	}
	return (*opaque.Registration)(r).Registered()
}

// Name returns the name given with [Named], or else the name of the hook's type or function.
func (r *Registration) Name() string {
	if g := r.registered(); g != nil {
		return g.Name()
	}
	return ""
}

// Site returns the place given with [Site], or else the place of the registering call, as file:line. The path is
// relative to the main module, for example cmd/shipit/main.go:33, and begins with the module's path in other modules.
// It is the same on every machine.
func (r *Registration) Site() string {
	if g := r.registered(); g != nil {
		return g.Site()
	}
	return ""
}

// Remove undoes the registration at all its points. It reports whether anything was left to undo. A fire that has
// begun still calls the removed hooks. Removing twice is harmless.
func (r *Registration) Remove() bool {
	g := r.registered()
	return g != nil && g.Remove()
}

// Drain waits until the Async observers of the registration have been notified of every event that is queued now. If
// ctx ends first, Drain returns its error and the events stay in the queue. An observer must not drain its own
// registration: it would wait for itself.
func (r *Registration) Drain(ctx context.Context) error {
	if g := r.registered(); g != nil {
		return g.Drain(ctx)
	}
	return nil
}

// Dropped returns the number of events that the Async observers of the registration missed because their queue was
// full.
func (r *Registration) Dropped() uint64 {
	if g := r.registered(); g != nil {
		return g.Dropped()
	}
	return 0
}

// Released returns a channel that is closed when the hooks of the registration were removed or replaced, and no fire
// and no Hooks from Pinned can call them any more. For example, a program closes a plug-in then. The garbage collector
// finds that out, so the channel is closed some time later: with the second collection at the latest, and after minutes
// in a program that allocates nothing. An Async observer counts until it has been notified of every queued event.
func (r *Registration) Released() <-chan struct{} {
	if g := r.registered(); g != nil {
		return g.Released()
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Info describes one registered hook or observer in a listing.
type Info struct {
	Name       string        // as [Registration.Name]
	Site       string        // as [Registration.Site]; of a hook that a Bind added without [Site], that of the Use
	Priority   int           // as given; 0 if none was
	Layer      int           // 0 for the outermost Hooks, 1 for a layer on them, and so on
	LayerName  string        // the name given to that layer; "" for the outermost Hooks
	Timeout    time.Duration // 0 for none
	FailClosed bool          // a failure of the hook ends the fire, as it always does at Check and Around
	Keys       []any         // the values of the point's key that it is registered for; nil for all
	Async      int           // the length of the queue; 0 for a synchronous observer
	Why        string        // the reasons for its position, in words
}
