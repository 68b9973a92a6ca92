package model

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hookgen/hookgen/tests/fixture"
)

// fire fires a point, from inside the call of a hook in the parent if there is one.
func (s *stage) fire(ctx context.Context, parent *flight, parentRun *fixture.Run, call int, f fire) {
	s.mu.Lock()
	if f.Layer >= len(s.layers) || parent != nil && (parent.depth == deepest || len(s.flights) >= mostFires) {
		s.mu.Unlock()
		return
	}
	hooks, run := s.layers[f.Layer], fixture.NewRun(new(fixture.World))
	s.clock++
	c := &flight{fire: f, item: fixture.Item{ID: len(s.flights) + 1}, parallel: s.parallel, from: len(s.past) - 1, to: -1, begun: s.clock,
		gone: map[int]bool{}}
	if parent != nil {
		run, c.depth = parentRun.Child(parentRun.Env), parent.depth+1
	}
	s.flights, s.runs[run.ID()] = append(s.flights, c), c
	s.mu.Unlock()

	var back came
	returned := false
	defer func() {
		var escaped any
		if !returned {
			escaped = recover()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if escaped != nil {
			s.wrong("the fire %d of %s panicked: %v", c.item.ID, f.Point, escaped)
		}
		s.clock++
		c.ended = s.clock
		c.saw(s)
		if c.Gone = !returned; c.Gone && parent != nil {
			parent.gone[call] = true
		}
		c.Exit, c.Left, c.Collected, c.Err, c.Result = back.Exit, back.Left, back.Collected, back.Err, back.Result
	}()
	back = points[f.Point].fire(context.WithValue(ctx, flightKey{}, logged{s, c}), hooks, run, c.item, s.act(c))
	returned = true
}

// saw ends the moments that a fire may have seen: it has begun to run what it saw. The caller holds mu.
func (f *flight) saw(s *stage) {
	switch {
	case f.to >= 0:
	case f.parallel:
		f.to = len(s.past) - 1
	default:
		f.to = f.from
	}
}

// ran notes that a hook or an act is called, and does what it does inside.
func (s *stage) ran(item fixture.Item, e *entry, inside func(f *flight, number int)) {
	s.mu.Lock()
	f := s.flights[item.ID-1]
	f.saw(s)
	number := len(f.Ran)
	f.Ran = append(f.Ran, saysRan(e.name, item))
	if e.hook.Once {
		s.clock++
		if _, again := s.calls[e.name]; again {
			s.wrong("%s has Once and is called again", e.name)
		}
		s.calls[e.name] = call{item.ID, s.clock}
		after, _ := s.now().remove(func(other *entry) bool { return other == e })
		s.past = append(s.past, after)
	}
	s.mu.Unlock()
	inside(f, number)
}

// inside does what a hook does inside.
func (s *stage) inside(ctx context.Context, run *fixture.Run, f *flight, call int, st step) {
	switch st := st.(type) {
	case fire:
		s.fire(ctx, f, run, call, st)
	case remove:
		s.remove(st.Reg)
	case add:
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

// told notes that an observer was told.
func (s *stage) told(e *entry, point string, fired any) {
	says := fmt.Sprintf("%s: %s %v", e.name, point, sees(fired))
	id := partOf(fired, "Payload").(fixture.Item).ID
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flights[id-1]
	if e.observe.Async {
		s.later[e.name] = append(s.later[e.name], id)
		f.Later = append(f.Later, says)
	} else {
		f.Told = append(f.Told, says)
	}
}

// flightKey is the key of a fire in its context.
type flightKey struct{}

type logged struct {
	stage  *stage
	flight *flight
}

// A logger is the handler of log/slog: it notes what reaches nobody else with the fire.
type logger struct{ slog.Handler }

// Enabled is true.
func (logger) Enabled(context.Context, slog.Level) bool { return true }

// Handle notes the record.
func (logger) Handle(ctx context.Context, r slog.Record) error {
	if l, ok := ctx.Value(flightKey{}).(logged); ok {
		l.stage.mu.Lock()
		defer l.stage.mu.Unlock()
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "hook" {
				l.flight.Later = append(l.flight.Later, saysLog(a.Value.String()))
			}
			return true
		})
	}
	return nil
}
