package wireimpl

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A Recorder is the observer that a generated function Record returns; R is a pointer to the generated Run.
type Recorder[R hookkit.AnyRun] struct {
	capture func(context.Context, hookkit.AnyRun, hookkit.AnyFired) func()
}

// NewRecorder returns an observer that writes one event to s for each fire of a wire point.
func NewRecorder[R hookkit.AnyRun](spec Spec, s hooklog.Sink) Recorder[R] {
	return Recorder[R]{hooklog.Capture(s, spec.Path, spec.Points...)}
}

// Observe writes the event for a fire.
func (r Recorder[R]) Observe(ctx context.Context, run R, fired hookkit.AnyFired) {
	if write := r.capture(ctx, run, fired); write != nil {
		write()
	}
}

// SlowHooks returns the limit after which hookimpl gives the time of a hook to the event.
func (r Recorder[R]) SlowHooks() time.Duration { return hooklog.SlowAfter }

// Capture encodes the event for a fire and returns the function that writes it. With [hookkit.Async], hookimpl calls it
// in the fire, and the function in the background: the program may change the payload after the fire.
func (r Recorder[R]) Capture(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) func() {
	return r.capture(ctx, run, fired)
}
