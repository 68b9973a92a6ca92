package model

import "github.com/hookgen/hookgen/tests/points"

// A Program is a list of steps, and then lists of steps that run at the same time.
type Program struct {
	Steps   []Step
	Threads [][]Step
}

// A Step is one of the types below. Registrations and layers have numbers, in the order in which they are made; layer 0
// is the outermost. A step whose layer was never made does nothing.
type Step interface{ step() }

type (
	// Add registers a hook.
	Add struct {
		Reg, Layer    int
		Hook          Hook
		Before, After []int
	}
	// Use registers a bundle of hooks, perhaps with a priority for all. Anchors of the bundle outrank those of its hooks.
	Use struct {
		Reg, Layer    int
		Hooks         []Hook
		Outrank       bool
		Priority      int
		Before, After []int
	}
	// Observe registers an observer of a point, or of all points.
	Observe struct {
		Reg, Layer    int
		Point         string // "" for all
		Priority      int
		Async         bool
		Does          Deed // Continues, Panics or EndsGoroutine
		Before, After []int
	}
	// Trace attaches a tracer to a layer.
	Trace struct{ Reg, Layer int }
	// Handle gives a layer a failure handler, or takes it away.
	Handle struct {
		Layer int
		Off   bool
	}
	// Remove undoes a registration.
	Remove struct{ Reg int }
	// Drain waits until the Async observers of a registration have been notified.
	Drain struct{ Reg int }
	// Layer makes a layer.
	Layer struct{ Parent int }
	// Fire fires a point.
	Fire struct {
		Layer int
		Point string
		How   points.How
		Act   []Deed // of an act that hooks wrap, call by call: Continues, Fails, Panics or EndsGoroutine
	}
)

func (Add) step()     {}
func (Use) step()     {}
func (Observe) step() {}
func (Trace) step()   {}
func (Handle) step()  {}
func (Remove) step()  {}
func (Drain) step()   {}
func (Layer) step()   {}
func (Fire) step()    {}

// A Hook is one hook: where it is registered, and what it does when it is called. Inside are steps that it plays first. An
// Add among them gets a new number each time; other registrations are not played inside.
type Hook struct {
	Point                     string
	Priority                  int
	Does                      Deed
	Inside                    []Step
	Once, Timeout, FailClosed bool
	Before, After             []int // in a Use
}

// A Deed is what a hook does. One that means nothing at its point continues.
type Deed string

// The deeds.
const (
	Continues     Deed = ""
	Replaces      Deed = "Replaces"      // the payload; at an around point, for the hooks further in
	Edits         Deed = "Edits"         // the note of the payload
	Leaves        Deed = "Leaves"        // with the first exit of the point
	LeavesSecond  Deed = "LeavesSecond"  // with the second
	LeavesThird   Deed = "LeavesThird"   // with the third
	Contributes   Deed = "Contributes"   // two values
	Both          Deed = "Both"          // leaves with the first exit and contributes
	Fails         Deed = "Fails"         // returns an error, and all else that it can return
	Panics        Deed = "Panics"        // with an error
	PanicsNil     Deed = "PanicsNil"     // with nil
	Lies          Deed = "Lies"          // returns an exit by pointer
	Hangs         Deed = "Hangs"         // until long after its Timeout
	Obeys         Deed = "Obeys"         // hangs until its context ends
	EndsGoroutine Deed = "EndsGoroutine" // calls runtime.Goexit
	CallsTwice    Deed = "CallsTwice"    // calls next twice and returns the second answer
	KeepsFirst    Deed = "KeepsFirst"    // calls next twice and returns the first answer
	Answers       Deed = "Answers"       // without calling next
	AnswersAfter  Deed = "AnswersAfter"  // calls next and answers with another result
	Rescues       Deed = "Rescues"       // answers if next fails
	FailsAfter    Deed = "FailsAfter"    // calls next and fails
	PanicsAfter   Deed = "PanicsAfter"   // calls next and panics
	Forgets       Deed = "Forgets"       // neither calls next nor answers
)
