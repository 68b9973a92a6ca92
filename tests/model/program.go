package model

import "github.com/hookgen/hookgen/tests/points"

// A Program is a list of steps, followed by lists of steps that run in parallel.
type Program struct {
	Steps   []Step
	Threads [][]Step
}

// A Step is one of the types below. Registrations and layers are numbered in order of creation; layer 0 is the
// outermost. A step in a layer that does not exist is a no-op.
type Step interface{ step() }

type (
	// Add registers a hook.
	Add struct {
		Reg, Layer    int
		Hook          Hook
		Before, After []int
	}
	// Use registers a bundle of hooks, perhaps with a priority for all. Anchors of the bundle override those of
	// its hooks.
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
		Point         string // "" for all points
		Priority      int
		Async         bool
		Does          Deed // Continues, Panics or EndsGoroutine
		Before, After []int
	}
	// Trace attaches a tracer to a layer.
	Trace struct{ Reg, Layer int }
	// Handle sets or removes the failure handler of a layer.
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
		Act   []Deed // actions of the wrapped act, call by call: Continues, Fails, Panics or EndsGoroutine
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

// A Hook is one hook, with its registration options and its action. It plays the steps in Inside first. An Add
// among them gets a new number each time; other registrations are not played inside.
type Hook struct {
	Point                     string
	Priority                  int
	Does                      Deed
	Inside                    []Step
	Once, Timeout, FailClosed bool
	Before, After             []int // in a Use
}

// A Deed is the action of a hook. A deed without meaning at its point continues.
type Deed string

// The deeds.
const (
	Continues     Deed = ""
	Replaces      Deed = "Replaces"      // the payload; at an around point, for the inner hooks
	Edits         Deed = "Edits"         // the note of the payload
	Leaves        Deed = "Leaves"        // with the first exit of the point
	LeavesSecond  Deed = "LeavesSecond"  // with the second
	LeavesThird   Deed = "LeavesThird"   // with the third
	Contributes   Deed = "Contributes"   // two values
	Both          Deed = "Both"          // leaves with the first exit and contributes
	Fails         Deed = "Fails"         // returns an error together with all other results
	Panics        Deed = "Panics"        // with an error
	PanicsNil     Deed = "PanicsNil"     // with nil
	Lies          Deed = "Lies"          // returns an exit by pointer
	Hangs         Deed = "Hangs"         // until long after the Timeout
	Obeys         Deed = "Obeys"         // hangs until its context ends
	EndsGoroutine Deed = "EndsGoroutine" // calls runtime.Goexit
	CallsTwice    Deed = "CallsTwice"    // calls next twice and returns the second answer
	KeepsFirst    Deed = "KeepsFirst"    // calls next twice and returns the first answer
	Answers       Deed = "Answers"       // without calling next
	AnswersAfter  Deed = "AnswersAfter"  // calls next and answers with another result
	Rescues       Deed = "Rescues"       // answers if next fails
	FailsAfter    Deed = "FailsAfter"    // calls next, then fails
	PanicsAfter   Deed = "PanicsAfter"   // calls next, then panics
	Forgets       Deed = "Forgets"       // neither calls next nor answers
)
