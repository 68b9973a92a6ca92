package hookimpl

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Registry holds the hooks and observers of one point; each generated Point has one. H is the interface of the
// point's hooks. The zero value is ready to use. It must not be copied.
//
// It is in two parts, because methods of a generic type are compiled again for each point: the typed snapshot that a
// fire runs is here, and all the rest is in the registry, which is made on first use.
type Registry[H any] struct {
	_        opaque.NoCopy
	active   uint32 // atomic; 1 if there may be hooks to run, or somebody to notify
	snapshot atomic.Pointer[Snapshot[H]]
	core     atomic.Pointer[registry]
}

// Active reports whether a fire has anything to do. It is as plain as it can be, so that Fire can be inlined with it.
func (r *Registry[H]) Active() bool { return atomic.LoadUint32(&r.active) != 0 }

// Add registers a hook. owner is the generated Point.
func (r *Registry[H]) Add(owner any, point *Point, verb string, h any, set opaque.Settings) *hookkit.Registration {
	return r.described(owner, point).addAt(verb, caller(2), h, set)
}

// Observe registers an observer.
func (r *Registry[H]) Observe(
	owner any,
	point *Point,
	verb string,
	o any,
	opts []hookkit.ObserverOption,
) *hookkit.Registration {
	return r.described(owner, point).observeAt(verb, caller(2), o, Options(opts))
}

// List lists the hooks in firing order.
func (r *Registry[H]) List(owner any, point *Point) []hookkit.Info {
	return r.described(owner, point).Hooks()
}

// Info describes the point.
func (r *Registry[H]) Info(owner any, point *Point) hookkit.PointInfo {
	return r.described(owner, point).info()
}

// described returns the untyped part, which it makes on first use.
func (r *Registry[H]) described(owner any, point *Point) *registry {
	if c := r.core.Load(); c != nil {
		return c
	}
	r.core.CompareAndSwap(nil, &registry{point: point, owner: owner, typed: r, tree: newTree()})
	return r.core.Load()
}

// A typedRegistry is a Registry of hooks of any type.
type typedRegistry interface {
	activate(bool)
	layer(core *registry)
}

func (r *Registry[H]) activate(active bool) {
	var flag uint32
	if active {
		flag = 1
	}
	atomic.StoreUint32(&r.active, flag)
}

func (r *Registry[H]) layer(core *registry) {
	core.typed = r
	r.core.Store(core)
	r.activate(true) // a hook may be added to an outer layer at any time
}

// A registry is the part of a Registry that does not depend on the type of its hooks.
type registry struct {
	point *Point
	owner any // the generated Point, for Point.Fire
	typed typedRegistry
	tree  *tree
	outer *registry // of the outer layer; nil if this is the outermost
	depth int       // 0 for the outermost
	name  string    // of the layer
	stage atomic.Uint32

	// What follows is guarded by tree.mu.
	hooks     ordering
	observers ordering
	tracers   []*entry
	onFailure func(context.Context, *hookkit.Failure) // nil to use that of the outer layer
}

// The stages of a registry whose Hooks are handed to a Bind.
const (
	serving uint32 = iota // it is not one of those
	staging               // the Bind runs
	bound                 // the Bind has returned
)

// changed makes every snapshot of the tree stale. The caller holds its lock.
func (r *registry) changed() {
	r.tree.version.Add(1)
	registered := r.hooks.len()+r.observers.len()+len(r.tracers) > 0
	r.typed.activate(registered || r.outer != nil || r.stage.Load() != serving)
}

// addAt registers one hook, which was registered at the site.
func (r *registry) addAt(verb, site string, hook any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	refuseNil(verb, site, "hook", hook)
	refuseInvalid(verb, site, set)
	return register(verb, newEntry(hook, set, site), toHooks, r)
}

// observeAt registers one observer.
func (r *registry) observeAt(verb, site string, observer any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	refuseNil(verb, site, "observer", observer)
	refuseInvalid(verb, site, set)
	return register(verb, newEntry(observer, set, site), toObservers, r)
}

// has reports whether the registration has an entry here.
func (r *registry) has(reg *registration) bool { return r.hooks.has(reg) || r.observers.has(reg) }

// remove removes the entries of the registration and reports whether there were any. The caller holds the lock.
func (r *registry) remove(reg *registration) bool {
	n := len(r.hooks.remove(reg)) + len(r.observers.remove(reg)) + len(r.tracers)
	r.tracers = slices.DeleteFunc(slices.Clone(r.tracers), func(e *entry) bool { return e.belongsTo(reg) })
	if n == len(r.tracers) {
		return false
	}
	r.changed()
	return true
}

// spend removes the entry of a hook with Once.
func (r *registry) spend(e *entry) {
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	if r.hooks.removeEntry(e) {
		r.changed()
	}
}
