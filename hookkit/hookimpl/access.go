package hookimpl

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A RegistryHolder is a pointer to a generated Point, which has the method of its [PointRegistry].
type RegistryHolder interface{ ownRegistry() *Registry }

// AnyPoints returns the points of a spec, whose package has the import path, without their types.
func AnyPoints(spec string, holders ...RegistryHolder) []hookkit.AnyPoint {
	points := make([]hookkit.AnyPoint, len(holders))
	for i, holder := range holders {
		r := holder.ownRegistry()
		points[i] = hookkit.AnyPoint{
			Spec: spec, Name: r.point.Name, Payload: r.point.Payload, Results: r.point.Results,
			Outcomes: r.point.outcomes, Contribution: r.point.contribution,
		}
		if k := r.point.Key; k != nil {
			points[i].Key = k.name
		}
		opaque.SetRegistry(&points[i], r)
	}
	return points
}

// registryOf returns the registry of a point.
func registryOf(p *hookkit.AnyPoint) *Registry { return opaque.RegistryOf(p).(*Registry) }

// New implements [hookkit.AnyPoint.New].
func (r *Registry) New() any { return reflect.New(r.point.payloadType).Interface() }

// ResumeRun implements [hookkit.AnyPoint.ResumeRun].
func (r *Registry) ResumeRun(id, parent, root string) hookkit.AnyRun {
	return r.point.resumeRun(id, parent, root)
}

// FireAny is Fire of [hookkit.AnyPoint]. It calls Point.Fire by reflection, so that generated code is smaller. Its
// parameters are, in every point: the generated Point, the context, the run, the payload, at an around point the act,
// what FireBy returns besides (pointers that may be nil), and last the snapshot. The generator writes them in this
// order. A nil key is that of the payload.
func (r *Registry) FireAny(
	ctx context.Context, run hookkit.AnyRun, key, payload any,
) (fired hookkit.AnyFired, err error) {
	fire := reflect.ValueOf(r.point.Fire)
	t := fire.Type()
	last := t.NumIn() - 1
	args := make([]reflect.Value, last+1)
	for i := range args {
		args[i] = reflect.Zero(t.In(i)) // for example the pointers to By
	}
	args[1] = reflect.ValueOf(Background(ctx))
	if run != nil {
		if args[2] = reflect.ValueOf(run); args[2].Type() != t.In(2) {
			return fired, fmt.Errorf("hookkit: the run is a %T; pass a %v", run, t.In(2))
		}
	}
	if args[3], err = addressOf(r.point.payloadType, payload); err != nil {
		return fired, err
	}
	value := args[3].Elem()
	if t.In(3) == r.point.payloadType {
		args[3] = value
	}
	if r.point.wraps {
		act := t.In(4)
		args[4] = reflect.MakeFunc(act, func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.Zero(act.Out(0)), reflect.Zero(act.Out(1))}
		})
	}
	now := r.state.latest()
	if k := r.point.Key; k != nil {
		if key == nil {
			key = k.read(value.Interface())
		}
		if reflect.TypeOf(key) != k.typ {
			return fired, fmt.Errorf("hookkit: the key is a %T; pass a %v", key, k.typ)
		}
		now = now.forKey(key)
	} else if key != nil {
		return fired, fmt.Errorf("hookkit: %s has no key; use Fire", r.point.Name)
	}
	now = now.record(ctx, run, key, &fired)
	args[0], args[last] = reflect.ValueOf(r.genPoint), reflect.ValueOf(now)
	fire.Call(args)
	return fired, fired.Err
}

// addressOf returns the address of a payload of type t that is passed as a t, as a pointer to one or, if t is an
// interface, as nil.
func addressOf(t reflect.Type, payload any) (reflect.Value, error) {
	at := reflect.ValueOf(payload)
	if at.IsValid() && at.Type() == reflect.PointerTo(t) {
		if at.IsNil() {
			return at, fmt.Errorf("hookkit: the payload is a nil %T; pass a pointer to a value", payload)
		}
		return at, nil
	}
	v, ok := valueOf(t, payload)
	if !ok {
		return v, fmt.Errorf("hookkit: the payload is a %T; pass a %v or a pointer to one", payload, t)
	}
	at = reflect.New(t)
	at.Elem().Set(v)
	return at, nil
}

// AddAny implements [hookkit.AnyPoint.AddAny].
func (r *Registry) AddAny(h hookkit.AnyHook, opts []hookkit.GateOption) *hookkit.Registration {
	set := options(opts)
	site := callsite.Of(2)
	var hook any
	if h != nil {
		hook, set.Name = r.point.hookFor(h), cmp.Or(set.Name, callsite.NameOf(h))
	}
	if set.FailClosed && !r.point.decides {
		set.Invalid = "FailClosed, but hooks of this point decide nothing; remove the option"
	}
	return r.addAt("AddAny", site, isHook, hook, set)
}

// ObserveAny implements [hookkit.AnyPoint.ObserveAny].
func (r *Registry) ObserveAny(observe hookkit.AnyObserverFunc, opts []hookkit.ObserverOption) *hookkit.Registration {
	return observeAny(callsite.Of(2), []*Registry{r}, observe, observe, opts)
}

// HandleFailures implements [hookkit.AnyPoint.HandleFailures].
func (r *Registry) HandleFailures(handle func(context.Context, *hookkit.Failure)) {
	refuseInBind([]*Registry{r}, "HandleFailures", "the operator handles failures")
	handleFailures([]*Registry{r}, callsite.Of(2), handle)
}
