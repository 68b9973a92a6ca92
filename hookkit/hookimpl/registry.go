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
	depth    int       // 0 for the outermost
	name     string    // of the layer
	stage    atomic.Uint32

	// What follows is guarded by tree.mu.
	hooks     ordering
	observers ordering
	tracers   ordering
	onFailure func(context.Context, *hookkit.Failure) // nil to use that of the outer layer
}

// The stages of a registry whose Hooks are handed to a Bind.
const (
	serving uint32 = iota // it is not one of those
	staging               // the Bind runs
	bound                 // the Bind has returned
)

// isBound reports whether the registry belongs to Hooks whose Bind has returned.
func (r *Registry) isBound() bool { return r.stage.Load() == bound }

// changed makes every snapshot of the tree stale. The caller holds its lock.
func (r *Registry) changed() {
	r.tree.version.Add(1)
	registered := r.hooks.len()+r.observers.len()+r.tracers.len() > 0
	r.state.activate(registered || r.outer != nil || r.stage.Load() != serving)
}

// Add registers a hook for a method of the generated Point.
func (r *Registry) Add(hook any, opts []hookkit.HookOption) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.addAt(verb, site, hook, options(opts))
}

// AddGate is Add at a point where hooks decide.
func (r *Registry) AddGate(hook any, opts []hookkit.GateOption) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.addAt(verb, site, hook, options(opts))
}

// Observe registers an observer for a method of the generated Point.
func (r *Registry) Observe(observer any, opts []hookkit.ObserverOption) *hookkit.Registration {
	verb, site := callsite.OfMethod()
	return r.observeAt(verb, site, observer, options(opts))
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

// has reports whether a hook or observer of the place is here.
func (r *Registry) has(p *place) bool { return r.hooks.has(p) || r.observers.has(p) }

// remove removes the entries of the registration and reports whether there were any. The caller holds the lock.
func (r *Registry) remove(reg *registration) bool {
	if len(r.hooks.remove(reg))+len(r.observers.remove(reg))+len(r.tracers.remove(reg)) == 0 {
		return false
	}
	r.changed()
	return true
}

// spend removes the entry of a hook with Once.
func (r *Registry) spend(e *entry) {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	if r.hooks.removeEntry(e) {
		r.changed()
	}
}
