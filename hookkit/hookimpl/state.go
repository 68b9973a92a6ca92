package hookimpl

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A State is the state of one generated Point: the snapshot that its fires run, and the registry of its hooks. The zero
// value is ready to use. It must not be copied. No part of it is generic, because the compiler compiles the methods of
// a generic type again for each point.
type State struct {
	_        opaque.NoCopy
	_        [0]func() // nobody compares points, so that the compiler need not make a function for it
	active   uint32    // atomic; 1 if there may be hooks to run, or somebody to notify
	snapshot atomic.Pointer[Snapshot]
	registry atomic.Pointer[Registry]
}

// Active reports whether a fire has anything to do. It is as plain as it can be, so that Fire can be inlined with it.
func (s *State) Active() bool { return atomic.LoadUint32(&s.active) != 0 }

func (s *State) activate(active bool) {
	var flag uint32
	if active {
		flag = 1
	}
	atomic.StoreUint32(&s.active, flag)
}

// Registry returns the registry of the point, which it makes on first use. genPoint is the generated Point.
func (s *State) Registry(genPoint any, point *Point) *Registry {
	if r := s.registry.Load(); r != nil {
		return r
	}
	s.registry.CompareAndSwap(nil, &Registry{point: point, genPoint: genPoint, state: s, tree: newTree()})
	return s.registry.Load()
}

// layer makes the registry that of the point, which is new.
func (s *State) layer(r *Registry) {
	r.state = s
	s.registry.Store(r)
	s.activate(true) // a hook may be added to an outer layer at any time
}

// Require panics unless the payload is given, for a fire whose hooks may replace it. It is small enough to be inlined.
func (s *State) Require(given bool) {
	if !given {
		s.noPayload()
	}
}

// noPayload panics with the place of the Fire, which called runHooks, which called Require.
func (s *State) noPayload() {
	panic(fmt.Sprintf("hookkit: Fire of %s at %s: the payload is nil; pass a pointer to one",
		s.registry.Load().point.Name, callsite.Of(4)))
}

// Current returns the snapshot that a fire runs: the given one, unless it is nil. The result is nil if the fire has to
// ask Resolve: something changed since the last fire, or observers or tracers are to be notified. Both are methods of
// their own, so that this one can be inlined.
func (s *State) Current(given *Snapshot) *Snapshot {
	if given != nil {
		if given.Recording() {
			return nil
		}
		return given
	}
	if now := s.snapshot.Load(); now != nil && now.shared == now.tree.version.Load() {
		return now
	}
	return nil
}

// Resolve returns the snapshot that a fire runs: the given one, unless it is nil. If the point has observers or
// tracers, the snapshot is private to this fire, and [Snapshot.Recording] is true.
func (s *State) Resolve(ctx context.Context, run hookkit.AnyRun, given *Snapshot) *Snapshot {
	if given != nil {
		return given
	}
	now := s.latest()
	if now.shared != observed {
		return now
	}
	return now.record(ctx, run, nil)
}

// latest returns the snapshot of the registrations. It makes the snapshot if something changed since the last one.
func (s *State) latest() *Snapshot {
	if now := s.snapshot.Load(); now != nil && now.version == now.tree.version.Load() {
		return now
	}
	r := s.registry.Load()
	r.refuseFire()
	r.tree.mu.Lock()
	defer r.tree.mu.Unlock()
	now := r.take()
	now.fill()
	s.snapshot.Store(now)
	return now
}
