package hookimpl

import (
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
)

// A Pin caches the result of Pinned until something changes. Each generated Hooks has one.
type Pin[H any] struct{ frozen atomic.Pointer[H] }

// Now returns the frozen Hooks, or nil if something changed since the last call of Pinned.
func (p *Pin[H]) Now() *H { return p.frozen.Load() }

// A dropper is a Pin of any Hooks.
type dropper interface{ drop() }

func (p *Pin[H]) drop() { p.frozen.Store(nil) }

// Pinned returns new Hooks of type H that fire what h, the Hooks of the pin, fires now. Frozen Hooks are returned
// themselves.
func Pinned[H any](pin *Pin[H], h *H, points func(*H) []hookkit.AnyPoint) *H {
	frozen := new(H)
	from, to := registries(points(h)), registries(points(frozen))
	refuseInBind(from, "Pinned", "the program pins")
	registering.Lock()
	defer registering.Unlock()
	if now := pin.Now(); now != nil { // another goroutine has made it meanwhile
		return now
	}
	for i, r := range from {
		if r.frozen != nil {
			frozen = h
			break
		}
		to[i].freeze(r)
		if !slices.Contains(r.pins, dropper(pin)) { // only the registries that changed have dropped it
			r.pins = append(r.pins, pin)
		}
	}
	pin.frozen.Store(frozen)
	return frozen
}

// freeze makes r, which is new, fire what from fires now, whatever changes later. For a layer on r it counts as a layer
// on from. The caller holds the lock.
func (r *Registry) freeze(from *Registry) {
	now := from.layers()
	from.dependOn(now)
	r.bases, r.fixed = []*Registry{from}, fixedByPinned
	r.frozen = slices.Clip(slices.Clone(now)) // each layer on r appends itself to them
	for i := range r.frozen {
		r.frozen[i].frozen = true
	}
	r.state.activate(slices.ContainsFunc(now, func(l layer) bool { return len(l.entries) > 0 }))
}
