package runtime_test

import (
	"context"
	"runtime"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// An actor is a real hook that performs the action of its entry.
type actor struct {
	harness *harness
	entry   *entry
}

// play performs one call.
func (a actor) play(c points.Call) (r points.Reply) {
	h, name := a.entry.hook, a.entry.name
	a.harness.ran(c.Ctx, c.Item, a.entry, func(f *firing, call int) {
		for _, step := range h.Inside {
			a.harness.inside(c.Ctx, c.Run, f, call, step)
		}
	})
	p := points.Named(a.entry.point)
	does := h.Does.at(p, h.Timeout)
	switch does {
	case Replaces, Redirects:
		if c.Item = replaced(c.Item, name, does); p.Kind != points.Around {
			r.Outcome = p.Replace(c.Item, reason(name))
		}
	case Edits:
		r.Outcome = p.Edit(edited(c.Item.Note, name), reason(name))
	case Leaves, Both:
		r.Outcome = p.Exit(p.Exits[0], reason(name))
	case LeavesSecond:
		r.Outcome = p.Exit(p.Exits[1], reason(name))
	case LeavesThird:
		r.Outcome = p.Exit(p.Exits[2], reason(name))
	case Lies:
		r.Outcome = p.Pointer(p.Exits[0])
	case Fails:
		r.Err = failure(name)
		if len(p.Exits) > 0 {
			r.Outcome = p.Exit(p.Exits[0], reason(name))
		}
	case Panics:
		panic(failure(name))
	case PanicsNil:
		panic(nil)
	case Hangs:
		<-a.harness.over
	case Obeys:
		<-c.Ctx.Done()
		r.Err = c.Ctx.Err()
	case EndsGoroutine:
		runtime.Goexit()
	}
	if does == Contributes || does == Both || does == Fails {
		r.Values = contributions(name)
	}
	if p.Kind != points.Around {
		return r
	}
	own := points.Reply{Answer: fixture.Result{By: name}}
	switch does {
	case Fails, Obeys, Forgets:
		return r
	case Answers:
		return own
	case CallsTwice, KeepsFirst:
		first := c.Next(c.Ctx, c.Item)
		second := c.Next(c.Ctx, c.Item)
		if does == KeepsFirst {
			return first
		}
		return second
	}
	r = c.Next(c.Ctx, c.Item) // also for a hook that hangs: next must have no effect by now
	switch {
	case does == Rescues && r.Err != nil, does == AnswersAfter:
		return own
	case does == FailsAfter:
		r.Err = failure(name) // the answer is dropped
	case does == PanicsAfter:
		panic(failure(name))
	}
	return r
}

// act returns the act of a fire.
func (s *harness) act(f *firing) points.Act {
	acts := 0
	return func(ctx context.Context, item fixture.Item) (fixture.Result, error) {
		s.ran(ctx, item, &entry{name: "act"}, func(*firing, int) { acts++ })
		switch f.Fire.act(acts) {
		case Fails:
			return fixture.Result{By: "nobody"}, failure("act")
		case Panics:
			panic(failure("act"))
		case EndsGoroutine:
			runtime.Goexit()
		}
		return fixture.Result{By: "act", N: acts}, nil
	}
}

// A watcher is a real observer, of one point or of all points.
type watcher struct {
	harness *harness
	entry   *entry
}

// see records a notification.
func (w watcher) see(fired points.Fired) {
	w.harness.notified(w.entry, fired)
	switch w.entry.observe.Does {
	case Panics:
		panic(failure(w.entry.name))
	case EndsGoroutine:
		runtime.Goexit()
	}
}

// A tracer is a real tracer.
type tracer struct {
	harness *harness
	name    string
}

// Trace records the event.
func (t tracer) Trace(ctx context.Context, e hookkit.Event) {
	t.harness.mu.Lock()
	defer t.harness.mu.Unlock()
	f := firingOf(ctx)
	switch e.Kind {
	case hookkit.EventHook:
		f.Traced = append(f.Traced, saysHook(t.name, e.Hook, e.Layer, e.Decision, e.Failure != nil))
	case hookkit.EventFire:
		f.Traced = append(f.Traced, saysFired(t.name, e.Hook, e.Decision, e.Failure != nil))
	case hookkit.EventObserver:
		f.Later = append(f.Later, saysObserver(t.name, e.Hook))
	}
}
