package hookimpl

import (
	"context"
	"log/slog"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
)

// A Snapshot is the registrations of one moment, as one fire runs them. Registering and removing hooks does not change
// it. Most of its methods are those of Dispatch, because a method of a generic type is compiled again for each point.
type Snapshot[H any] struct {
	Hooks []H // in firing order
	Dispatch
}

// A Dispatch is the part of a Snapshot that does not depend on the type of the hooks.
type Dispatch struct {
	point     *Point
	entries   []*entry // parallel to Snapshot.Hooks
	observers []*entry
	tracers   []*entry
	onFailure func(context.Context, *hookkit.Failure)
	tree      *tree
	version   uint64     // of the tree
	observed  bool       // there are observers or tracers
	single    bool       // the snapshot is one of Rest
	rank      int        // of single: of the exit that leads a vote
	recording *recording // of one fire; nil where fires share the snapshot
}

// Current returns the snapshot that a fire runs, or nil if it has to ask Resolve: something changed since the last
// fire, or the point has observers or tracers.
func (r *Registry[H]) Current() *Snapshot[H] {
	if s := r.snapshot.Load(); s != nil && !s.observed && s.version == s.tree.version.Load() {
		return s
	}
	return nil
}

// Resolve returns the snapshot that a fire runs. If the point has observers or tracers, the snapshot is private to this
// fire, and [Dispatch.Recording] is true.
func (r *Registry[H]) Resolve(ctx context.Context, run hookkit.AnyRun) *Snapshot[H] {
	s := r.resolved()
	if !s.observed {
		return s
	}
	return s.record(ctx, run, nil)
}

// Record is Resolve for a fire that stores what its observers would receive in fired.
func (r *Registry[H]) Record(ctx context.Context, run hookkit.AnyRun, fired *hookkit.AnyFired) *Snapshot[H] {
	return r.resolved().record(ctx, run, fired)
}

func (s *Snapshot[H]) record(ctx context.Context, run hookkit.AnyRun, fired *hookkit.AnyFired) *Snapshot[H] {
	own := &struct { // in one allocation
		snapshot  Snapshot[H]
		recording recording
	}{*s, recording{ctx: Background(ctx), run: run, fired: fired}}
	own.snapshot.recording = &own.recording
	return &own.snapshot
}

// Background returns ctx, or the background context for a nil one.
func Background(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// resolved returns the current snapshot, which it makes if something changed since it was made.
func (r *Registry[H]) resolved() *Snapshot[H] {
	if s := r.snapshot.Load(); s != nil && s.version == s.tree.version.Load() {
		return s
	}
	core := r.core.Load()
	core.refuseFire()
	core.tree.mu.Lock()
	defer core.tree.mu.Unlock()
	s := &Snapshot[H]{Dispatch: core.dispatch()}
	s.Hooks = make([]H, len(s.entries))
	for i, e := range s.entries {
		s.Hooks[i] = s.callable(e).(H)
	}
	r.snapshot.Store(s)
	return s
}

// dispatch gathers the registrations of the registry and of the layers around it. The caller holds the lock.
func (r *registry) dispatch() Dispatch {
	d := Dispatch{point: r.point, tree: r.tree, version: r.tree.version.Load()}
	for _, layer := range r.layers() {
		d.entries = append(d.entries, layer.hooks.inOrder()...)
		d.observers = append(d.observers, layer.observers.inOrder()...)
		d.tracers = append(d.tracers, layer.tracers...)
		if layer.onFailure != nil {
			d.onFailure = layer.onFailure
		}
	}
	if r.point.Law.has(Reversed) {
		slices.Reverse(d.entries)
	}
	d.observed = len(d.observers)+len(d.tracers) > 0
	return d
}

// layers returns the registries of the point in all layers around r and r itself, the outermost first.
func (r *registry) layers() []*registry {
	var all []*registry
	for at := r; at != nil; at = at.outer {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// callable returns the hook of the entry, inside a supervisedHook if there is more to do than calling it.
func (s *Snapshot[H]) callable(e *entry) any {
	if len(s.tracers) == 0 && e.timeout == 0 && e.spent == nil {
		return e.hook
	}
	supervised := &supervisedHook{dispatch: s.Dispatch, entry: e}
	return s.point.Hook(s.point.Name, supervised.call)
}

// Recording reports whether the fire has observers or tracers to notify when it ends. The snapshots of Rest are parts
// of a fire.
func (d *Dispatch) Recording() bool { return d.recording != nil && !d.single }

// unreported passes a failure that the caller of Fire does not receive to the failure handler.
func (d *Dispatch) unreported(ctx context.Context, f *hookkit.Failure) {
	ctx = Background(ctx)
	if d.onFailure == nil {
		logFailure(ctx, f)
		return
	}
	returned := false
	defer func() {
		if !returned {
			slog.ErrorContext(ctx, "hookkit: the failure handler failed", "panic", recover())
			logFailure(ctx, f)
		}
	}()
	d.onFailure(ctx, f)
	returned = true
}

// logFailure is the failure handler of Hooks without another.
func logFailure(ctx context.Context, f *hookkit.Failure) {
	slog.ErrorContext(ctx, "hookkit: a hook failed", "point", f.Point, "hook", f.Hook, "site", f.Site, "error", f.Cause)
}
