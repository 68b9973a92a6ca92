package runtime_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// fire fires a point. The parent is the fire whose hook called it, or nil.
func (s *harness) fire(ctx context.Context, parent *firing, parentRun *fixture.Run, call int, f Fire) {
	s.mu.Lock()
	if f.Layer >= len(s.layers) || f.Pin > len(s.pins) ||
		parent != nil && (parent.depth == deepest || len(s.firings) >= mostFires) {
		s.mu.Unlock()
		return
	}
	at := pin{s.layers[f.Layer], f.Layer, len(s.past) - 1}
	if f.Pin > 0 {
		at = s.pins[f.Pin-1]
		f.Layer = at.layer
	}
	run := fixture.NewRun(new(fixture.World))
	p := points.Named(f.Point)
	s.clock++
	c := &firing{
		Fire: f, number: len(s.firings) + 1, parallel: s.parallel, from: at.snapshot, to: -1, begun: s.clock,
		gone: map[int]bool{},
	}
	if f.Pin > 0 {
		c.to = at.snapshot
	}
	c.item.Tool = f.Tool
	if !p.Blank {
		c.item.ID = c.number
	}
	if parent != nil {
		run, c.depth = parentRun.Child(parentRun.Env), parent.depth+1
	}
	s.firings = append(s.firings, c)
	s.mu.Unlock()

	var back points.FireResult
	returned := false
	defer func() {
		var escaped any
		if !returned {
			escaped = recover()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if escaped != nil {
			s.wrong("the fire %d of %s panicked: %v", c.number, f.Point, escaped)
		}
		s.clock++
		c.ended = s.clock
		c.saw(s)
		if c.Gone = !returned; c.Gone {
			if parent != nil {
				parent.gone[call] = true
			}
			return
		}
		c.Exit, c.Final, c.Collected = points.NameOf(back.Exit), payload(back.Final), back.Collected
		c.Err, c.Result, c.By = inWords(back.Err), back.Result, s.credits(back.By)
		for _, who := range c.who {
			if c.By != "" && who != back.By {
				s.wrong("fire %d says that %+v decided, and an observer was notified of %+v", c.number, back.By, who)
			}
		}
		for _, by := range back.Bys {
			c.Bys = append(c.Bys, s.credits(by))
		}
	}()
	back = p.FireAs(f.How, context.WithValue(ctx, firingKey{}, logged{s, c}), at.hooks, run, c.item, s.act(c))
	returned = true
}

// credits returns the name of the deciding hook, and checks that the site is that of its registration. The caller
// holds mu.
func (s *harness) credits(by hookkit.By) string {
	want := ""
	if reg := s.regs[s.makers[by.Hook]]; by.Hook != "" && reg != nil {
		want = reg.Site()
	}
	if by.Site != want {
		s.wrong("%s decided and its site is %q, which is registered at %q", by.Hook, by.Site, want)
	}
	return credits(by.Hook, by.Decision, by.Reason)
}

// saw fixes the snapshots that a fire may use, because its first hook runs. The caller holds mu.
func (f *firing) saw(s *harness) {
	switch {
	case f.to >= 0:
	case f.parallel:
		f.to = len(s.past) - 1
	default:
		f.to = f.from
	}
}

// ran records the call of a hook or an act, and plays its inner steps.
func (s *harness) ran(ctx context.Context, item fixture.Item, e *entry, inside func(f *firing, number int)) {
	s.mu.Lock()
	f := firingOf(ctx)
	f.saw(s)
	number := len(f.Ran)
	f.Ran = append(f.Ran, saysRan(e.name, item))
	s.mu.Unlock()
	inside(f, number)
}

// inside plays an inner step of a hook.
func (s *harness) inside(ctx context.Context, run *fixture.Run, f *firing, call int, st Step) {
	switch st := st.(type) {
	case Fire:
		s.fire(ctx, f, run, call, st)
	case Remove:
		s.remove(st.Reg)
	case Add:
		s.mu.Lock()
		s.added++
		n := s.added
		s.mu.Unlock()
		if n <= mostAdded {
			st.Reg = firstInside + n
			s.add(st, fmt.Sprint("h", st.Reg))
		}
	}
}

// notified records that an observer was notified.
func (s *harness) notified(e *entry, fired points.Fired) {
	says := fmt.Sprintf("%s: %s %v", e.name, fired.Point, sees(fired))
	s.mu.Lock()
	defer s.mu.Unlock()
	f := firingOf(fired.Ctx)
	s.credits(fired.By)
	if e.observe.Async {
		s.later[e.name] = append(s.later[e.name], f.number)
		f.Later = append(f.Later, says)
	} else {
		f.Notified, f.who = append(f.Notified, says), append(f.who, fired.By)
	}
}

// firingKey is the context key of a fire.
type firingKey struct{}

type logged struct {
	harness *harness
	firing  *firing
}

func firingOf(ctx context.Context) *firing { return ctx.Value(firingKey{}).(logged).firing }

// reported records with the fire that a failure was reported: by the failure handler of a layer, or -1 for the
// log.
func reported(ctx context.Context, layer int, hook string) {
	if l, ok := ctx.Value(firingKey{}).(logged); ok {
		l.harness.mu.Lock()
		defer l.harness.mu.Unlock()
		l.firing.Later = append(l.firing.Later, saysReport(layer, hook))
	}
}

// A logger is a handler of log/slog that records failures with their fire.
type logger struct{ slog.Handler }

// Enabled is true.
func (logger) Enabled(context.Context, slog.Level) bool { return true }

// Handle records the failure.
func (logger) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "hook" {
			reported(ctx, -1, a.Value.String())
		}
		return true
	})
	return nil
}
