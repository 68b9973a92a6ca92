package hookkit

import (
	"context"
	"slices"
	"time"
)

// A Firing is what a fire knows beside its hooks. It is for generated code.
type Firing struct {
	point     Point
	entries   []*entry // beside Plan.Hooks
	observers []*entry
	tracers   []Tracer
	home      string // the import path of the package that declares the point
	watch     *watch // of one fire; nil where fires share the plan
	Rank      int    // of the exit that leads a vote when the fire begins; see Flight
}

// firing returns what one layer's state makes within an outer layer's, nil for none.
func firing(p Point, own *state, outer *Firing) *Firing {
	f := &Firing{point: p, entries: own.hooks, observers: own.observers}
	if own.tracer != nil {
		f.tracers = []Tracer{own.tracer}
	}
	var forward []*entry
	if outer != nil {
		forward = outer.entries
		f.observers = slices.Concat(outer.observers, f.observers)
		f.tracers = slices.Concat(outer.tracers, f.tracers)
	}
	if p.Law&Reversed == 0 {
		f.entries = slices.Concat(forward, f.entries)
		return f
	}
	f.entries = slices.Clone(f.entries)
	slices.Reverse(f.entries)
	f.entries = append(f.entries, forward...)
	return f
}

// call returns how the entry is called, nil for directly.
func (f *Firing) call(e *entry) *Call {
	if len(f.tracers) == 0 && e.timeout == 0 && !e.once {
		return nil
	}
	return &Call{f, e}
}

// crowded reports whether a fire has observers or tracers.
func (f *Firing) crowded() bool { return len(f.observers)+len(f.tracers) > 0 }

// watched returns a copy for one fire that somebody wants to know of.
func (f *Firing) watched(ctx context.Context, run AnyRun) *Firing {
	w := *f
	w.watch = &watch{ctx: ctx, run: run, Verdict: Verdict{Start: time.Now()}}
	return &w
}
