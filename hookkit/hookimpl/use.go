package hookimpl

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// Use lets bind add hooks to the points of staged, which are new, and then moves them to points, all or none, under one
// registration.
func Use(points, staged []hookkit.PointInfo, hook any, bind func(), opts []hookkit.UseOption) *hookkit.Registration {
	site := caller(2)
	refuseNil("Use", site, "hook", hook)
	set := Options(opts)
	reg := newRegistration(set.Name, site)
	if reg.name == "" {
		reg.name = nameOf(hook)
	}
	bindOn(staged, bind)

	var changes []change
	for i, p := range staged {
		from := registryOf(p)
		if from.hooks.len()+from.observers.len() > 0 {
			c := change{at: registryOf(points[i]),
				hooks:     restage(from.hooks.inOrder(), reg, &set),
				observers: restage(from.observers.inOrder(), reg, &set)}
			for _, e := range c.hooks {
				if set.Timeout > 0 && (e.timeout == 0 || set.Timeout < e.timeout) {
					e.timeout = set.Timeout
				}
				e.failClosed = e.failClosed || set.FailClosed && c.decides()
			}
			changes = append(changes, c)
		}
	}
	refuse := func(format string, args ...any) {
		panic(fmt.Sprintf("hookkit: Use at %s: ", site) + fmt.Sprintf(format, args...))
	}
	if len(changes) == 0 {
		refuse("Bind of %s registered nothing, so that the hook would never run; call Add, Observe or Use on the Hooks "+
			"that Bind is given", reg.name)
	}
	if set.FailClosed && !slices.ContainsFunc(changes, change.decides) {
		refuse("FailClosed, but no hook of %s is at a point where hooks decide; remove the option", reg.name)
	}
	if set.Timeout > 0 && !slices.ContainsFunc(changes, func(c change) bool { return len(c.hooks) > 0 }) {
		refuse("Timeout, but %s only observes and an observer has none; remove the option", reg.name)
	}
	owners := make([]*registry, len(changes))
	for i, c := range changes {
		owners[i] = c.at
	}
	unlock := lock(owners)
	defer unlock()
	resequence(changes)
	if err := commit(changes); err != nil {
		refuse("%v", err)
	}
	for _, c := range changes {
		for _, e := range c.observers {
			if e.queue != nil && !slices.Contains(reg.queues, e.queue) {
				reg.queues = append(reg.queues, e.queue)
			}
		}
	}
	return reg.public
}

// bindOn calls bind while the points accept registrations. Afterwards they refuse them, and fires, for ever.
func bindOn(staged []hookkit.PointInfo, bind func()) {
	for _, p := range staged {
		r := registryOf(p)
		r.stage.Store(staging)
		r.typed.activate(true) // so that a fire meets refuseFire
	}
	defer func() {
		for _, p := range staged {
			registryOf(p).stage.Store(bound)
		}
	}()
	bind()
}

// decides reports whether the change adds a hook at a point where hooks decide.
func (c change) decides() bool { return len(c.hooks) > 0 && c.at.point.Law.has(Decides) }

// restage returns copies of the entries as the Use registers them: its options outrank those given in Bind.
func restage(entries []*entry, reg *registration, set *opaque.Settings) []*entry {
	given := anchors(*set)
	staged := make([]*entry, len(entries))
	for i, e := range entries {
		m := *e
		m.site = reg.site
		m.regs = append(slices.Clone(e.regs), reg)
		if set.Name != "" {
			m.name = set.Name
		}
		if set.Ranked {
			m.priority, m.ranked = set.Priority, true
		}
		if len(given) > 0 {
			m.anchors = slices.Clone(e.anchors)
			for j := range m.anchors {
				m.anchors[j].weak = true
			}
			m.anchors = append(m.anchors, given...)
		}
		staged[i] = &m
	}
	return staged
}

// resequence gives the entries new places in time, in the order in which Bind added them.
func resequence(changes []change) {
	var all []*entry
	for _, c := range changes {
		all = append(append(all, c.hooks...), c.observers...)
	}
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.seq, b.seq) })
	var old, now uint64
	for _, e := range all {
		if e.seq != old || now == 0 {
			old, now = e.seq, clock.Add(1)
		}
		e.seq = now
	}
}

// ObserveAny registers one observer of all the points.
func ObserveAny(points []hookkit.PointInfo, observer any,
	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired), opts []hookkit.ObserverOption) *hookkit.Registration {
	site := caller(2)
	refuseNil("ObserveAny", site, "observer", observer)
	changes := make([]change, len(points))
	for i, p := range points {
		changes[i].at = registryOf(p)
	}
	return register("ObserveAny", newEntry(everything{observer, notify}, Options(opts), site), changes)
}

// Layer makes each of the inner points, which are new, a layer on the outer point in the same place.
func Layer(name string, inner, outer []hookkit.PointInfo) {
	for i := range inner {
		o, in := registryOf(outer[i]), registryOf(inner[i])
		o.refuseInBind("Layer", "the program adds layers")
		in.typed.layer(&registry{point: o.point, owner: in.owner, tree: o.tree, outer: o, depth: o.depth + 1, name: name})
	}
}

// Trace attaches the tracer to the points.
func Trace(points []hookkit.PointInfo, t hookkit.Tracer) *hookkit.Registration {
	site := caller(2)
	refuseNil("Trace", site, "tracer", t)
	e := newEntry(t, opaque.Settings{}, site)
	reg := newRegistration(e.name, site)
	e.regs = []*registration{reg}
	owners := registries(points)
	for _, r := range owners {
		r.refuseInBind("Trace", "the operator traces")
	}
	unlock := lock(owners)
	defer unlock()
	e.seq = clock.Add(1)
	for _, r := range owners {
		own := *e
		own.owner = r
		r.tracers = append(slices.Clip(r.tracers), &own)
		reg.registeredAt(r)
		r.changed()
	}
	return reg.public
}

// HandleFailures makes handle the failure handler of the points and of the layers on them; nil restores the default.
func HandleFailures(points []hookkit.PointInfo, handle func(context.Context, *hookkit.Failure)) {
	owners := registries(points)
	for _, r := range owners {
		r.refuseInBind("HandleFailures", "the operator handles failures")
	}
	unlock := lock(owners)
	defer unlock()
	for _, r := range owners {
		r.onFailure = handle
		r.changed()
	}
}

func registries(points []hookkit.PointInfo) []*registry {
	rs := make([]*registry, len(points))
	for i, p := range points {
		rs[i] = registryOf(p)
	}
	return rs
}

// Registered returns the registrations of that name, in the order in which they were made.
func Registered(points []hookkit.PointInfo, name string) []*hookkit.Registration {
	first := map[*registration]uint64{}
	for _, p := range points {
		r := registryOf(p)
		r.tree.mu.Lock()
		for _, layer := range r.layers() {
			for _, e := range slices.Concat(layer.hooks.inOrder(), layer.observers.inOrder(), layer.tracers) {
				for _, reg := range e.regs {
					if at, ok := first[reg]; reg.name == name && (!ok || e.seq < at) {
						first[reg] = e.seq
					}
				}
			}
		}
		r.tree.mu.Unlock()
	}
	found := make([]*registration, 0, len(first))
	for reg := range first {
		found = append(found, reg)
	}
	slices.SortFunc(found, func(a, b *registration) int { return cmp.Compare(first[a], first[b]) })
	public := make([]*hookkit.Registration, len(found))
	for i, reg := range found {
		public[i] = reg.public
	}
	return public
}

// refuseInBind panics, naming the place of the call, if the registry belongs to Hooks that a Bind was given.
func (r *registry) refuseInBind(verb, instead string) {
	if r.stage.Load() != serving {
		panic("hookkit: " + verb + " at " + caller(3) + " on the Hooks that Bind was given: a hook adds and observes, " + instead)
	}
}

// refuseFire panics if the registry belongs to Hooks that a Bind was given.
func (r *registry) refuseFire() {
	if r.stage.Load() != serving {
		panic("hookkit: Fire of " + r.point.Name + " on the Hooks that a Bind was given: they hold no other hook; " +
			"fire the program's own Hooks, and do not keep those of Bind")
	}
}

// Explain writes every point, and under it its hooks in firing order with the reasons for their position.
func Explain(w io.Writer, points []hookkit.PointInfo) error {
	var b strings.Builder
	for _, p := range points {
		results := p.Results
		if results == "" {
			results = "observe"
		}
		fmt.Fprintf(&b, "%s(%s): %s\n", p.Name, p.Payload, results)
		hooks, observers := p.Hooks(), p.Observers()
		if len(hooks)+len(observers) == 0 {
			b.WriteString("      nothing\n")
		}
		for i, h := range hooks {
			fmt.Fprintf(&b, "  %2d. %s  %s\n", i+1, h.Name, h.Why)
		}
		for _, o := range observers {
			fmt.Fprintf(&b, "   o  %s  %s\n", o.Name, o.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
