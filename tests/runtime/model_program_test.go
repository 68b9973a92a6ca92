package runtime_test

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
	// its hooks. After its hooks, the bundle makes Uses of its own, whose Layer and Replacing have no meaning.
	Use struct {
		Reg, Layer    int
		Hooks         []Hook
		Uses          []Use
		Outrank       bool
		Priority      int
		Keys          []string
		Before, After []int
		Replacing     []int // at most one
	}
	// Observe registers an observer of a point, or of all points.
	Observe struct {
		Reg, Layer    int
		Point         string // "" for all points
		Priority      int
		Async         bool
		Does          Action // Continues, Panics or EndsGoroutine
		Keys          []string
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
	// Pin pins the Hooks of a layer, for later fires. Pins are numbered from 1.
	Pin struct{ Layer int }
	// Fire fires a point.
	Fire struct {
		Layer int
		Pin   int // fires the pinned Hooks instead of those of the layer; 0: not
		Point string
		Tool  string // of the payload; at a point with the key Kind it is the key
		How   points.How
		Act   []Action // actions of the wrapped act, call by call: Continues, Fails, Panics or EndsGoroutine
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
func (Pin) step()     {}
func (Fire) step()    {}

// A Hook is one hook, with its registration options and its action. It plays the steps in Inside first. An Add
// among them gets a new number each time; other registrations are not played inside.
type Hook struct {
	Point               string
	Priority            int
	Does                Action
	Inside              []Step
	Timeout, FailClosed bool
	Keys                []string // for the option ForKind; nil: without it
	Before, After       []int    // in a Use
}

// An Action is the behaviour of a hook. An action without meaning at its point continues.
type Action string

// The actions.
const (
	Continues     Action = ""
	Replaces      Action = "Replaces"      // the payload; at an around point, for the inner hooks
	Redirects     Action = "Redirects"     // replaces the payload by one with another key
	Edits         Action = "Edits"         // the note of the payload
	Leaves        Action = "Leaves"        // with the first exit of the point
	LeavesSecond  Action = "LeavesSecond"  // with the second
	LeavesThird   Action = "LeavesThird"   // with the third
	Contributes   Action = "Contributes"   // two values
	Both          Action = "Both"          // leaves with the first exit and contributes
	Fails         Action = "Fails"         // returns an error together with all other results
	Panics        Action = "Panics"        // with an error
	PanicsNil     Action = "PanicsNil"     // with nil
	Lies          Action = "Lies"          // returns an exit by pointer
	Hangs         Action = "Hangs"         // until long after the Timeout
	Obeys         Action = "Obeys"         // hangs until its context ends
	EndsGoroutine Action = "EndsGoroutine" // calls runtime.Goexit
	CallsTwice    Action = "CallsTwice"    // calls next twice and returns the second answer
	KeepsFirst    Action = "KeepsFirst"    // calls next twice and returns the first answer
	Answers       Action = "Answers"       // without calling next
	AnswersAfter  Action = "AnswersAfter"  // calls next and answers with another result
	Rescues       Action = "Rescues"       // answers if next fails
	FailsAfter    Action = "FailsAfter"    // calls next, then fails
	PanicsAfter   Action = "PanicsAfter"   // calls next, then panics
	Forgets       Action = "Forgets"       // neither calls next nor answers
)
