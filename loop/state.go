package loop

import "sync"

// A phase says how far a run is. A run moves to later phases only, but for one case: a failed run that gets a reply
// from OnRunError has replied.
type phase int

const (
	working   phase = iota // another step may follow
	stopped                // no step follows; the reply is still to be found
	replied                // the reply is known: an answer, an EndTurn, or that of the agent that control went to
	cancelled              // the context was done
	failed                 // the run has a failure
	settled                // what the run ends with is decided
	closed                 // OnRunEnd was fired; tools and model cannot be used any more
)

var phaseNames = [...]string{"working", "stopped", "replied", "cancelled", "failed", "settled", "closed"}

func (p phase) String() string { return phaseNames[p] }

// A state is what a run has come to. It is read everywhere in the run's goroutine, and written by [state.move] alone.
type state struct {
	mu sync.Mutex // taken by move and by those who read in another goroutine

	phase       phase
	reply       reply   // once hasReply, the first one that was given
	hasReply    bool    // the reply is known, though it may be empty
	interim     reply   // the last text of the model, for runs that stop before they have a reply
	cause       error   // of the cancellation, also if the run failed later; nil: it was not cancelled
	failure     failure // zero: there is none
	handedOffTo string
}

// A reply is a text that a run can end with.
type reply struct {
	text     string
	stored   bool   // it is in the stored conversation
	rejected bool   // a gate rejected it; it is the reply only if the run stops because of too many rejections
	by       string // the hook that gave it by EndTurn
}

// A failure is the error that a run fails with, and where it happened.
type failure struct {
	where string
	err   error
	by    string // the hook that made the error; "" for none
}

// A move is something that happens to a run, and the phase that it leads to at least.
type move struct {
	to          phase
	reply       reply   // replied, settled; working: the last text of the model
	rescued     bool    // replied: OnRunError gave the reply, so the failure is forgotten
	cause       error   // cancelled
	failure     failure // failed
	handedOffTo string  // stopped: control has gone to another agent
}

// move applies a move. It reports false if the move changes nothing, because the run has a reply, a cause of
// cancellation or a failure already: the first one counts.
func (s *state) move(m move) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.to {
	case working:
		s.interim = m.reply
	case stopped:
		if m.handedOffTo != "" {
			s.handedOffTo = m.handedOffTo
		}
	case replied:
		if m.rescued {
			s.failure, s.hasReply = failure{}, false
			if s.phase = replied; s.cause != nil {
				s.phase = cancelled
			}
		}
		if s.hasReply {
			return false
		}
		s.reply, s.hasReply = m.reply, true
	case cancelled:
		if s.cause != nil {
			return false
		}
		s.cause = m.cause
	case failed:
		if s.failure.err != nil {
			return false
		}
		s.failure = m.failure
	case settled:
		s.reply, s.hasReply = m.reply, true
	}
	s.phase = max(s.phase, m.to)
	return true
}

// over reports whether no step follows.
func (s *state) over() bool { return s.phase != working }

// isClosed reports whether OnRunEnd was fired. Any goroutine may ask.
func (s *state) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == closed
}
