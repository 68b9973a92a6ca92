package hookimpl

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// info describes the point whose registry r is, for people.
func (r *registry) info() hookkit.PointInfo {
	i := hookkit.PointInfo{
		Name: r.point.Name, Payload: r.point.Payload, Results: r.point.Results,
		Contribution: r.point.Contribution, Access: r,
	}
	if r.point.Outcomes != nil {
		i.Outcomes = r.point.Outcomes()
	}
	return i
}

// registryOf returns the registry that a PointInfo describes.
func registryOf(p hookkit.PointInfo) *registry { return p.Access.(*registry) }

// New implements [hookkit.Access].
func (r *registry) New() any { return r.point.New() }

// NewRun implements [hookkit.Access].
func (r *registry) NewRun() hookkit.AnyRun { return r.point.NewRun() }

// Fire implements [hookkit.Access].
func (r *registry) Fire(ctx context.Context, run hookkit.AnyRun, payload any) (hookkit.AnyFired, error) {
	var fired hookkit.AnyFired
	err := r.point.Fire(ctx, r.owner, run, payload, &fired)
	return fired, err
}

// Firing returns Point.Fire from a function that fires the point Q with the address of a payload.
func Firing[Q, E, P any](
	fire func(p Q, ctx context.Context, run *hookkit.Run[E], payload *P, fired *hookkit.AnyFired) error,
) func(context.Context, any, hookkit.AnyRun, any, *hookkit.AnyFired) error {
	return func(ctx context.Context, point any, run hookkit.AnyRun, payload any, fired *hookkit.AnyFired) error {
		r, ok := run.(*hookkit.Run[E])
		if !ok && run != nil {
			return fmt.Errorf("hookkit: the run is a %T; pass a %T", run, r)
		}
		at, err := addressOf[P](payload)
		if err != nil {
			return err
		}
		return fire(point.(Q), ctx, r, at, fired)
	}
}

// addressOf returns the address of a payload that is passed as a P, as a pointer to one or, if P is an interface, as
// nil.
func addressOf[P any](payload any) (*P, error) {
	switch v := payload.(type) {
	case *P:
		if v != nil {
			return v, nil
		}
	case P:
		return &v, nil
	case nil:
		if reflect.TypeFor[P]().Kind() == reflect.Interface {
			return new(P), nil
		}
	}
	return nil, fmt.Errorf("hookkit: the payload is a %T; pass a %v or a pointer to one", payload, reflect.TypeFor[P]())
}

// AddAny implements [hookkit.Access].
func (r *registry) AddAny(h hookkit.AnyHook, opts ...hookkit.GateOption) *hookkit.Registration {
	set := Options(opts)
	site := caller(1)
	if h == nil {
		panic(fmt.Sprintf("hookkit: %s.AddAny at %s: the hook is nil; pass a function", r.point.Name, site))
	}
	if set.FailClosed && !r.point.Law.has(Decides) {
		panic(fmt.Sprintf("hookkit: %s.AddAny at %s: FailClosed, but hooks of this point decide nothing; remove the option",
			r.point.Name, site))
	}
	if set.Name == "" {
		set.Name = nameOf(h)
	}
	return r.addAt("AddAny", site, r.point.Hook(r.point.Name, h), set)
}

// ObserveAny implements [hookkit.Access].
func (r *registry) ObserveAny(observe hookkit.AnyObserverFunc, opts ...hookkit.ObserverOption) *hookkit.Registration {
	return ObserveAny([]hookkit.PointInfo{r.info()}, observe, observe, opts)
}

// HandleFailures implements [hookkit.Access].
func (r *registry) HandleFailures(handle func(context.Context, *hookkit.Failure)) {
	HandleFailures([]hookkit.PointInfo{r.info()}, handle)
}
