package model

// A program is a list of steps, and then lists of steps that run at the same time.
type program struct {
	Steps   []step
	Threads [][]step
}

// A step is one of the types below. Registrations and layers have numbers, in the order in which they are made; layer 0
// is the outermost. A step whose layer was never made does nothing.
type step interface{ step() }

type (
	// add registers a hook.
	add struct {
		Reg, Layer    int
		Hook          hook
		Before, After []int
	}
	// use registers a bundle of hooks, perhaps with a priority for all.
	use struct {
		Reg, Layer    int
		Hooks         []hook
		Outrank       bool
		Priority      int
		Before, After []int
	}
	// observe registers an observer of a point, or of all points.
	observe struct {
		Reg, Layer    int
		Point         string // "" for all
		Priority      int
		Async         bool
		Does          deed // goesOn, panics or exits
		Before, After []int
	}
	// remove undoes a registration.
	remove struct{ Reg int }
	// drain waits until what Async observers of a registration are to be told is told.
	drain struct{ Reg int }
	// layer makes a layer.
	layer struct{ Parent int }
	// trace attaches a tracer to a layer, or detaches it.
	trace struct {
		Layer int
		Off   bool
	}
	// fire fires a point.
	fire struct {
		Layer int
		Point string
		Act   deed // goesOn, fails, panics or exits; of an act that hooks wrap
	}
)

func (add) step()     {}
func (use) step()     {}
func (observe) step() {}
func (remove) step()  {}
func (drain) step()   {}
func (layer) step()   {}
func (trace) step()   {}
func (fire) step()    {}

// A hook is one hook: where it stands, and what it does when it is called. Inside are steps that it plays first. An add
// among them gets a new number each time; other registrations are not played inside.
type hook struct {
	Point                     string
	Priority                  int
	Does                      deed
	Inside                    []step
	Once, Timeout, FailClosed bool
}

// A deed is what a hook does. One that means nothing at its point goes on.
type deed string

const (
	goesOn      deed = ""
	replaces    deed = "replaces"    // the payload; on the way in, where it wraps
	edits       deed = "edits"       // the note of the payload
	leaves      deed = "leaves"      // with the first exit of the point
	leavesToo   deed = "leavesToo"   // with the second
	contributes deed = "contributes" // beside going on
	both        deed = "both"        // leaves and contributes
	fails       deed = "fails"       // returns an error, beside all else that it can return
	panics      deed = "panics"
	panicsNil   deed = "panicsNil"
	lies        deed = "lies"    // returns an exit by pointer
	hangs       deed = "hangs"   // until its Timeout gives it up, and much longer
	obeys       deed = "obeys"   // hangs until its context ends
	exits       deed = "exits"   // ends its goroutine
	twice       deed = "twice"   // calls next twice
	answers     deed = "answers" // in the place of the act
	rescues     deed = "rescues" // answers if next fails
	forgets     deed = "forgets" // neither calls next nor answers
)
