package hookkit

import (
	"context"
	"reflect"
)

// A PointInfo describes one fire point of some Hooks and gives access to it without its types. Test kits, recorders
// and transports use it to treat all points of any spec alike; programs call the generated methods instead. The Points
// method of generated Hooks returns one PointInfo for each point.
type PointInfo struct {
	Spec     string    // the import path of the spec's package, which declares the point
	Name     string    // the method's name in the spec
	Payload  string    // its parameter's type as the spec has it
	Results  string    // its result list as the spec has it, without the qualifier; "" at a point that only observes
	Outcomes []Outcome // the legal decisions, in the order of the result list; nil where hooks decide nothing

	Contribution reflect.Type // the type of one contribution; nil where hooks contribute nothing
	Access
}

// Access is the part of a [PointInfo] that works on the point itself.
type Access interface {
	// Hooks lists the hooks of the point in firing order, those of outer layers included.
	Hooks() []Info
	// Observers lists the observers in the order in which they are notified, observers of all points included.
	Observers() []Info
	// New returns a pointer to a zero payload.
	New() any
	// NewRun returns a new run with a zero environment.
	NewRun() AnyRun
	// ResumeRun returns a run with a zero environment and the identity of one that began elsewhere; see [ResumeRun].
	ResumeRun(id, parent, root string) AnyRun
	// Fire fires the point. The payload is a value of the payload's type, or a pointer to one, which hooks then may
	// replace. The run is one of the spec's, or nil. At an around point the wrapped act yields a zero result. The
	// error is the one in AnyFired, or says which argument has the wrong type.
	Fire(ctx context.Context, run AnyRun, payload any) (AnyFired, error)
	// AddAny registers a hook that works at any point. It panics as Add does, and if FailClosed is given where hooks
	// decide nothing.
	AddAny(h AnyHook, opts ...GateOption) *Registration
	// ObserveAny registers an observer that works at any point. It panics as Observe does.
	ObserveAny(observe AnyObserverFunc, opts ...ObserverOption) *Registration
	// HandleFailures sets the failure handler of this point, as the generated method does for all points. A test kit
	// sets one, because PointInfo.Fire does not return the failures of observers.
	HandleFailures(handle func(context.Context, *Failure))
}

// An Outcome is one decision that is legal at a point.
type Outcome struct {
	Name string       // "Replace", "Edit", or the name of the exit's type
	Type reflect.Type // of the value that New takes: the payload, the edited field, or the exit
	// New returns the outcome for a value of that type. The reason counts for Replace and Edit; an exit has its own.
	New func(value any, reason string) (any, error)
}

// An AnyHook is a hook for any point; see [Access]. Its outcome must be one that [Outcome] made, or an exit, or nil to
// continue.
type AnyHook func(ctx context.Context, run AnyRun, call AnyCall) (AnyReply, error)

// An AnyObserverFunc is an observer of any point; see [Access].
type AnyObserverFunc func(ctx context.Context, run AnyRun, fired AnyFired)

// AnyCall is one call of an [AnyHook].
type AnyCall struct {
	Point   string // the name of the point
	Payload any    // a value of the payload's type
	// Next runs the inner hooks and the wrapped act; nil if the point is not an around point. The Result of the reply
	// is the one to return to pass the answer on.
	Next func(ctx context.Context, payload any) (AnyReply, error)
}

// AnyReply is the result of an [AnyHook].
type AnyReply struct {
	Outcome   any // nil to continue
	Collected any // the contributions, a []T; nil for none
	Result    any // at an around point: the result to answer with, or the Result that Next returned
}
