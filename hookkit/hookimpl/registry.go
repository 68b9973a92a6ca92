package hookimpl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Registry holds what is registered at one point; each generated Point has one. H is the interface of the point's
// hooks. The zero value is ready to use. It must not be copied.
//
// It is in two parts, because methods of a generic type are compiled again for each point: the typed snapshot that a
// fire runs is here, and all the rest is in the registry, which is made on first use.
type Registry[H any] struct {
	_        noCopy
	active   uint32 // atomic; 1 if there may be hooks to run, or somebody to notify
	snapshot atomic.Pointer[Snapshot[H]]
	core     atomic.Pointer[registry]
}

// noCopy makes go vet report a copy of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Active reports whether a fire has anything to do. It is as plain as it can be, so that Fire can be inlined with it.
func (r *Registry[H]) Active() bool { return atomic.LoadUint32(&r.active) != 0 }

// Add registers a hook. owner is the generated Point.
func (r *Registry[H]) Add(owner any, point *Point, verb string, h any, set opaque.Settings) *hookkit.Registration {
	return r.described(owner, point).addAt(verb, caller(2), h, set)
}

// Observe registers an observer.
func (r *Registry[H]) Observe(owner any, point *Point, verb string, o any, opts []hookkit.ObserverOption) *hookkit.Registration {
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

// A tree is shared by the registries of one point in all layers on the same Hooks.
type tree struct {
	id      uint64
	mu      sync.Mutex
	version atomic.Uint64 // counts changes, so that a snapshot knows whether it is current
}

var trees atomic.Uint64

func newTree() *tree { return &tree{id: trees.Add(1)} }

// lock locks the trees of the registries, in an order that is the same for everybody, and returns how to unlock them.
func lock(registries []*registry) (unlock func()) {
	var ts []*tree
	for _, r := range registries {
		if !slices.Contains(ts, r.tree) {
			ts = append(ts, r.tree)
		}
	}
	slices.SortFunc(ts, func(a, b *tree) int { return cmp.Compare(a.id, b.id) })
	for _, t := range ts {
		t.mu.Lock()
	}
	return func() {
		for _, t := range ts {
			t.mu.Unlock()
		}
	}
}

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
	return register(verb, newEntry(hook, set, site), []change{{at: r, toHooks: true}})
}

// observeAt registers one observer.
func (r *registry) observeAt(verb, site string, observer any, set opaque.Settings) *hookkit.Registration {
	verb = r.point.Name + "." + verb
	refuseNil(verb, site, "observer", observer)
	return register(verb, newEntry(observer, set, site), []change{{at: r}})
}

// A change adds entries to one registry. register and Use make several changes, all or none.
type change struct {
	at               *registry
	hooks, observers []*entry
	toHooks          bool // of register: the entry is a hook
}

// register makes the registration of one entry, which it adds to each of the changes.
func register(verb string, e *entry, changes []change) *hookkit.Registration {
	reg := newRegistration(e.name, e.site)
	if e.queue != nil {
		reg.queues = []*queue{e.queue}
	}
	e.regs = []*registration{reg}
	owners := make([]*registry, len(changes))
	for i := range changes {
		owners[i] = changes[i].at
	}
	unlock := lock(owners)
	defer unlock()
	e.seq = clock.Add(1)
	for i := range changes {
		c := &changes[i]
		own := *e // each registry has an entry of its own
		if c.toHooks {
			c.hooks = []*entry{&own}
		} else {
			c.observers = []*entry{&own}
		}
	}
	if err := commit(changes); err != nil {
		panic(fmt.Sprintf("hookkit: %s at %s: %v", verb, e.site, err))
	}
	return reg.public
}

// commit makes the changes, or none of them and returns why. The caller holds the locks.
func commit(changes []change) error {
	for _, c := range changes {
		if err := c.check(); err != nil {
			return fmt.Errorf("%s: %w", c.at.point.Name, err)
		}
	}
	for _, c := range changes {
		for _, e := range c.hooks {
			e.owner = c.at
		}
		for _, e := range c.observers {
			e.owner = c.at
		}
		c.at.hooks.add(c.hooks)
		c.at.observers.add(c.observers)
		for _, e := range slices.Concat(c.hooks, c.observers) {
			for _, reg := range e.regs {
				reg.registeredAt(c.at)
			}
		}
		c.at.changed()
	}
	return nil
}

// check returns why the change is impossible.
func (c change) check() error {
	if c.at.stage.Load() == bound {
		return fmt.Errorf("the Bind that was given these Hooks has returned; add to the program's own Hooks instead")
	}
	for _, e := range slices.Concat(c.hooks, c.observers) {
		for _, a := range e.anchors {
			if err := c.at.checkAnchor(e, a); err != nil {
				return err
			}
		}
	}
	if err := c.at.hooks.check(c.hooks); err != nil {
		return err
	}
	return c.at.observers.check(c.observers)
}

// checkAnchor refuses an anchor of other Hooks, and one that would reverse the order of two layers.
func (r *registry) checkAnchor(e *entry, a anchor) error {
	if r.stage.Load() == staging {
		return nil // checked when the Use adds the entry to the program's Hooks
	}
	for _, owner := range a.reg.at() {
		if owner.stage.Load() != serving {
			continue // the Hooks of a Bind, from which a Use moves the entry to other Hooks
		}
		switch {
		case !sameHooks(r.outermost().owner, owner.outermost().owner):
			word := "before"
			if a.after {
				word = "after"
			}
			return fmt.Errorf("%s (%s) cannot be %s %s (%s), which was registered on other Hooks: "+
				"pass a registration of the Hooks that this one is added to", e.name, e.site, word, a.reg.name, a.reg.site)
		case owner.tree != r.tree || !owner.has(a.reg):
		case !a.after && r.isWithin(owner):
			return fmt.Errorf("%s (%s) cannot be before %s (%s) of an outer layer: outer layers fire first; add it to that layer",
				e.name, e.site, a.reg.name, a.reg.site)
		case a.after && owner.isWithin(r):
			return fmt.Errorf("%s (%s) cannot be after %s (%s) of an inner layer: outer layers fire first; add it to that layer",
				e.name, e.site, a.reg.name, a.reg.site)
		}
	}
	return nil
}

// outermost returns the registry of the same point in the Hooks that all layers are on.
func (r *registry) outermost() *registry {
	for r.outer != nil {
		r = r.outer
	}
	return r
}

// isWithin reports whether outer is one of the layers around r.
func (r *registry) isWithin(outer *registry) bool {
	for at := r.outer; at != nil; at = at.outer {
		if at == outer {
			return true
		}
	}
	return false
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
