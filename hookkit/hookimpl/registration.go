package hookimpl

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// registering guards all registrations of the program. A fire needs it only if something changed since the last one.
var registering sync.Mutex

// A registration implements the public Registration: the entries of one Add, Observe, ObserveAny, Use or Trace.
// The lock registering guards what may change.
type registration struct {
	name, site string
	public     *hookkit.Registration
	place      *place
	entries    []*entry
	inMemory   int           // entries that were removed, and that a fire or frozen Hooks may still refer to
	released   chan struct{} // nil until somebody asks
	queues     []*queue      // of all entries that it had
}

// A place is the position of a registration among the others. Replacing passes the place on. So the Before and After
// of others, which refer to the place, also apply to the successor.
type place struct {
	holder *registration
	whole  map[spot]*place // of the Use that was replaced while it contained this place: where it had entries
	seq    []uint64        // the beginning of the seq of the holder's entries, if it replaced another registration
}

// A spot is where entries may have an order: the entries of one kind at one point, in all layers.
type spot struct {
	point *Point
	kind  kind
}

func newRegistration(name, site string) *registration {
	r := &registration{name: name, site: site}
	r.place = &place{holder: r}
	r.public = (*hookkit.Registration)(opaque.NewRegistration(r))
	return r
}

func (r *registration) Name() string { return r.name }

func (r *registration) Site() string { return r.site }

// has reports whether the entry belongs to the registration.
func (r *registration) has(e *entry) bool { return slices.Contains(e.regs, r) }

// register makes the registration of one entry, which each of the owners gets.
func register(verb string, e *entry, owners ...*Registry) *hookkit.Registration {
	reg := newRegistration(e.Name, e.Site)
	e.regs = []*registration{reg}
	registering.Lock()
	defer registering.Unlock()
	clock++
	e.seq = []uint64{clock}
	added := make([]*entry, len(owners))
	for i, owner := range owners {
		own := *e
		own.registry = owner
		added[i] = &own
	}
	if err := commit(added, reg, nil); err != nil {
		retire(added)
		panic(fmt.Sprintf("hookkit: %s at %s: %v", verb, e.Site, err))
	}
	return reg.public
}

// list adds entries to their registrations. Those inside one that has an entry have it too.
func list(entries []*entry) {
	for _, e := range entries {
		for _, r := range slices.Backward(e.regs) {
			if slices.Contains(r.entries, e) {
				break
			}
			r.entries = append(r.entries, e)
			if e.queue != nil && !slices.Contains(r.queues, e.queue) {
				r.queues = append(r.queues, e.queue)
			}
		}
	}
}

// Remove removes the entries at every point.
func (r *registration) Remove() bool {
	registering.Lock()
	defer registering.Unlock()
	gone := slices.Clone(r.entries)
	for _, owner := range registriesOf(gone) {
		owner.remove(r.has)
		owner.changed()
	}
	retire(gone)
	return len(gone) > 0
}

// retire removes entries from their registrations. The garbage collector finds when no fire and no frozen Hooks refer
// to them. Counting the fires themselves would cost every fire.
func retire(removed []*entry) {
	for _, e := range removed {
		e.removed = true
	}
	for _, e := range removed {
		for _, r := range e.regs {
			r.entries = slices.DeleteFunc(r.entries, func(e *entry) bool { return e.removed })
			r.inMemory++
		}
		runtime.AddCleanup(e, func(regs []*registration) {
			registering.Lock()
			defer registering.Unlock()
			for _, r := range regs {
				r.inMemory--
				r.release()
			}
		}, e.regs)
	}
}

// Released returns the channel that is closed when the entries were removed and nothing refers to them any more.
func (r *registration) Released() <-chan struct{} {
	registering.Lock()
	defer registering.Unlock()
	if r.released == nil {
		r.released = make(chan struct{})
		r.release()
	}
	return r.released
}

// release closes the channel of Released if it is time.
func (r *registration) release() {
	if r.released != nil && len(r.entries)+r.inMemory == 0 {
		close(r.released)
	}
}

// Drain waits for the queues.
func (r *registration) Drain(ctx context.Context) error {
	registering.Lock()
	queues := r.queues
	registering.Unlock()
	for _, q := range queues {
		if err := q.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Dropped counts the events for which the queues had no room.
func (r *registration) Dropped() uint64 {
	registering.Lock()
	defer registering.Unlock()
	var n uint64
	for _, q := range r.queues {
		n += q.dropped.Load()
	}
	return n
}
