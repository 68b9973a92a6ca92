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
func ObserveAny(points []hookkit.AnyPoint, observer any,
	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired), opts []hookkit.ObserverOption) *hookkit.Registration {
	return observeAny(callsite.Of(2), registries(points), observer, notify, opts)
}

// observeAny registers one observer at the site.
func observeAny(site string, owners []*Registry, observer any,
	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired), opts []hookkit.ObserverOption) *hookkit.Registration {
	refuseNil("ObserveAny", site, "observer", observer)
	set := options(opts)
	refuseInvalid("ObserveAny", site, set)
	return register("ObserveAny", newEntry(everything{observer, notify}, set, site), toObservers, owners...)
}

// Layer makes each of the inner points, which are new, a layer on the outer point in the same place.
func Layer(name string, inner, outer []hookkit.AnyPoint) {
	for i := range inner {
		o, in := registryOf(&outer[i]), registryOf(&inner[i])
		o.refuseInBind("Layer", 3, "the program adds layers")
		in.tree, in.outer, in.name = o.tree, o, name
		in.state.activate(true) // a hook may be added to an outer layer at any time
	}
}

// Over makes each of the result points, which are new, fire the hooks of the first and then those of the second point
// in the same place.
func Over(name string, result, first, second []hookkit.AnyPoint) {
	for i := range result {
		f, s, r := registryOf(&first[i]), registryOf(&second[i]), registryOf(&result[i])
		f.refuseInBind("Over", 3, "the program combines Hooks")
		s.refuseInBind("Over", 3, "the program combines Hooks")
		r.over, r.name = &pair{f, s}, name
		r.state.activate(true) // a hook may be added to either at any time
	}
}

// Trace attaches the tracer to the points.
func Trace(points []hookkit.AnyPoint, t hookkit.Tracer) *hookkit.Registration {
	site := callsite.Of(2)
	refuseNil("Trace", site, "tracer", t)
	owners := registries(points)
	for _, r := range owners {
		r.refuseInBind("Trace", 3, "the operator traces")
	}
	return register("Trace", newEntry(t, opaque.Settings{}, site), toTracers, owners...)
}

// HandleFailures makes handle the failure handler of the points and of the layers on them; nil restores the default.
func HandleFailures(points []hookkit.AnyPoint, handle func(context.Context, *hookkit.Failure)) {
	handleFailures(registries(points), handle)
}

func handleFailures(owners []*Registry, handle func(context.Context, *hookkit.Failure)) {
	for _, r := range owners {
		r.refuseInBind("HandleFailures", 4, "the operator handles failures")
		if text := r.readOnly(); text != "" {
			panic(fmt.Sprintf("hookkit: HandleFailures at %s: %s", callsite.Of(3), text))
		}
	}
	unlock := lock(owners)
	defer unlock()
	for _, r := range owners {
		r.onFailure = handle
		r.changed()
	}
}

func registries(points []hookkit.AnyPoint) []*Registry {
	rs := make([]*Registry, len(points))
	for i := range points {
		rs[i] = registryOf(&points[i])
	}
	return rs
}

// Registered returns the registrations of that name, in the order in which they were made: a Use before what its Bind
// added.
func Registered(points []hookkit.AnyPoint, name string) []*hookkit.Registration {
	var found []*registration
	first := map[*registration]*entry{} // the earliest of its entries
	for i := range points {
		r := registryOf(&points[i])
		layers := r.layers()
		unlock := lock(layers)
		for _, layer := range layers {
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
		unlock()
	}
	slices.SortStableFunc(found, func(a, b *registration) int { return bySeq(first[a], first[b]) })
	public := make([]*hookkit.Registration, len(found))
	for i, reg := range found {
		public[i] = reg.public
	}
	return public
}

// refuseInBind panics if the registry belongs to Hooks that a Bind was given. The text names the call that is skip
// frames above refuseInBind.
func (r *Registry) refuseInBind(verb string, skip int, instead string) {
	if r.stage.Load() != serving {
		panic(fmt.Sprintf("hookkit: %s at %s on the Hooks that Bind was given: a hook adds and observes, %s",
			verb, callsite.Of(skip), instead))
	}
}

// refuseFire panics if the registry belongs to Hooks that a Bind was given.
func (r *Registry) refuseFire() {
	if r.stage.Load() != serving {
		panic("hookkit: Fire of " + r.point.Name + " on the Hooks that a Bind was given: they hold no other hook; " +
			"fire the program's own Hooks, and do not keep those of Bind")
	}
}
