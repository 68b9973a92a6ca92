package hookimpl

import (
	"context"
	"sync/atomic"

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
	outer    *Registry // of the outer layer; nil if this is the outermost
	over     *pair     // of the result of Over; else nil
	name     string    // of the layer
	stage    atomic.Uint32

	// What follows is guarded by tree.mu.
	orderings
	onFailure func(context.Context, *hookkit.Failure) // nil to use that of the outer layer
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

// changed drops every snapshot of the tree. The caller holds its lock.
func (r *Registry) changed() {
	r.tree.forget()
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

// spend removes the entry of a hook with Once.
func (r *Registry) spend(spent *entry) {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	if r.remove(func(e *entry) bool { return e == spent }) {
		r.changed()
	}
}
