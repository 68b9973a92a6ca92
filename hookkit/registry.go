package hookkit

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
)

// A Registry holds the hooks of one point; generated code embeds one in each Point. H is the hook's interface, O the
// observer's, Opt the options that are legal in Add, L describes the point. The zero value is ready to use. It
// must not be copied. All methods may be called at any time from any goroutine, from inside a hook too.
type Registry[H, O, Opt any, L Description[H]] struct {
	Armed atomic.Bool // for generated code: there may be something to run, or somebody to tell
	core  registry
	plan  atomic.Pointer[Plan[H]]
	outer *Registry[H, O, Opt, L]
	none  *Plan[H] // of a layer: nothing to run
}

// A Description is what hookkit must know of a point; generated code has a type for each, without fields.
type Description[H any] interface {
	Point() Point
	// Wrap returns a hook that calls h by way of call: for time-outs, Once and tracers.
	Wrap(h H, call *Call) H
}

// A Plan is what one fire runs: the registrations that stood when it was made. It does not change. It is for
// generated code. It has no methods, since each would be compiled again for each point.
type Plan[H any] struct {
	Hooks  []H     // in firing order
	Plain  bool    // just run them: no layer to settle, nobody to tell
	Firing *Firing // what does not depend on the hook's type
	own    *state
	outer  *Plan[H]
}

// Add adds a hook. It panics, naming the place, if the hook is nil, if the order that is asked for is impossible, or
// if the Bind that was given this registry is over.
func (r *Registry[H, O, Opt, L]) Add(h H, opts ...Opt) *Registration {
	var set settings
	for _, o := range opts {
		set.apply(o)
	}
	return r.described().add(h, set)
}

// Observe adds an observer. It panics as Add does.
func (r *Registry[H, O, Opt, L]) Observe(o O, opts ...ObserverOption) *Registration {
	return r.described().observe(o, opts)
}

// List lists the hooks in firing order, those of outer layers included.
func (r *Registry[H, O, Opt, L]) List() []Info { return r.described().list() }

// Info is for generated code: the point and its hooks.
func (r *Registry[H, O, Opt, L]) Info() PointInfo {
	c := r.described()
	return PointInfo{c.point, r}
}

// Load returns what a fire runs now, nil if there is nothing to run and nobody to tell. It is for generated
// code.
func (r *Registry[H, O, Opt, L]) Load() *Plan[H] { return r.plan.Load() }

// Settle returns what a fire runs now, where the Plan is nil or not Plain. If somebody wants to know of the fire, it
// is Watched. It is for generated code.
func (r *Registry[H, O, Opt, L]) Settle(ctx context.Context, run AnyRun) *Plan[H] {
	p := r.settled()
	switch {
	case p != nil && !p.Firing.crowded():
		return p
	case p != nil:
		return &Plan[H]{Hooks: p.Hooks, Firing: p.Firing.watched(ctx, run)}
	case r.none != nil:
		return r.none
	}
	return &Plan[H]{Firing: &Firing{point: r.core.point}} // the last hook was removed this moment
}

// settled returns the plan of a layer, its parent's hooks first, then its own; of the outermost, just the plan.
func (r *Registry[H, O, Opt, L]) settled() *Plan[H] {
	made := r.plan.Load()
	if r.outer == nil {
		return made
	}
	var outer *Plan[H]
	var own *state
	for { // until both stood at the same moment
		if outer, own = r.outer.settled(), r.core.state.Load(); r.outer.still(outer) {
			break
		}
	}
	if own == nil {
		return outer
	}
	if made.own != own || made.outer != outer {
		made = r.build(own, outer)
		r.plan.Store(made)
	}
	return made
}

// still reports whether p is what settled returns now.
func (r *Registry[H, O, Opt, L]) still(p *Plan[H]) bool {
	if r.outer == nil {
		return r.plan.Load() == p
	}
	own := r.core.state.Load()
	if own == nil {
		return r.outer.still(p)
	}
	return p != nil && p.own == own && r.outer.still(p.outer)
}

// build makes the plan of the registry's own state within an outer plan, nil for none.
func (r *Registry[H, O, Opt, L]) build(own *state, outer *Plan[H]) *Plan[H] {
	p := &Plan[H]{own: own, outer: outer}
	if outer == nil {
		p.Firing = firing(r.core.point, own, nil)
	} else {
		p.Firing = firing(r.core.point, own, outer.Firing)
	}
	p.Plain = r.outer == nil && !p.Firing.crowded() // a layer has to look at its parent every time
	var law L
	p.Firing.home = reflect.TypeOf(law).PkgPath()
	p.Hooks = make([]H, len(p.Firing.entries))
	for i, e := range p.Firing.entries {
		h := e.hook.(H)
		if c := p.Firing.call(e); c != nil {
			h = law.Wrap(h, c)
		}
		p.Hooks[i] = h
	}
	return p
}

// described tells the registry, once, what it serves.
func (r *Registry[H, O, Opt, L]) described() *registry {
	var law L
	if !r.core.named.Load() {
		r.core.describe(law.Point(), r)
	}
	return &r.core
}

func (r *Registry[H, O, Opt, L]) base() *registry { return &r.core }

func (r *Registry[H, O, Opt, L]) layerOn(outer attached) {
	r.outer = outer.(*Registry[H, O, Opt, L])
	r.core.within(&r.outer.core)
	r.none = &Plan[H]{Firing: &Firing{point: r.core.point}} // not Plain, and settled when it fires
	r.plan.Store(r.none)
	r.Armed.Store(true)
}

// rebuilt brings the plan of an outermost layer up to date; other layers do it when they are fired.
func (r *Registry[H, O, Opt, L]) rebuilt() {
	if r.outer != nil {
		return
	}
	var p *Plan[H]
	if s := r.core.state.Load(); s != nil {
		p = r.build(s, nil)
	}
	r.plan.Store(p)
	r.Armed.Store(p != nil)
}

// registry is the part of a Registry that does not depend on the hook's type.
type registry struct {
	_     noCopy
	_     [0]func()             // no == to compile
	state atomic.Pointer[state] // nil for nothing registered; replaced, never changed
	named atomic.Bool           // what follows is set
	point Point
	self  attached
	above *registry // the outer layer's
	depth int
	bind  binding
}

// binding says whether a registry is one that a Bind is given.
type binding uint8

const (
	served  binding = iota // no: it is the host's
	staging                // its Bind runs
	bound                  // its Bind is over
)

// describe tells the registry what it serves.
func (r *registry) describe(p Point, self attached) {
	changes.Lock()
	defer changes.Unlock()
	if !r.named.Load() {
		r.point, r.self = p, self
		r.named.Store(true)
	}
}

// within makes the registry a layer of another.
func (r *registry) within(outer *registry) { r.above, r.depth = outer, outer.depth+1 }

// A state is what one layer has registered at one point.
type state struct {
	hooks     []*entry // in firing order, not mirrored
	observers []*entry
	tracer    Tracer
}

// set makes s the state. The caller holds the lock of changes.
func (r *registry) set(s *state) {
	if len(s.hooks)+len(s.observers) == 0 && s.tracer == nil {
		s = nil
	}
	r.state.Store(s)
	r.self.rebuilt()
}

// now returns a copy of the state that may be changed.
func (r *registry) now() *state {
	if s := r.state.Load(); s != nil {
		c := *s
		return &c
	}
	return new(state)
}

// with returns the state that has the entries too.
func (r *registry) with(hooks, observers []*entry) (*state, error) {
	if r.bind == bound {
		return nil, fmt.Errorf("%s: the Bind that was given these Hooks is over; add to the host's Hooks", r.point.Name)
	}
	s := r.now()
	var err error
	if s.hooks, err = r.merge(s.hooks, hooks); err != nil {
		return nil, err
	}
	s.observers, err = r.merge(s.observers, observers)
	return s, err
}

// merge returns the entries and the added ones in firing order.
func (r *registry) merge(entries, added []*entry) ([]*entry, error) {
	if len(added) == 0 {
		return entries, nil
	}
	for _, e := range added {
		e.layer, e.owner = r.depth, r
		if err := r.withinLayers(e); err != nil {
			return nil, fmt.Errorf("%s: %w", r.point.Name, err)
		}
	}
	ordered, err := firingOrder(slices.Concat(entries, added))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.point.Name, err)
	}
	return ordered, nil
}

// withinLayers refuses an anchor that would turn two layers round.
func (r *registry) withinLayers(e *entry) error {
	for _, a := range e.anchors {
		for _, owner := range a.reg.owners {
			if !owner.state.Load().has(a.reg) {
				continue // void: Once has removed it
			}
			if !a.after && r.isWithin(owner) {
				return fmt.Errorf("%s (%s) cannot be before %s (%s) of an outer layer: outer layers fire first; add it to that layer",
					e.name, e.site, a.reg.name, a.reg.site)
			}
			if a.after && owner.isWithin(r) {
				return fmt.Errorf("%s (%s) cannot be after %s (%s) of an inner layer: outer layers fire first; add it to that layer",
					e.name, e.site, a.reg.name, a.reg.site)
			}
		}
	}
	return nil
}

// isWithin reports whether outer is one of the layers around r.
func (r *registry) isWithin(outer *registry) bool {
	for above := r.above; above != nil; above = above.above {
		if above == outer {
			return true
		}
	}
	return false
}

// remove removes the entries and reports whether there were any. The caller holds the lock of changes.
func (r *registry) remove(gone func(*entry) bool) bool {
	s := r.now()
	keep := func(entries []*entry) []*entry {
		var kept []*entry
		for _, e := range entries {
			if !gone(e) {
				kept = append(kept, e)
			}
		}
		if len(kept) == len(entries) {
			return entries
		}
		// what the removed entries held apart may close up again; fewer anchors cannot contradict
		ordered, err := firingOrder(kept)
		if err != nil {
			panic("hookkit: removing a hook made the order impossible: " + err.Error())
		}
		return ordered
	}
	n := len(s.hooks) + len(s.observers)
	s.hooks, s.observers = keep(s.hooks), keep(s.observers)
	if len(s.hooks)+len(s.observers) == n {
		return false
	}
	r.set(s)
	return true
}

// add registers one hook. It is called by the exported method that a person called.
func (r *registry) add(hook any, set settings) *Registration {
	return r.enter("Add", hook, set, func(c *change, e *entry) error {
		return c.insert(r, []*entry{e}, nil)
	})
}

// observe registers one observer; it is called as add is.
func (r *registry) observe(observer any, opts []ObserverOption) *Registration {
	var set settings
	for _, o := range opts {
		set.apply(o)
	}
	return r.enter("Observe", observer, set, func(c *change, e *entry) error {
		return c.insert(r, nil, []*entry{e})
	})
}

func (r *registry) enter(verb string, hook any, set settings, insert func(*change, *entry) error) *Registration {
	verb, site := r.point.Name+"."+verb, caller(3)
	refuseNil(verb, site, "hook", hook)
	e := newEntry(hook, set, site)
	return register(verb, e, func(c *change) error { return insert(c, e) })
}
