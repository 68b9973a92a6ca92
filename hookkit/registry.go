package hookkit

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// A Registry holds the hooks of one point whose hooks do not decide; generated code embeds one in each such Point. H is
// the hook's interface, O the observer's, L describes the point. The zero value is ready to use. It must
// not be copied. All methods may be called at any time from any goroutine, from inside a hook too.
type Registry[H, O any, L Description[H]] struct{ table[H] }

// A Gate is a [Registry] of a point whose hooks decide, so that a policy can be tightened.
type Gate[H, O any, L Description[H]] struct{ table[H] }

// A Description is what hookkit must know of a point; generated code has a type for each, without fields.
type Description[H any] interface {
	Point() Point
	// Wrap returns a hook that calls h by way of call: for time-outs, Once and tracers.
	Wrap(h H, call *Call) H
}

// Add adds a hook. It panics, naming the place, if the hook is nil, if the order that is asked for is impossible, or
// if the Bind that was given this registry is over.
func (r *Registry[H, O, L]) Add(h H, opts ...HookOption) *Registration {
	var set settings
	for _, o := range opts {
		o.hookOption(&set)
	}
	return r.described(*new(L)).add(h, set)
}

// Observe adds an observer. It panics as Add does.
func (r *Registry[H, O, L]) Observe(o O, opts ...ObserverOption) *Registration {
	return r.described(*new(L)).observe(o, opts)
}

// List lists the hooks in firing order, those of outer layers included.
func (r *Registry[H, O, L]) List() []Info { return r.described(*new(L)).list() }

// Info is for generated code: the point and its hooks.
func (r *Registry[H, O, L]) Info() PointInfo { return r.info(*new(L)) }

// Add adds a hook. It panics, naming the place, if the hook is nil, if the order that is asked for is impossible, or
// if the Bind that was given this gate is over.
func (r *Gate[H, O, L]) Add(h H, opts ...GateOption) *Registration {
	var set settings
	for _, o := range opts {
		o.gateOption(&set)
	}
	return r.described(*new(L)).add(h, set)
}

// Observe adds an observer. It panics as Add does.
func (r *Gate[H, O, L]) Observe(o O, opts ...ObserverOption) *Registration {
	return r.described(*new(L)).observe(o, opts)
}

// List lists the hooks in firing order, those of outer layers included.
func (r *Gate[H, O, L]) List() []Info { return r.described(*new(L)).list() }

// Info is for generated code: the point and its hooks.
func (r *Gate[H, O, L]) Info() PointInfo { return r.info(*new(L)) }

// A table is the generic part of a Registry: as little as the fire loop needs.
type table[H any] struct {
	registry
	plan  atomic.Pointer[Plan[H]]
	outer *table[H]
	none  *Plan[H] // of a layer: nothing to run
	law   Description[H]
}

// A Plan is what one fire runs: the registrations that stood when it was made. It does not change. It is for
// generated code.
type Plan[H any] struct {
	Hooks []H  // in firing order
	Plain bool // just run them: no layer to settle, nobody to tell
	*plan
	own   *state
	outer *Plan[H]
}

// plan is the part of a Plan that does not depend on the hook's type.
type plan struct {
	point     Point
	entries   []*entry // beside Hooks
	observers []*entry
	tracers   []Tracer
	watch     *watch // of one fire; nil in a plan that fires share
}

// Load returns what a fire runs now, nil if there is nothing to run and nobody to tell. It is for generated
// code: small enough to be inlined.
func (r *table[H]) Load() *Plan[H] { return r.plan.Load() }

// Settle returns what a fire runs now, for a Plan that is not Plain. If somebody wants to know of the fire, it
// is Watched. It is for generated code.
func (r *table[H]) Settle(ctx context.Context, run AnyRun) *Plan[H] {
	p := r.settled()
	if p == nil {
		if r.none == nil { // the last hook was removed this moment
			return &Plan[H]{plan: new(plan)}
		}
		return r.none
	}
	if !p.crowded() {
		return p
	}
	w := *p.plan
	w.watch = &watch{ctx: ctx, run: run, Verdict: Verdict{Start: time.Now()}}
	return &Plan[H]{Hooks: p.Hooks, plan: &w}
}

func (r *table[H]) settled() *Plan[H] {
	p := r.plan.Load()
	if p != nil && r.outer != nil {
		return r.layered(p)
	}
	return p
}

// layered returns the plan of a layer, its parent's hooks first, then its own. made is the plan last made, or
// the empty one that a layer starts with.
func (r *table[H]) layered(made *Plan[H]) *Plan[H] {
	outer, own := r.outer.settled(), r.state.Load()
	if own == nil {
		return outer
	}
	if made.own == own && made.outer == outer {
		return made
	}
	p := r.build(own, outer)
	r.plan.Store(p)
	return p
}

// build makes the plan of the registry's own state within an outer plan, nil for none.
func (r *table[H]) build(own *state, outer *Plan[H]) *Plan[H] {
	reversed := r.point.Law&Reversed != 0
	p := &Plan[H]{plan: &plan{point: r.point}, own: own, outer: outer}
	hooks := own.hooks
	p.observers = own.observers
	if own.tracer != nil {
		p.tracers = []Tracer{own.tracer}
	}
	if outer != nil {
		forward := outer.entries
		if reversed {
			forward = slices.Clone(forward)
			slices.Reverse(forward)
		}
		hooks = slices.Concat(forward, hooks)
		p.observers = slices.Concat(outer.observers, p.observers)
		p.tracers = slices.Concat(outer.tracers, p.tracers)
	}
	if reversed {
		hooks = slices.Clone(hooks)
		slices.Reverse(hooks)
	}
	p.entries = hooks
	p.Hooks = make([]H, len(hooks))
	for i, e := range hooks {
		p.Hooks[i] = e.hook.(H)
		if len(p.tracers) > 0 || e.timeout > 0 || e.once {
			p.Hooks[i] = r.law.Wrap(p.Hooks[i], &Call{p.plan, e})
		}
	}
	p.Plain = outer == nil && len(p.observers)+len(p.tracers) == 0
	return p
}

func (r *table[H]) info(d Description[H]) PointInfo {
	r.described(d)
	return PointInfo{r.point, r}
}

// described tells the registry, once, what it serves.
func (r *table[H]) described(d Description[H]) *registry {
	if !r.named.Load() {
		changes.Lock()
		if !r.named.Load() {
			r.point, r.self, r.law = d.Point(), r, d
			r.named.Store(true)
		}
		changes.Unlock()
	}
	return &r.registry
}

func (r *table[H]) base() *registry { return &r.registry }

func (r *table[H]) layerOn(outer attached) {
	r.outer = outer.(*table[H])
	r.above, r.depth = &r.outer.registry, r.outer.depth+1
	r.none = &Plan[H]{plan: new(plan)}
	r.plan.Store(r.none) // not Plain, and settled when it fires
}

// rebuilt brings the plan of an outermost layer up to date; other layers do it when they are fired.
func (r *table[H]) rebuilt() {
	if r.outer != nil {
		return
	}
	var p *Plan[H]
	if s := r.state.Load(); s != nil {
		p = r.build(s, nil)
	}
	r.plan.Store(p)
}

// registry is the part of a Registry that does not depend on the hook's type.
type registry struct {
	_      noCopy
	state  atomic.Pointer[state] // nil for nothing registered; replaced, never changed
	named  atomic.Bool           // what follows is set
	point  Point
	self   attached
	above  *registry // the outer layer's
	depth  int
	closed bool // a staging registry whose Bind is over
}

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
	if r.closed {
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
		o.observerOption(&set)
	}
	return r.enter("Observe", observer, set, func(c *change, e *entry) error {
		return c.insert(r, nil, []*entry{e})
	})
}

func (r *registry) enter(verb string, hook any, set settings, insert func(*change, *entry) error) *Registration {
	verb, site := r.point.Name+"."+verb, caller(3)
	if isNil(hook) {
		panic(fmt.Sprintf("hookkit: %s at %s: the hook is nil; pass a value", verb, site))
	}
	e := newEntry(hook, set, site)
	return register(verb, e, func(c *change) error { return insert(c, e) })
}
