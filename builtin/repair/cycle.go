package repair

import (
	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
)

// cycles detects sequences of calls that repeat with the same results, such as A B A B. It keeps the last calls and
// counts, for each cycle length, how many calls in a row equal the call one length earlier. The zero value is ready to
// use.
type cycles struct {
	last    []cycleEntry // the last finished calls, oldest first; at most the longest cycle
	lengths []cycle      // indexed by length; 0 and 1 are unused
	pending int          // calls that were allowed but have no result yet
}

// A cycleEntry is a call and its result.
type cycleEntry struct{ call, result fingerprint.Sum }

// A cycle counts the repetitions at one length.
type cycle struct {
	matched int   // calls in a row that equal the call one length earlier
	hints   hints // given during these repetitions
}

// add records a finished call.
func (c *cycles) add(e cycleEntry, longest int) {
	c.pending = max(c.pending-1, 0)
	if longest < 2 {
		return
	}
	if c.lengths == nil {
		c.lengths = make([]cycle, longest+1)
	}
	for length := 2; length <= longest; length++ {
		l := &c.lengths[length]
		if at := len(c.last) - length; at >= 0 && c.last[at] == e {
			l.matched++
		} else if l.matched > 0 {
			*l = cycle{}
		}
	}
	if len(c.last) < longest {
		c.last = append(c.last, e)
		return
	}
	copy(c.last, c.last[1:])
	c.last[longest-1] = e
}

// continued returns the length of the cycle that a call would continue, and its rounds so far. Each hint counts as a
// round. If the call continues no cycle, rounds is 0.
func (c *cycles) continued(call fingerprint.Sum) (length, rounds int) {
	for l := 2; l < len(c.lengths); l++ {
		at := len(c.last) - l + c.pending
		if c.pending >= l || at < 0 || c.lengths[l].matched < l || c.last[at].call != call {
			continue
		}
		if n := 1 + c.lengths[l].matched/l + c.lengths[l].hints.given; n > rounds {
			length, rounds = l, n
		}
	}
	return length, rounds
}
