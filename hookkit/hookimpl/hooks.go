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
	set := options(opts)
	refuse("ObserveAny", site, "observer", observer, set)
	return register("ObserveAny", newEntry(isObserver, everything{observer, notify}, set, site), owners...)
}

// Layer makes each of the inner points, which are new, a layer on the outer point in the same place.
func Layer(name string, inner, outer []hookkit.AnyPoint) {
	for i := range inner {
		o, in := registryOf(&outer[i]), registryOf(&inner[i])
		o.refuseInBind("Layer", 3, "the program adds layers")
		in.outer, in.bases, in.name = o, []*Registry{o}, name
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
		r.bases, r.fixed, r.name = []*Registry{f, s}, fixedByOver, name
		r.state.activate(true) // a hook may be added to either at any time
	}
}

// Trace attaches the tracer to the points.
func Trace(points []hookkit.AnyPoint, t hookkit.Tracer) *hookkit.Registration {
	site := callsite.Of(2)
	refuse("Trace", site, "tracer", t, opaque.Settings{})
	owners := registries(points)
	for _, r := range owners {
		r.refuseInBind("Trace", 3, "the operator traces")
	}
	return register("Trace", newEntry(isTracer, t, opaque.Settings{}, site), owners...)
}

// HandleFailures makes handle the failure handler of the points and of the layers on them; nil restores the default.
func HandleFailures(points []hookkit.AnyPoint, handle func(context.Context, *hookkit.Failure)) {
	handleFailures(registries(points), handle)
}

func handleFailures(owners []*Registry, handle func(context.Context, *hookkit.Failure)) {
	for _, r := range owners {
		r.refuseInBind("HandleFailures", 4, "the operator handles failures")
		if r.fixed != "" {
			panic(fmt.Sprintf("hookkit: HandleFailures at %s: %s", callsite.Of(3), r.fixed))
		}
	}
	registering.Lock()
	defer registering.Unlock()
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
	registering.Lock()
	defer registering.Unlock()
	var all []*entry
	for _, r := range registries(points) {
		for _, layer := range r.layers() {
			all = append(all, layer.all()...)
		}
	}
	slices.SortStableFunc(all, bySeq)
	var found []*hookkit.Registration
	for _, e := range all {
		for _, reg := range slices.Backward(e.regs) {
			if reg.name == name && !slices.Contains(found, reg.public) {
				found = append(found, reg.public)
			}
		}
	}
	return found
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
