package builtin

import (
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A firstHand lets a hook that was used more than once, or that stands in several layers, take note of each fire
// once. Each Bind makes a binding, which is told of every fire that its registration reaches; the first that is
// told takes the note.
//
// It goes by counting: all bindings of a run are told of the same fires of a point, so the one whose count is
// ahead is the first. If the first is removed in the middle of a run, the next is ahead from then on. A binding
// that joins in the middle of a run takes over the count, so that no fire goes unnoticed.
type firstHand struct {
	runs hookkit.PerRun[map[string]*hearing]
}

// A binding is one Bind of a hook. It is used by pointer.
type binding struct{ _ byte }

// A hearing is what the bindings of a hook were told of one point in one run.
type hearing struct {
	noted int
	last  fireMark
	told  map[*binding]int
}

// A fireMark tells a fire from the one before it when a binding joins.
type fireMark struct {
	start   time.Time
	elapsed time.Duration
	by      string
}

// hears reports whether the binding is the first to be told of a fire.
func (f *firstHand) hears(run *agent.Run, at *binding, point string, v hookkit.Verdict) (first bool) {
	if run == nil {
		return true
	}
	mark := fireMark{v.Start, v.Elapsed, v.By}
	f.runs.Do(run, func(points *map[string]*hearing) {
		if *points == nil {
			*points = make(map[string]*hearing)
		}
		h := (*points)[point]
		if h == nil {
			h = &hearing{told: make(map[*binding]int)}
			(*points)[point] = h
		}
		n, joined := h.told[at]
		if !joined {
			n = h.noted
			if n > 0 && h.last == mark {
				n-- // another binding has noted this very fire
			}
		}
		n++
		h.told[at] = n
		if first = n > h.noted; first {
			h.noted, h.last = n, mark
		}
	})
	return first
}
