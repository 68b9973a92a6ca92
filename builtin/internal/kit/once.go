package kit

import (
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A OnceObserver lets a hook that was used more than once, or that stands in several layers, take note of each fire
// once. Each Bind makes a binding, which is told of every fire that its registration reaches; the first that is
// told takes the note.
//
// It goes by counting: all bindings of a run are told of the same fires of a point, so the one whose count is
// ahead is the first. If the first is removed in the middle of a run, the next is ahead from then on. A binding
// that joins in the middle of a run takes over the count, so that no fire goes unnoticed.
type OnceObserver struct {
	runs hookkit.PerRun[map[string]*pointFires]
}

// A Binding is one Bind of a hook. It is used by pointer.
type Binding struct{ _ byte }

// A pointFires is what the bindings of a hook were told of one point in one run.
type pointFires struct {
	noted int
	last  fireID
	seen  map[*Binding]int
}

// A fireID tells a fire from the one before it when a binding joins.
type fireID struct {
	start   time.Time
	elapsed time.Duration
	by      string
}

// First reports whether the binding is the first to be told of a fire.
func (f *OnceObserver) First(run *agent.Run, at *Binding, point string, v hookkit.Verdict) (first bool) {
	if run == nil {
		return true
	}
	mark := fireID{v.Start, v.Elapsed, v.By}
	f.runs.Do(run, func(points *map[string]*pointFires) {
		if *points == nil {
			*points = make(map[string]*pointFires)
		}
		h := (*points)[point]
		if h == nil {
			h = &pointFires{seen: make(map[*Binding]int)}
			(*points)[point] = h
		}
		n, joined := h.seen[at]
		if !joined {
			n = h.noted
			if n > 0 && h.last == mark {
				n-- // another binding has noted this very fire
			}
		}
		n++
		h.seen[at] = n
		if first = n > h.noted; first {
			h.noted, h.last = n, mark
		}
	})
	return first
}
