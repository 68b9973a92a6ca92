package hookimpl

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// ObserveAny registers one observer of all the points.
func ObserveAny(points []hookkit.PointInfo, observer any,
	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired), opts []hookkit.ObserverOption) *hookkit.Registration {
	site := callsite.Of(2)
	refuseNil("ObserveAny", site, "observer", observer)
	set := options(opts)
	refuseInvalid("ObserveAny", site, set)
	return register("ObserveAny", newEntry(everything{observer, notify}, set, site), toObservers, registries(points)...)
}

// Layer makes each of the inner points, which are new, a layer on the outer point in the same place.
func Layer(name string, inner, outer []hookkit.PointInfo) {
	for i := range inner {
		o, in := registryOf(outer[i]), registryOf(inner[i])
		o.refuseInBind("Layer", "the program adds layers")
		in.state.layer(&Registry{
			point: o.point, genPoint: in.genPoint, tree: o.tree, outer: o, depth: o.depth + 1, name: name,
		})
	}
}

// Trace attaches the tracer to the points.
func Trace(points []hookkit.PointInfo, t hookkit.Tracer) *hookkit.Registration {
	site := callsite.Of(2)
	refuseNil("Trace", site, "tracer", t)
	owners := registries(points)
	for _, r := range owners {
		r.refuseInBind("Trace", "the operator traces")
	}
	return register("Trace", newEntry(t, opaque.Settings{}, site), toTracers, owners...)
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

func registries(points []hookkit.PointInfo) []*Registry {
	rs := make([]*Registry, len(points))
	for i, p := range points {
		rs[i] = registryOf(p)
	}
	return rs
}

// Registered returns the registrations of that name, in the order in which they were made: a Use before what its Bind
// added.
func Registered(points []hookkit.PointInfo, name string) []*hookkit.Registration {
	var found []*registration
	first := map[*registration]*entry{} // the earliest of its entries
	for _, p := range points {
		r := registryOf(p)
		r.tree.mu.Lock()
		for _, layer := range r.layers() {
			for _, e := range slices.Concat(layer.hooks.inOrder(), layer.observers.inOrder(), layer.tracers.inOrder()) {
				for _, reg := range slices.Backward(e.regs) { // a Use before what its Bind added
					if reg.name != name {
						continue
					}
					at, ok := first[reg]
					if !ok {
						found = append(found, reg)
					}
					if !ok || bySeq(e, at) < 0 {
						first[reg] = e
					}
				}
			}
		}
		r.tree.mu.Unlock()
	}
	slices.SortStableFunc(found, func(a, b *registration) int { return bySeq(first[a], first[b]) })
	public := make([]*hookkit.Registration, len(found))
	for i, reg := range found {
		public[i] = reg.public
	}
	return public
}

// refuseInBind panics, naming the place of the call, if the registry belongs to Hooks that a Bind was given.
func (r *Registry) refuseInBind(verb, instead string) {
	if r.stage.Load() != serving {
		panic(fmt.Sprintf("hookkit: %s at %s on the Hooks that Bind was given: a hook adds and observes, %s",
			verb, callsite.Of(3), instead))
	}
}

// refuseFire panics if the registry belongs to Hooks that a Bind was given.
func (r *Registry) refuseFire() {
	if r.stage.Load() != serving {
		panic("hookkit: Fire of " + r.point.Name + " on the Hooks that a Bind was given: they hold no other hook; " +
			"fire the program's own Hooks, and do not keep those of Bind")
	}
}
