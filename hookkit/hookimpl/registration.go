package hookimpl

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A registration implements the public Registration: the entries of one Add, Observe, ObserveAny, Use or Trace.
type registration struct {
	name, site string
	public     *hookkit.Registration
	place      *place
	around     *registration // the Use whose Bind made it, or of which it replaced a part; nil if there is none

	mu       sync.Mutex
	owners   []*Registry // the registries that may have entries of it
	queues   []*queue
	dropped  uint64        // events that queues dropped which are forgotten
	held     int           // entries that are registered, or in memory after their removal
	released chan struct{} // nil until somebody asks
}

// A place is the position of a registration among the others. Replacing passes the place on. So the Before and After
// of others, which refer to the place, also apply to the successor.
type place struct {
	holder atomic.Pointer[registration]
	whole  atomic.Pointer[place] // of a Use that was replaced while it contained this place; nil otherwise
	// seq begins the seq of the holder's entries, if it replaced another registration. The locks of the holder's
	// registries guard it.
	seq []uint64
}

func newRegistration(name, site string) *registration {
	r := &registration{name: name, site: site, place: new(place)}
	r.place.holder.Store(r)
	r.public = (*hookkit.Registration)(opaque.NewRegistration(r))
	return r
}

func (r *registration) Name() string { return r.name }

func (r *registration) Site() string { return r.site }

// Remove removes the entries at every point.
func (r *registration) Remove() bool {
	owners := r.at()
	unlock := lock(owners)
	for !slices.Equal(r.at(), owners) { // another goroutine has replaced or removed a part of it meanwhile
		unlock()
		owners = r.at()
		unlock = lock(owners)
	}
	defer unlock()
	r.mu.Lock()
	r.owners = nil
	r.mu.Unlock()
	removed := false
	for _, owner := range owners {
		if gone := owner.remove(r.has); len(gone) > 0 {
			owner.changed()
			retire(gone)
			removed = true
		}
	}
	return removed
}

// has reports whether the entry belongs to the registration.
func (r *registration) has(e *entry) bool { return slices.Contains(e.regs, r) }

// Released returns the channel that is closed when the entries were removed and nothing refers to them any more.
func (r *registration) Released() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.released == nil {
		r.released = make(chan struct{})
		if r.held == 0 {
			close(r.released)
		}
	}
	return r.released
}

// hold adds n to the entries that are registered or in memory.
func (r *registration) hold(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held += n; r.held == 0 && r.released != nil {
		close(r.released)
	}
}

// retire makes the garbage collector count the removed entries, when it finds that no fire and no frozen Hooks refer to
// them. Counting the fires themselves would cost every fire.
func retire(removed []*entry) {
	for _, e := range removed {
		runtime.AddCleanup(e, func(regs []*registration) {
			for _, r := range regs {
				r.hold(-1)
			}
		}, e.regs)
	}
}

// watch adds the queue of an Async observer to the registration, and to the Uses around it. They forget the queues of
// parts that were replaced earlier, so that replacing a part again and again needs no more memory.
func (r *registration) watch(q *queue) {
	for ; r != nil; r = r.around {
		r.mu.Lock()
		if !slices.Contains(r.queues, q) {
			kept := make([]*queue, 0, len(r.queues)+1)
			for _, other := range r.queues {
				if other.retired.Load() && other.idle() {
					r.dropped += other.dropped.Load()
				} else {
					kept = append(kept, other)
				}
			}
			r.queues = append(kept, q)
		}
		r.mu.Unlock()
	}
}

func (r *registration) watched() []*queue {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.queues
}

// Drain waits for the queues.
func (r *registration) Drain(ctx context.Context) error {
	for _, q := range r.watched() {
		if err := q.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Dropped counts the events for which the queues had no room.
func (r *registration) Dropped() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.dropped
	for _, q := range r.queues {
		n += q.dropped.Load()
	}
	return n
}

// registeredAt records that the registration has entries at the owner, and reports whether that is new. If a Use moved
// the entries there, those in the Hooks of its Bind are forgotten, because nobody fires them.
func (r *registration) registeredAt(owner *Registry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.owners, owner) {
		return false
	}
	if slices.ContainsFunc(r.owners, (*Registry).isBound) {
		r.owners = slices.DeleteFunc(slices.Clone(r.owners), (*Registry).isBound)
	}
	r.owners = append(r.owners, owner)
	return true
}

// at returns the registries that may have entries of the registration.
func (r *registration) at() []*Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owners
}
