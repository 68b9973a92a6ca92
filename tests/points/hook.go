package points

import (
	"context"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A Call is one call of a hook.
type Call struct {
	Ctx  context.Context
	Run  *fixture.Run
	Item fixture.Item
	// Next runs the inner hooks and the act, at an around point. The Reply has Answer and Err.
	Next func(context.Context, fixture.Item) Reply
}

// A Reply is the result of a hook. Parts that the law of the point does not allow are dropped.
type Reply struct {
	Outcome any
	Values  []string
	Answer  any // at an around point: a fixture.Result to answer with, or the Answer of Next
	Err     error
}

// Continue is the action of a hook without an opinion.
func Continue(c Call) Reply {
	if c.Next == nil {
		return Reply{}
	}
	return c.Next(c.Ctx, c.Item)
}

// Hook returns a hook for the point.
func (p *Point) Hook(do func(Call) Reply) hookkit.AnyHook {
	return func(ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
		r, _ := run.(*fixture.Run)
		c := Call{Ctx: ctx, Run: r, Item: p.payload.from(call.Payload).(fixture.Item)}
		if call.Next != nil {
			c.Next = func(ctx context.Context, item fixture.Item) Reply {
				inner, err := call.Next(ctx, p.payload.to(item))
				return Reply{Answer: inner.Result, Err: err}
			}
		}
		reply := do(c)
		var generic hookkit.AnyReply
		if p.Decides() {
			generic.Outcome = reply.Outcome
		}
		if p.Collects && reply.Values != nil {
			generic.Collected = p.values.to(reply.Values)
		}
		if p.Kind == Around {
			generic.Result = reply.Answer
			if result, ok := reply.Answer.(fixture.Result); ok {
				generic.Result = p.result.to(result)
			}
		}
		return generic, reply.Err
	}
}

// Add registers a hook.
func (p *Point) Add(h *fixture.Hooks, do func(Call) Reply, opts ...hookkit.GateOption) *hookkit.Registration {
	return p.At(h).AddAny(p.Hook(do), opts...)
}

// A Bundle is a Hook made of its Bind method.
type Bundle func(*fixture.Hooks)

// Bind calls b.
func (b Bundle) Bind(h *fixture.Hooks) { b(h) }

// Fired is the notification of an observer.
type Fired struct {
	Point     *Point
	Run       *fixture.Run
	Ctx       context.Context
	Payload   fixture.Item
	Final     fixture.Item // equals the payload if hooks cannot change it
	Exit      any
	Collected []string
	Result    fixture.Result
	Err       error
	Ballots   []hookkit.Ballot
	hookkit.Verdict
}

// Observe registers an observer of the point, by ObserveFunc.
func (p *Point) Observe(h *fixture.Hooks, see func(Fired), opts ...hookkit.ObserverOption) *hookkit.Registration {
	register := p.method(h, "ObserveFunc")
	observer := reflect.MakeFunc(register.Type().In(0), func(in []reflect.Value) []reflect.Value {
		part := func(field string) any {
			if v := in[2].FieldByName(field); v.IsValid() {
				return v.Interface()
			}
			return nil
		}
		fired := hookkit.AnyFired{Payload: part("Payload"), Final: part("Final"), Exit: part("Exit"),
			Collected: part("Collected"),
			Result:    part("Result"), Verdict: part("Verdict").(hookkit.Verdict)}
		if !p.Rewrites() {
			fired.Final = fired.Payload
		}
		fired.Err, _ = part("Err").(error)
		fired.Ballots, _ = part("Ballots").([]hookkit.Ballot)
		see(p.fired(in[0].Interface().(context.Context), in[1].Interface().(*fixture.Run), fired))
		return nil
	})
	in := []reflect.Value{observer}
	for _, o := range opts {
		in = append(in, reflect.ValueOf(o))
	}
	return register.Call(in)[0].Interface().(*hookkit.Registration)
}

// An AnyObserver is an observer of all points.
type AnyObserver func(Fired)

// Observe calls o.
func (o AnyObserver) Observe(ctx context.Context, run *fixture.Run, fired hookkit.AnyFired) {
	o(Named(fired.Point).fired(ctx, run, fired))
}

func (p *Point) fired(ctx context.Context, run *fixture.Run, generic hookkit.AnyFired) Fired {
	f := Fired{
		Point:   p,
		Run:     run,
		Ctx:     ctx,
		Exit:    generic.Exit,
		Err:     generic.Err,
		Ballots: generic.Ballots,
		Verdict: generic.Verdict,
	}
	f.Payload, f.Final = p.payload.from(generic.Payload).(fixture.Item), p.payload.from(generic.Final).(fixture.Item)
	if p.Collects {
		f.Collected = p.values.from(generic.Collected).([]string)
	}
	if p.Kind == Around {
		f.Result = p.result.from(generic.Result).(fixture.Result)
	}
	return f
}
