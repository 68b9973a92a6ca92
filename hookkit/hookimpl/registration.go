package hookimpl

import (
	"context"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A registration implements the public Registration: the entries of one Add, Observe, ObserveAny, Use or Trace.
type registration struct {
	name, site string
	public     *hookkit.Registration
	queues     []*queue

	mu     sync.Mutex
	owners []*Registry // the registries that may have entries of it
}

func newRegistration(name, site string) *registration {
	r := &registration{name: name, site: site}
	r.public = (*hookkit.Registration)(opaque.NewRegistration(r))
	return r
}

func (r *registration) Name() string { return r.name }

func (r *registration) Site() string { return r.site }

// Remove removes the entries at every point.
func (r *registration) Remove() bool {
	r.mu.Lock()
	owners := r.owners
	r.owners = nil
	r.mu.Unlock()
	unlock := lock(owners)
	defer unlock()
	removed := false
	for _, owner := range owners {
		if owner.remove(r) {
			removed = true
		}
	}
	return removed
}

// Drain waits for the queues.
func (r *registration) Drain(ctx context.Context) error {
	for _, q := range r.queues {
		if err := q.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Dropped counts the events for which the queues had no room.
func (r *registration) Dropped() uint64 {
	var n uint64
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
