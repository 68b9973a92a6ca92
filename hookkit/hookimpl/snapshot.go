package hookimpl

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A Snapshot is the registrations of one moment, as one fire runs them. Registering and removing hooks does not change
// it.
type Snapshot struct {
	// Hooks are the hooks in firing order: a slice of the interface of the point's hooks, so that generated code has the
	// type of its elements after one comparison. If an around hook is called alone, outside a fire, Hooks is its next, and
	// the other fields are zero.
	Hooks any

	*registrations
	recording *recording // of one fire; nil where fires share the snapshot

	single  bool     // made by Rest: one hook of a fire that continues after a crash
	first   uint     // with single: the index of the hook
	rank    int      // with single: of the exit that leads the vote so far
	refused *[]error // with single, at a CheckAll point: the refusals so far
}

// registrations are the part of a Snapshot that its copies share.
type registrations struct {
	point     *Point
	layers    []layer
	entries   []*entry // parallel to Hooks
	observers []*entry
	tracers   []*entry
	onFailure func(context.Context, *hookkit.Failure)
	keyed     *keyed        // the registrations for some keys only; nil without any
	slow      time.Duration // an observer wants to know which hooks take longer; 0 if none does
}

// depth returns the position of the entry's layer, 0 for the outermost.
func (s *Snapshot) depth(e *entry) int {
	return slices.IndexFunc(s.layers, e.registry.owns)
}

// observed reports whether there are observers or tracers, so that each fire needs a copy of its own.
func (s *Snapshot) observed() bool { return len(s.observers)+len(s.tracers) > 0 }

// take gathers the registrations of the layers, without Hooks. The caller holds the lock.
func (r *Registry) take() *Snapshot {
	s := &Snapshot{registrations: &registrations{point: r.point, layers: r.layers()}}
	var all []*entry
	for _, l := range s.layers {
		all = append(all, l.entries...)
		if l.onFailure != nil {
			s.onFailure = l.onFailure
		}
	}
	if k := byKey(all); k != nil {
		s.keyed, all = k, k.with(nil)
	}
	s.divide(all)
	return s
}

// divide makes the entries those of the snapshot.
func (s *Snapshot) divide(all []*entry) {
	kinds := [...]*[]*entry{isHook: &s.entries, isObserver: &s.observers, isTracer: &s.tracers}
	for _, e := range all {
		*kinds[e.kind] = append(*kinds[e.kind], e)
	}
	if s.point.Reverse {
		slices.Reverse(s.entries)
	}
}

// fill makes Hooks from the entries.
func (s *Snapshot) fill() {
	for _, e := range s.observers {
		if w, ok := observerAs[watcher](e); ok && !s.point.wraps { // records lack around points
			s.slow = w.SlowHooks()
		}
	}
	hooks := reflect.MakeSlice(reflect.SliceOf(s.point.hookType), len(s.entries), len(s.entries))
	for i, e := range s.entries {
		hook := e.hook
		if s.watched() || e.Timeout > 0 {
			hook = s.point.hookFor((&supervisedHook{snapshot: s, entry: e}).call)
		}
		hooks.Index(i).Set(reflect.ValueOf(hook))
	}
	s.Hooks = hooks.Interface()
}
