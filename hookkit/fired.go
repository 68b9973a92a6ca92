package hookkit

import "time"

// By names the hook that decided a fire. FireBy returns it, so that a program can say which hook denied a call, and
// observers receive it. The zero By means that every hook continued. By is comparable.
type By struct {
	Hook     string // the name of the hook: its type, its function, or the name given with [Named]
	Site     string // where it was registered, file:line
	Decision string // one of the constants below, or the name of the exit's type
	Reason   string // the reason given to Replace or Edit, the field Reason of the exit, or the text of the error
}

// The decisions of hooks that have no name of their own in the spec. The decision of an exit is the name of its type.
const (
	DecisionReplace  = "Replace"  // the hook replaced the payload
	DecisionEdit     = "Edit"     // the hook edited a part of the payload
	DecisionAnswered = "Answered" // the around hook gave the result itself
	DecisionError    = "Error"    // the error of a hook, or of the wrapped act, ended the fire or refused at CheckAll
	DecisionCollect  = "Collect"  // the hook contributed a value
)

// A Verdict says how one fire was decided. Observers receive it as a part of the Fired struct of their point.
type Verdict struct {
	By                     // the hook that decided, at CheckAll the first that refused; zero if every hook continued
	Failures []*Failure    // in order; at an around point without the errors that hooks returned
	Start    time.Time     // when the fire began
	Elapsed  time.Duration // how long its hooks ran, without the observers
	Slow     []SlowHook    // in the order in which they returned; nil unless a record asks for them
}

// A SlowHook is a hook that took longer than the limit of a record, see package hooklog.
type SlowHook struct {
	Hook    string
	Site    string // where it was registered, file:line
	Start   time.Time
	Elapsed time.Duration // until it returned or exceeded its [Timeout]
}

// A Ballot is the vote of one hook at a point whose hooks vote.
type Ballot struct {
	By       // the hook that voted
	Exit any // the exit that it voted for
}

// AnyFired describes one fire of any point, for an observer of all points and for [AnyPoint]. The payloads are the
// values of the fire, not copies: an observer must not change them.
type AnyFired struct {
	Point     string   // the name of the point
	Key       any      // the key of the payload when the fire began; nil at a point without a key
	Payload   any      // the payload as it was passed to Fire
	Final     any      // the payload after the hooks; equal to Payload where hooks cannot replace it
	Exit      any      // the exit that ended the fire; nil without one
	Collected any      // the contributions, a []T; nil if there are none
	Result    any      // the result of the wrapped act; nil at other points
	Err       error    // the error that Fire returned, or the failure that ended its goroutine; nil for none
	Ballots   []Ballot // the votes, in firing order; nil at other points
	Verdict
}
