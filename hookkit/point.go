package hookkit

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An AnyPoint is one fire point of some Hooks, without its types. Test kits, recorders and transports use it to treat
// all points of any spec alike; programs call the generated methods instead. The Points method of generated Hooks
// returns one AnyPoint for each point. The zero AnyPoint is no point: it lists nothing, Fire returns an error, and
// registering at it panics. All methods may be called concurrently.
type AnyPoint struct {
	Spec    string // the import path of the spec's package, which declares the point
	Name    string // the method's name in the spec
	Payload string // its parameter's type as the spec has it
	Results string // its result list as the spec has it, without the qualifier; "" at a point that only observes
	Key     string // the name of its key; "" without one
	// Outcomes are the legal decisions, in the order of the result list; nil where hooks decide nothing. Every AnyPoint
	// of the same point has the same slice, which must not be changed.
	Outcomes []Outcome

	Contribution reflect.Type // the type of one contribution; nil where hooks contribute nothing

	registry pointRegistry // nil in the zero AnyPoint
}

// PointInfo is another name of AnyPoint.
type PointInfo = AnyPoint

// A pointRegistry is the registry of a point, which hookimpl implements.
type pointRegistry interface {
	Hooks() []Info
	Observers() []Info
	New() any
	ResumeRun(id, parent, root string) AnyRun
	FireAny(ctx context.Context, run AnyRun, key, payload any) (AnyFired, error)
	Keys() []any
	NewKey() any
	AddAny(h AnyHook, opts []GateOption) *Registration
	ObserveAny(observe AnyObserverFunc, opts []ObserverOption) *Registration
	HandleFailures(handle func(context.Context, *Failure))
}

func init() {
	opaque.SetRegistry = func(point, registry any) { point.(*AnyPoint).registry = registry.(pointRegistry) }
	opaque.RegistryOf = func(point any) any { return point.(*AnyPoint).registry }
}

// Hooks lists the hooks of the point in firing order, those of outer layers included.
func (p AnyPoint) Hooks() []Info {
	if p.registry == nil {
		return nil
	}
	return p.registry.Hooks()
}

// Observers lists the observers in the order in which they are notified, observers of all points included.
func (p AnyPoint) Observers() []Info {
	if p.registry == nil {
		return nil
	}
	return p.registry.Observers()
}

// Same reports whether both are the same point of the same Hooks.
func (p AnyPoint) Same(other AnyPoint) bool { return p.registry == other.registry }

// New returns a pointer to a zero payload; nil for the zero AnyPoint.
func (p AnyPoint) New() any {
	if p.registry == nil {
		return nil
	}
	return p.registry.New()
}

// NewRun returns a new run with a zero environment; nil for the zero AnyPoint.
func (p AnyPoint) NewRun() AnyRun {
	id := newID()
	return p.ResumeRun(id, "", id)
}

// ResumeRun returns a run with a zero environment and the identity of one that began elsewhere; see [ResumeRun]. It
// returns nil for the zero AnyPoint.
func (p AnyPoint) ResumeRun(id, parent, root string) AnyRun {
	if p.registry == nil {
		return nil
	}
	return p.registry.ResumeRun(id, parent, root)
}

// Fire fires the point. The payload is a value of the payload's type, or a pointer to one, which hooks then may
// replace. The run is one of the spec's, or nil. At an around point the wrapped act yields a zero result. The error is
// the one in AnyFired, or says which argument has the wrong type.
func (p AnyPoint) Fire(ctx context.Context, run AnyRun, payload any) (AnyFired, error) {
	if p.registry == nil {
		return AnyFired{}, errors.New("hookkit: Fire of a zero AnyPoint; use one that Points of generated Hooks returned")
	}
	return p.registry.FireAny(ctx, run, nil, payload)
}

// FireKey is Fire with a key instead of that of the payload, for example of a recorded payload whose key was redacted.
// With nil it is Fire. It returns an error if the point has no key, or one of another type.
func (p AnyPoint) FireKey(ctx context.Context, run AnyRun, key, payload any) (AnyFired, error) {
	if p.registry == nil {
		return p.Fire(ctx, run, payload)
	}
	return p.registry.FireAny(ctx, run, key, payload)
}

// Keys returns the values of the key for which hooks or observers are registered. For example, a program reports those
// that it does not know, because a guard for "Bash" never runs where the tool is "bash".
func (p AnyPoint) Keys() []any {
	if p.registry == nil {
		return nil
	}
	return p.registry.Keys()
}

// NewKey returns a pointer to a zero key, for FireKey with a key that was recorded; nil at a point without a key.
func (p AnyPoint) NewKey() any {
	if p.Key == "" {
		return nil
	}
	return p.registry.NewKey()
}

// AddAny registers a hook that works at any point. It panics as Add does, and if FailClosed is given where hooks decide
// nothing.
func (p AnyPoint) AddAny(h AnyHook, opts ...GateOption) *Registration {
	p.refuseZero("AddAny")
	return p.registry.AddAny(h, opts)
}

// ObserveAny registers an observer that works at any point. It panics as Observe does.
func (p AnyPoint) ObserveAny(observe AnyObserverFunc, opts ...ObserverOption) *Registration {
	p.refuseZero("ObserveAny")
	return p.registry.ObserveAny(observe, opts)
}

// HandleFailures sets the failure handler of this point, as the generated method does for all points. A test kit sets
// one, because [AnyPoint.Fire] does not return the failures of observers.
func (p AnyPoint) HandleFailures(handle func(context.Context, *Failure)) {
	p.refuseZero("HandleFailures")
	p.registry.HandleFailures(handle)
}

// refuseZero panics at the zero AnyPoint.
func (p AnyPoint) refuseZero(method string) {
	if p.registry == nil {
		panic(fmt.Sprintf("hookkit: %s at %s: the AnyPoint is zero; use one that Points of generated Hooks returned",
			method, callsite.Of(2)))
	}
}

// An Outcome is one decision that is legal at a point.
type Outcome struct {
	Name string       // "Replace", "Edit", or the name of the exit's type
	Type reflect.Type // of the value that New takes: the payload, the edited field, or the exit
	// New returns the outcome for a value of that type. The reason counts for Replace and Edit; an exit has its own.
	New func(value any, reason string) (any, error)
}

// An AnyHook is a hook for any point; see [AnyPoint]. Its outcome must be one that [Outcome] made, or an exit, or nil
// to continue.
type AnyHook func(ctx context.Context, run AnyRun, call AnyCall) (AnyReply, error)

// An AnyObserverFunc is an observer of any point; see [AnyPoint].
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
