package repair

import (
	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
)

// cycles recognises sequences of calls that come again with the same results. It keeps the last calls and, for
// each length, how many of them equal the one that many calls before. The zero value is empty.
type cycles struct {
	last    []cycleEntry // the last calls that ran, the newest at the end, as many as a cycle may have
	lengths []cycle      // by length; 0 and 1 are not used
	ahead   int          // calls that were let through and have no result yet
}

// A cycleEntry is a call with its result.
type cycleEntry struct{ call, result fingerprint.Sum }

// A cycle is how far the last calls repeat themselves at one length.
type cycle struct {
	matched int   // last calls that equal the one a length before
	hints   hints // given since then
}

// add adds a call that has come back with its result.
func (c *cycles) add(e cycleEntry, longest int) {
	c.ahead = max(c.ahead-1, 0)
	if longest < 2 {
		return
	}
	if c.lengths == nil {
		c.lengths = make([]cycle, longest+1)
	}
	for length := 2; length <= longest; length++ {
		if at := len(c.last) - length; at >= 0 && c.last[at] == e {
			c.lengths[length].matched++
		} else {
			c.lengths[length] = cycle{}
		}
	}
	c.last = append(c.last, e)
	if over := len(c.last) - longest; over > 0 {
		c.last = append(c.last[:0], c.last[over:]...)
	}
}

// continued reports the cycle that a call would go on with: its length and its rounds so far, each hint counting
// as one more. Without one, rounds is 0.
func (c *cycles) continued(call fingerprint.Sum) (length, rounds int) {
	for l := 2; l < len(c.lengths); l++ {
		at := len(c.last) - l + c.ahead
		if c.ahead >= l || at < 0 || c.lengths[l].matched < l || c.last[at].call != call {
			continue
		}
		if n := 1 + c.lengths[l].matched/l + c.lengths[l].hints.given; n > rounds {
			length, rounds = l, n
		}
	}
	return length, rounds
}
