package points

import (
	"context"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A How is a way to fire a point.
type How string

// The ways. Points without FireBy always use Fire.
const (
	Plain     How = ""          // Fire
	WithBy    How = "WithBy"    // FireBy
	ByAnyFire How = "ByAnyFire" // AnyPoint.Fire, which ignores the act
)

// An Act is the act of an around point.
type Act = func(context.Context, fixture.Item) (fixture.Result, error)

// Yields is an Act that yields a result with the ID of the item.
func Yields(_ context.Context, item fixture.Item) (fixture.Result, error) {
	return fixture.Result{By: "act", N: item.ID}, nil
}

// FireResult is the result of a fire.
type FireResult struct {
	Final     fixture.Item // the payload after the fire
	Exit      any
	Collected []string
	Result    fixture.Result
	Err       error
	By        hookkit.By   // of FireBy
	Bys       []hookkit.By // of FireBy at a point that collects, or with CheckAll
}

// Fire fires the point by its method Fire. The act is for around points.
func (p *Point) Fire(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item, act Act) FireResult {
	return p.FireAs(Plain, ctx, h, run, item, act)
}

// FireAs fires the point in the given way.
func (p *Point) FireAs(
	how How, ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item, act Act,
) FireResult {
	result := FireResult{Final: item}
	if how == ByAnyFire {
		payload := reflect.New(p.typ.Elem())
		payload.Elem().Set(reflect.ValueOf(p.payload.to(item)))
		fired, err := p.At(h).Fire(ctx, run, payload.Interface())
		f := p.fired(ctx, run, fired)
		return FireResult{Final: f.Final, Exit: f.Exit, Collected: f.Collected, Result: f.Result, Err: err, By: fired.By}
	}
	name := "Fire"
	if how == WithBy && p.HasFireBy() {
		name = "FireBy"
	}
	fire := p.method(h, name)
	payload := reflect.New(p.typ.Elem())
	payload.Elem().Set(reflect.ValueOf(p.payload.to(item)))
	in := []reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(run), payload}
	if !p.Rewrites() {
		in[2] = payload.Elem()
	}
	if p.Kind == Around {
		in = append(in, p.act(fire.Type().In(3), act))
	}
	for _, out := range fire.Call(in) {
		p.put(&result, out)
	}
	if p.Rewrites() {
		result.Final = p.payload.from(payload.Elem().Interface()).(fixture.Item)
	}
	return result
}

// put stores one result of a fire in its field.
func (p *Point) put(result *FireResult, out reflect.Value) {
	switch v := out.Interface().(type) {
	case nil: // no exit or no error
	case hookkit.By:
		result.By = v
	case []hookkit.By:
		result.Bys = v
	default:
		switch {
		case out.Type() == reflect.TypeFor[error]():
			result.Err = v.(error)
		case p.Kind == Around:
			result.Result = p.result.from(v).(fixture.Result)
		case out.Kind() == reflect.Slice:
			result.Collected = p.values.from(v).([]string)
		default:
			result.Exit = v
		}
	}
}

// act converts an act to the type that the fire takes.
func (p *Point) act(typ reflect.Type, act Act) reflect.Value {
	return reflect.MakeFunc(typ, func(in []reflect.Value) []reflect.Value {
		ctx, _ := in[0].Interface().(context.Context)
		result, err := act(ctx, p.payload.from(in[1].Interface()).(fixture.Item))
		failure := reflect.New(typ.Out(1)).Elem()
		if err != nil {
			failure.Set(reflect.ValueOf(err))
		}
		return []reflect.Value{reflect.ValueOf(p.result.to(result)), failure}
	})
}

// registry returns the point of some Hooks, which have a field for each point in the order of the spec.
func (p *Point) registry(h *fixture.Hooks) reflect.Value {
	return reflect.ValueOf(h).Elem().Field(p.index).Addr()
}

func (p *Point) method(h *fixture.Hooks, name string) reflect.Value {
	return p.registry(h).Method(p.methods[name])
}
