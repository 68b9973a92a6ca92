package loop

import "sync"

// A phase is a stage of a run. A run only moves to later phases, with one exception: OnRunError can provide a
// reply for a failed run, which then counts as replied.
type phase int

const (
	working   phase = iota // another step may follow
	stopped                // no step follows; the reply is not known yet
	replied                // the reply is known: an answer, an EndTurn, or the reply of a handoff target
	cancelled              // the context is done
	failed                 // the run has a failure
	settled                // the final reply is chosen
	closed                 // OnRunEnd has fired; tools and model cannot be used any more
)

var phaseNames = [...]string{"working", "stopped", "replied", "cancelled", "failed", "settled", "closed"}

func (p phase) String() string { return phaseNames[p] }

// A state is the phase of a run with its reply and failure. The run's goroutine reads it everywhere. Only
// [state.move] writes it.
type state struct {
	mu sync.Mutex // held by move and by readers in other goroutines

	phase       phase
	reply       reply   // once hasReply: the first reply
	hasReply    bool    // the reply is known, though it may be empty
	interim     reply   // the last text of the model, for runs that stop before they have a reply
	cause       error   // of the cancellation, also if the run failed later; nil: not cancelled
	failure     failure // zero: no failure
	handedOffTo string
}

// A reply is a candidate for the reply of a run.
type reply struct {
	text     string
	stored   bool   // already part of the stored conversation
	cut      bool   // at the model's limit; used as the reply of the stopped run
	rejected bool   // by a gate; used as the reply only if the run stops because of too many rejections
	by       string // the hook that returned it with EndTurn
}

// A failure is the error that a run fails with.
type failure struct {
	where string
	err   error
	by    string // the hook that made the error, or ""
}

// A move changes the state of a run to at least the phase to.
type move struct {
	to          phase
	reply       reply   // replied, settled; working: the last text of the model
	rescued     bool    // replied: OnRunError gave the reply, so the failure is forgotten
	cause       error   // cancelled
	failure     failure // failed
	handedOffTo string  // stopped: the agent that took over
}

// move applies a move. It reports false if the state already has a reply, a cause or a failure: the first one
// counts.
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

// isClosed reports whether OnRunEnd has fired. It is safe for concurrent use.
func (s *state) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == closed
}
