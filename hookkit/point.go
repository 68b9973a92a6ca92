package hookkit

import (
	"fmt"
	"io"
	"strings"
)

// A Point describes a fire point; generated code has one for each.
type Point struct {
	Name    string // the method's name in the spec
	Payload string // its parameter's type, as in the spec
	Results string // its result list, as in the spec; "" at a point that only watches
	Law     Law
}

// Law is what the runtime must know of a point's result list.
type Law uint8

// The parts of a Law.
const (
	Decides     Law = 1 << iota // hooks decide, so that a policy can be tightened
	FailsClosed                 // a failing hook ends the fire
	Stops                       // Check: the first error ends the fire
	Wraps                       // Around: an error ends the fire, and need not be the hook's own
	Reversed                    // the firing order is mirrored
)

// stops reports whether a failure of the entry ends the fire.
func (l Law) stops(e *entry) bool {
	return l&(FailsClosed|Stops|Wraps) != 0 || l&Decides != 0 && e.failClosed
}

// A PointInfo is a point and, at the moment of asking, its hooks.
type PointInfo struct {
	Point
	at attached
}

// attached is a Registry of any hook.
type attached interface {
	base() *registry
	layerOn(outer attached)
	rebuilt()
}

// Hooks lists the point's hooks in firing order, those of outer layers included.
func (p PointInfo) Hooks() []Info { return p.at.base().list() }

// Observers lists the point's observers in the order in which they are told, observers of all points included.
func (p PointInfo) Observers() []Info { return p.at.base().listObservers() }

// Layer is for generated code: it makes each of the inner points fire the hooks of the outer point in the
// same place first. The inner points must be new. It panics inside Bind.
func Layer(inner, outer []PointInfo) {
	changes.Lock()
	defer changes.Unlock()
	for i := range inner {
		outer[i].at.base().refuseInBind("Layer", "the host layers")
		inner[i].at.layerOn(outer[i].at)
	}
}

// Trace is for generated code: it attaches the tracer to the points in place of the one they had; nil detaches.
// It panics inside Bind.
func Trace(points []PointInfo, t Tracer) {
	changes.Lock()
	defer changes.Unlock()
	for _, p := range points {
		r := p.at.base()
		r.refuseInBind("Trace", "the operator traces")
		s := r.now()
		s.tracer = t
		r.set(s)
	}
}

// refuseInBind panics, naming the place where a person called the verb, if the registry is one that a Bind is given.
func (r *registry) refuseInBind(verb, whose string) {
	if r.bind != served {
		panic("hookkit: " + verb + " at " + caller(3) + " on the Hooks that Bind was given: a hook adds and observes, " + whose)
	}
}

// Explain is for generated code: it writes every point, and every hook of it in firing order with why it
// stands there.
func Explain(w io.Writer, points []PointInfo) error {
	var b strings.Builder
	for _, p := range points {
		results := p.Results
		if results == "" {
			results = "observe"
		}
		fmt.Fprintf(&b, "%s(%s): %s\n", p.Name, p.Payload, results)
		hooks, observers := p.Hooks(), p.Observers()
		if len(hooks)+len(observers) == 0 {
			b.WriteString("      nothing\n")
		}
		for i, h := range hooks {
			fmt.Fprintf(&b, "  %2d. %s  %s\n", i+1, h.Name, h.Why)
		}
		for _, o := range observers {
			fmt.Fprintf(&b, "   o  %s  %s\n", o.Name, o.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// everything holds an observer of all points.
type everything struct{ observer any }

// AnyFired is one fire of any point, as an observer of all points sees it. The payloads are the point's own
// values, not copies.
type AnyFired struct {
	Point     string
	Payload   any      // as fired
	Left      any      // as the fire left it; the same as Payload where hooks cannot change it
	Outcome   any      // the exit; nil without one
	Collected any      // the contributions, a []T; nil where there are none
	Result    any      // of the wrapped act; nil without one
	Err       error    // what the fire returned; nil where it returns none
	Ballots   []Ballot // of a vote
	Verdict
}
