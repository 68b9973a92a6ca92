package kit

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A OnceObserver deduplicates notifications. For example, if the same Metrics hook is used in two layers, both layers
// notify it of the same fire. Metrics must count that fire once.
//
// Each Bind creates a Binding, and First reports whether a binding is the first to be notified of a fire. First counts
// the notifications of each binding: within a run, all bindings are notified of the same fires of a point, so the
// binding with the highest count is the first. If that binding is removed during a run, another one takes its role. A
// binding that is added during a run starts with the highest count.
//
// The zero value is ready. A OnceObserver is safe for concurrent use.
type OnceObserver struct {
	bound atomic.Int32
	runs  hookkit.PerRun[map[string]*pointFires]
}

// Bind returns a new Binding. As long as it is the only one, First counts nothing, because every notification is the
// first. It must be called before the binding can be notified. A hook with other bindings must not call it.
func (o *OnceObserver) Bind() *Binding {
	o.bound.Add(1)
	return new(Binding)
}

// A Binding represents one Bind of a hook. Its address is its identity, so use it by pointer.
type Binding struct{ _ byte }

// A pointFires counts the fires of one point in one run.
type pointFires struct {
	total int              // the distinct fires
	last  fireID           // the last one
	seen  map[*Binding]int // the notifications of each binding
}

// A fireID distinguishes a fire from the preceding one when a binding is added.
type fireID struct {
	start   time.Time
	elapsed time.Duration
	by      string // or the payload, at a point where the hook is not an observer and has no verdict
}

// First reports whether the binding is the first to be notified of the fire. Without a run, every binding is the first.
func (o *OnceObserver) First(run *agent.Run, binding *Binding, fired hookkit.AnyFired) (first bool) {
	if run == nil || o.bound.Load() == 1 {
		return true
	}
	id := fireID{fired.Start, fired.Elapsed, fired.Hook}
	if fired.Start.IsZero() {
		id.by = fmt.Sprint(fired.Payload)
	}
	o.runs.Do(run, func(points *map[string]*pointFires) {
		if *points == nil {
			*points = make(map[string]*pointFires)
		}
		h := (*points)[fired.Point]
		if h == nil {
			h = &pointFires{seen: make(map[*Binding]int)}
			(*points)[fired.Point] = h
		}
		n, joined := h.seen[binding]
		if !joined {
			n = h.total
			if n > 0 && h.last == id {
				n-- // another binding has already counted this fire
			}
		}
		n++
		h.seen[binding] = n
		if first = n > h.total; first {
			h.total, h.last = n, id
		}
	})
	return first
}
