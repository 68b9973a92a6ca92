package hookimpl

import (
	"context"
	"maps"
	"sync/atomic"
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
	tree     *tree
	outer    *Registry   // of the outer layer; nil if this is the outermost
	over     *pair       // of the result of Over; else nil
	frozen   []*Registry // of the result of Pinned: copies of the layers that it fires; else nil
	live     *Registry   // of such a copy: the registry that was copied; else nil
	name     string      // of the layer
	stage    atomic.Uint32

	// What follows is guarded by tree.mu.
	orderings
	onFailure func(context.Context, *hookkit.Failure) // nil to use that of the outer layer
	pins      []interface{ drop() }                   // of Hooks with frozen copies of this registry

	// dependents are the registries whose snapshots and pins contain registrations of this one. They are weak, because a
	// program may make a layer for each of its requests.
	dependents map[weak.Pointer[Registry]]struct{}
	sweep      int // the number of dependents at which those that are garbage are removed
}

// A pair is the registries whose hooks the result of Over fires.
type pair struct{ first, second *Registry }

// The stages of a registry whose Hooks are handed to a Bind.
const (
	serving uint32 = iota // it is not one of those
	staging               // the Bind runs
	bound                 // the Bind has returned
)

// isBound reports whether the registry belongs to Hooks whose Bind has returned.
func (r *Registry) isBound() bool { return r.stage.Load() == bound }

// readOnly returns what to do instead of a change, or "" if changes are legal.
func (r *Registry) readOnly() string {
	switch {
	case r.frozen != nil:
		return "these Hooks are the result of Pinned and never change: " +
			"change the Hooks that they were made of, or a Layer on the result"
	case r.over != nil:
		return "these Hooks are the result of Over and have no hooks of their own: " +
			"change one of the two that it was made of, or a Layer on the result"
	}
	return ""
}

// dependOn makes later changes of the layers drop the snapshot and the pins of r. The caller holds their locks.
func (r *Registry) dependOn(layers []*Registry) {
	for _, layer := range layers {
		if layer.live != nil {
			continue // it never changes
		}
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
	registered := len(r.hooks.entries)+len(r.observers.entries)+len(r.tracers.entries) > 0
	r.state.activate(registered || r.outer != nil || r.stage.Load() != serving)
}

// Add registers a hook for a method of the generated Point.
func (r *Registry) Add(hook any, set opaque.Settings) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.addAt(verb, site, hook, set)
}

// Observe registers an observer for a method of the generated Point.
func (r *Registry) Observe(observer any, set opaque.Settings) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.observeAt(verb, site, observer, set)
}

// addAt registers one hook, which was registered at the site.
func (r *Registry) addAt(verb, site string, hook any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	refuseNil(verb, site, "hook", hook)
	refuseInvalid(verb, site, set)
	return register(verb, newEntry(hook, set, site), toHooks, r)
}

// observeAt registers one observer.
func (r *Registry) observeAt(verb, site string, observer any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	refuseNil(verb, site, "observer", observer)
	refuseInvalid(verb, site, set)
	return register(verb, newEntry(observer, set, site), toObservers, r)
}
