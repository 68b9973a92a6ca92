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

func init() {
	opaque.ObserveAny = func(points, observer, notify, opts any) any {
		return ObserveAny(points.([]hookkit.AnyPoint), observer,
			notify.(func(context.Context, hookkit.AnyRun, hookkit.AnyFired)), opts.([]hookkit.ObserverOption))
	}
}

// observeAny registers one observer at the site.
func observeAny(site string, owners []*Registry, observer any,
	notify func(context.Context, hookkit.AnyRun, hookkit.AnyFired), opts []hookkit.ObserverOption) *hookkit.Registration {
	e := newEntry("ObserveAny", site, isObserver, observer, options(opts))
	e.notify = notify
	return register("ObserveAny", e, owners...)
}

// Layer makes each of the inner points, which are new, a layer on the outer point in the same place.
func Layer(name string, inner, outer []hookkit.AnyPoint) {
	bases := registries(outer)
	refuseInBind(bases, "Layer", "the program adds layers")
	for i, o := range bases {
		in := registryOf(&inner[i])
		in.bases, in.name = []*Registry{o}, name
		in.state.activate(true) // a hook may be added to an outer layer at any time
	}
}

// Over makes each of the result points, which are new, fire the hooks of the first and then those of the second point
// in the same place.
func Over(name string, result, first, second []hookkit.AnyPoint) {
	fs, ss := registries(first), registries(second)
	refuseInBind(slices.Concat(fs, ss), "Over", "the program combines Hooks")
	for i, r := range registries(result) {
		f, s := fs[i], ss[i]
		r.bases, r.fixed, r.name = []*Registry{f, s}, fixedByOver, name
		r.state.activate(true) // a hook may be added to either at any time
	}
}

// Trace attaches the tracer to the points.
func Trace(points []hookkit.AnyPoint, t hookkit.Tracer) *hookkit.Registration {
	e := newEntry("Trace", callsite.Of(2), isTracer, t, opaque.Settings{})
	owners := registries(points)
	refuseInBind(owners, "Trace", "the operator traces")
	return register("Trace", e, owners...)
}

// HandleFailures makes handle the failure handler of the points and of the layers on them; nil restores the default.
func HandleFailures(points []hookkit.AnyPoint, handle func(context.Context, *hookkit.Failure)) {
	owners := registries(points)
	refuseInBind(owners, "HandleFailures", "the operator handles failures")
	handleFailures(owners, callsite.Of(2), handle)
}

func handleFailures(owners []*Registry, site string, handle func(context.Context, *hookkit.Failure)) {
	registering.Lock()
	defer registering.Unlock()
	for _, r := range owners {
		if r.fixed != "" {
			panic(fmt.Sprintf("hookkit: HandleFailures at %s: %s", site, r.fixed))
		}
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
		for _, l := range r.layers() {
			all = append(all, l.entries...)
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

// refuseInBind panics if a registry belongs to Hooks that a Bind was given. It is called by a function that generated
// code calls, for the program whose call the text names.
func refuseInBind(owners []*Registry, verb, instead string) {
	registering.Lock()
	defer registering.Unlock()
	for _, r := range owners {
		if r.inBind {
			panic(fmt.Sprintf("hookkit: %s at %s on the Hooks that Bind was given: a hook adds and observes, %s",
				verb, callsite.Of(3), instead))
		}
	}
}
