package model

import (
	"context"
	"runtime"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// An actor is a real hook that does what its entry says.
type actor struct {
	stage *stage
	entry *entry
}

// play is one call.
func (a actor) play(ctx context.Context, run *fixture.Run, item fixture.Item, rest next) (r reply) {
	h := a.entry.hook
	a.stage.ran(item, a.entry, func(f *flight, call int) {
		for _, step := range h.Inside {
			a.stage.inside(ctx, run, f, call, step)
		}
	})
	p := points[a.entry.point]
	does := h.Does.means(p.law, h.Timeout)
	switch does {
	case replaces:
		if item = replaced(item, a.entry.name); p.kind != "around" {
			r.outcome = construct(p.Replace, item)
		}
	case edits:
		r.outcome = construct(p.Edit, edited(item.Note, a.entry.name))
	case leaves, both:
		r.outcome = exit(p.exits[0])
	case leavesToo:
		r.outcome = exit(p.exits[1])
	case lies:
		r.outcome = lie(p.exits[0])
	case fails:
		r.err = failure(a.entry.name)
		if len(p.exits) > 0 {
			r.outcome = exit(p.exits[0])
		}
	case panics:
		panic(failure(a.entry.name))
	case panicsNil:
		panic(nil)
	case hangs:
		<-a.stage.over
	case obeys:
		<-ctx.Done()
		r.err = ctx.Err()
	case exits:
		runtime.Goexit()
	}
	if does == contributes || does == both || does == fails {
		r.values = []string{a.entry.name}
	}
	if p.kind != "around" {
		return r
	}
	switch does {
	case fails, obeys, forgets:
	case answers:
		r.answer = hookkit.Answered(fixture.Result{By: a.entry.name})
	case twice:
		_, _ = rest(ctx, item)
		r.answer, r.err = rest(ctx, item)
	case rescues:
		if r.answer, r.err = rest(ctx, item); r.err != nil {
			r.answer, r.err = hookkit.Answered(fixture.Result{By: a.entry.name}), nil
		}
	default: // hangs too: by now next must be void
		r.answer, r.err = rest(ctx, item)
	}
	return r
}

// act is the act that a fire wraps.
func (s *stage) act(f *flight) func(context.Context, fixture.Item) (fixture.Result, error) {
	acts := 0
	return func(_ context.Context, item fixture.Item) (fixture.Result, error) {
		s.ran(item, &entry{name: "act"}, func(*flight, int) { acts++ })
		switch f.fire.Act {
		case fails:
			return fixture.Result{By: "nobody"}, failure("act")
		case panics:
			panic(failure("act"))
		case exits:
			runtime.Goexit()
		}
		return fixture.Result{By: "act", N: acts}, nil
	}
}

// A watcher is a real observer, of any point or of all.
type watcher struct {
	stage *stage
	entry *entry
}

// see is told of a fire. fired is what the observer was given.
func (w watcher) see(point string, fired any) {
	w.stage.told(w.entry, point, fired)
	switch w.entry.observe.Does {
	case panics:
		panic(failure(w.entry.name))
	case exits:
		runtime.Goexit()
	}
}

// A tracer is the tracer of a layer.
type tracer struct {
	stage *stage
	layer int
}

// Trace notes the event.
func (t tracer) Trace(_ context.Context, e hookkit.Event) {
	t.stage.mu.Lock()
	defer t.stage.mu.Unlock()
	c := &t.stage.runs[e.Run].came
	switch e.Kind {
	case hookkit.HookRan:
		c.Traced = append(c.Traced, saysHook(t.layer, e.Hook, e.Layer, e.Decision, e.Failure != nil))
	case hookkit.Fired:
		c.Traced = append(c.Traced, saysFired(t.layer, e.Hook, e.Decision, e.Failure != nil))
	case hookkit.ObserverFailed:
		c.Later = append(c.Later, saysObserver(t.layer, e.Hook))
	}
}
