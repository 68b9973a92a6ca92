package hookimpl

import (
	"context"
	"maps"
	"weak"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Registry holds the hooks and observers of one point.
type Registry struct {
	point    *Point
	genPoint any // the generated Point, for Point.Fire
	state    *State
	bases    []*Registry // it fires their hooks before its own: the outer layer, the two of Over, or that of Pinned
	frozen   []layer     // of Pinned: the layers of its base, as they were then; else nil
	fixed    string      // why it has no hooks of its own, and where to register them instead; "" if it has
	name     string      // of the layer

	// What follows is guarded by the lock registering, and so is fixed.
	inBind bool // its Hooks are those that a Bind was given
	ordering
	onFailure func(context.Context, *hookkit.Failure) // nil to use that of the outer layer
	pins      []dropper                               // of Hooks with frozen copies of this registry, each once

	// dependents are the registries whose snapshots and pins contain registrations of this one. They are weak, because a
	// program may make a layer for each of its requests.
	dependents map[weak.Pointer[Registry]]struct{}
	sweep      int // the number of dependents at which those that are garbage are removed
}

// The values of Registry.fixed.
const (
	fixedByBind   = "the Bind that was given these Hooks has returned; add to the program's own Hooks instead"
	fixedByPinned = "these Hooks are the result of Pinned and never change: " +
		"change the Hooks that they were made of, or a Layer on the result"
	fixedByOver = "these Hooks are the result of Over and have no hooks of their own: " +
		"change one of the two that it was made of, or a Layer on the result"
)

// dependOn makes later changes of the layers drop the snapshot and the pins of r. The caller holds the lock.
func (r *Registry) dependOn(layers []layer) {
	for _, l := range layers {
		if l.frozen {
			continue // it never changes
		}
		layer := l.of
		if len(layer.dependents) >= layer.sweep {
			maps.DeleteFunc(layer.dependents, func(p weak.Pointer[Registry], _ struct{}) bool { return p.Value() == nil })
			layer.sweep = 2*len(layer.dependents) + 8
		}
		if layer.dependents == nil {
			layer.dependents = make(map[weak.Pointer[Registry]]struct{})
		}
		layer.dependents[weak.Make(r)] = struct{}{}
	}
}

// changed drops every snapshot and pin that contains earlier registrations of this one. Hooks that were removed do not
// stay in memory until the next fire. The caller holds the lock.
func (r *Registry) changed() {
	for p := range r.dependents {
		if d := p.Value(); d != nil {
			d.state.snapshot.Store(nil)
			for _, pin := range d.pins {
				pin.drop()
			}
			d.pins = nil
		}
	}
	clear(r.dependents)
	r.state.activate(r.inBind || len(r.entries)+len(r.bases) > 0)
}

// add registers a hook or an observer for a method of the generated Point.
func (r *Registry) add(k kind, hook, opts any) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.addAt(verb, site, k, hook, options(opts))
}

// addAt registers a hook or an observer, at the site.
func (r *Registry) addAt(verb, site string, k kind, hook any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	return register(verb, newEntry(verb, site, k, hook, set), r)
}
