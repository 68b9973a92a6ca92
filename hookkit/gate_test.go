package hookkit_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// Here is, by hand and as short as it can be, what hookgen would generate for three points with one exit, so that
// the tests of this package need nothing else.

type run = hookkit.Run[string]

// A gate is a hook.
type gate interface {
	Gate(ctx context.Context, run *run, n int) (any, error)
}

type gateFunc func(ctx context.Context, run *run, n int) (any, error)

func (f gateFunc) Gate(ctx context.Context, run *run, n int) (any, error) { return f(ctx, run, n) }

// Bind adds f to the first point.
func (f gateFunc) Bind(h *hooks) { h.First.Add(f) }

// stop is the exit.
type stop struct{ Reason string }

// fired is what observers of a point and of all points are told alike.
type fired = hookkit.AnyFired

type observer func(ctx context.Context, run *run, f fired)

// The laws of the three points.
type (
	openLaw     struct{}
	closedLaw   struct{}
	reversedLaw struct{}
)

func (openLaw) Point() hookkit.Point {
	return hookkit.Point{Name: "First", Payload: "int", Results: "stop, FailOpen", Law: hookkit.Decides}
}

func (closedLaw) Point() hookkit.Point {
	return hookkit.Point{Name: "Second", Payload: "int", Results: "stop, FailClosed", Law: hookkit.Decides | hookkit.FailsClosed}
}

func (reversedLaw) Point() hookkit.Point {
	return hookkit.Point{Name: "Last", Payload: "int", Results: "Reverse, stop, FailOpen", Law: hookkit.Decides | hookkit.Reversed}
}

func (openLaw) Wrap(h gate, c *hookkit.Call) gate     { return wrap(h, c) }
func (closedLaw) Wrap(h gate, c *hookkit.Call) gate   { return wrap(h, c) }
func (reversedLaw) Wrap(h gate, c *hookkit.Call) gate { return wrap(h, c) }

func wrap(h gate, c *hookkit.Call) gate {
	return gateFunc(func(ctx context.Context, run *run, n int) (any, error) {
		return c.Do(ctx, run, func(ctx context.Context) (any, error) { return h.Gate(ctx, run, n) })
	})
}

type point[L hookkit.Description[gate]] struct {
	hookkit.Registry[gate, observer, hookkit.GateOption, L]
}

func (p *point[L]) Fire(ctx context.Context, run *run, n int) (exit any, err error) {
	s := p.Load()
	if s == nil {
		return nil, nil
	}
	if s.Plain {
		return p.fire(ctx, run, n, s, 0)
	}
	if s = p.Settle(ctx, run); s.Firing.Watched() {
		defer func() {
			s.Firing.End()
			tell := func(ctx context.Context, o any) {
				o.(observer)(ctx, run, s.Firing.Any(n, n, exit, nil, nil, err))
			}
			s.Firing.Tell(tell, tell)
		}()
	}
	return p.fire(ctx, run, n, s, 0)
}

func (p *point[L]) fire(ctx context.Context, run *run, n int, s *hookkit.Plan[gate], i int) (exit any, err error) {
	defer func() {
		if i < len(s.Hooks) && exit == nil && err == nil {
			if err = s.Firing.Crashed(ctx, i, recover()); err == nil {
				exit, err = p.fire(ctx, run, n, s, i+1)
			}
		}
	}()
	for ; i < len(s.Hooks); i++ {
		out, failure := s.Hooks[i].Gate(ctx, run, n)
		if out == nil && failure == nil {
			continue
		}
		if failure == nil {
			if o, ok := out.(stop); ok {
				f := hookkit.Flight{Ctx: ctx, Firing: s.Firing, Hook: uint(i + 1)}
				f.Decided(o)
				return o, nil
			}
			failure = hookkit.Illegal(out)
		}
		if err := s.Firing.Fail(ctx, i, failure); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

type hooks struct {
	First  point[openLaw]
	Second point[closedLaw]
	Last   point[reversedLaw]
}

type binder interface{ Bind(*hooks) }

type binding func(*hooks)

func (b binding) Bind(h *hooks) { b(h) }

func (h *hooks) Points() []hookkit.PointInfo {
	return []hookkit.PointInfo{h.First.Info(), h.Second.Info(), h.Last.Info()}
}

func (h *hooks) Use(k binder, opts ...hookkit.UseOption) *hookkit.Registration {
	staging := new(hooks)
	return hookkit.Use(h.Points(), staging.Points(), k, func() { k.Bind(staging) }, opts)
}

func (h *hooks) ObserveAny(o observer, opts ...hookkit.ObserverOption) *hookkit.Registration {
	return hookkit.ObserveAny(h.Points(), o, opts)
}

func (h *hooks) Layer() *hooks {
	inner := new(hooks)
	hookkit.Layer(inner.Points(), h.Points())
	return inner
}

func (h *hooks) Trace(t hookkit.Tracer) { hookkit.Trace(h.Points(), t) }

func (h *hooks) Explain(w io.Writer) error { return hookkit.Explain(w, h.Points()) }

// A diary notes which hooks ran.
type diary struct{ entries []string }

// hook makes a hook that continues.
func (d *diary) hook(name string) gateFunc {
	return func(context.Context, *run, int) (any, error) {
		d.entries = append(d.entries, name)
		return nil, nil
	}
}

// add adds hooks to the first point under their names.
func (d *diary) add(h *hooks, name string, opts ...hookkit.GateOption) *hookkit.Registration {
	return h.First.Add(d.hook(name), append(opts, hookkit.Named(name))...)
}

// want fires the first point and compares who ran.
func (d *diary) want(t *testing.T, h *hooks, names ...string) {
	t.Helper()
	d.entries = nil
	if exit, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); exit != nil || err != nil {
		t.Errorf("the fire returned %v, %v", exit, err)
	}
	if got, want := fmt.Sprint(d.entries), fmt.Sprint(names); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
}

// panicOf returns what f panics with, as text; "" if it returns.
func panicOf(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// continues is a hook without a decision.
var continues = gateFunc(func(context.Context, *run, int) (any, error) { return nil, nil })
