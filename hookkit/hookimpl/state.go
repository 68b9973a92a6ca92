package hookimpl

import (
	"context"
	"fmt"
	"sync"
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

	// The registry is a part of the State, because each Use and each layer makes one for every point of the spec.
	once     sync.Once // makes the registry
	registry Registry
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

// ownRegistry returns the registry of the point, which it makes on first use. The State must have been used, or be
// active, before its field registry is.
func (s *State) ownRegistry(d Description) *Registry {
	s.once.Do(func() {
		r := &s.registry
		r.point, r.state = describePoint(d), s
		r.genPoint = r.point.at(s)
	})
	return &s.registry
}

// Require panics unless the payload is given, for a fire of the point whose hooks may replace it. It is small enough to
// be inlined.
func Require(given bool, point string) {
	if !given {
		noPayload(point)
	}
}

// noPayload panics with the place of the Fire, which called runHooks, which called Require.
func noPayload(point string) {
	panic(fmt.Sprintf("hookkit: Fire of %s at %s: the payload is nil; pass a pointer to one", point, callsite.Of(4)))
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
	if now := s.snapshot.Load(); now != nil && !now.observed() {
		return now
	}
	return nil
}

// Resolve returns the snapshot that a fire runs: the given one, unless it is nil. If the point has observers or
// tracers, the snapshot is private to this fire, and [Snapshot.Recording] is true. At a point without a key it is nil.
func (s *State) Resolve(ctx context.Context, run hookkit.AnyRun, given *Snapshot, key any) *Snapshot {
	if given != nil {
		return given
	}
	now := s.latest().forKey(key)
	if now.observed() {
		now = now.record(ctx, run, key, nil)
	}
	return now
}

// latest returns the snapshot of the registrations. It makes the snapshot if something changed since the last one.
func (s *State) latest() *Snapshot {
	if now := s.snapshot.Load(); now != nil {
		return now
	}
	r := &s.registry
	registering.Lock()
	defer registering.Unlock()
	if r.inBind {
		panic("hookkit: Fire of " + r.point.Name + " on the Hooks that a Bind was given: they hold no other hook; " +
			"fire the program's own Hooks, and do not keep those of Bind")
	}
	if now := s.snapshot.Load(); now != nil { // another fire has made it meanwhile
		return now
	}
	now := r.take()
	now.fill()
	r.dependOn(now.layers)
	s.snapshot.Store(now)
	return now
}
