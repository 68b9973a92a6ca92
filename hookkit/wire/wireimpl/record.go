package wireimpl

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// A Recorder is the observer that a generated function Record returns; R is a pointer to the generated Run.
type Recorder[R hookkit.AnyRun] struct{ observe hookkit.AnyObserverFunc }

// NewRecorder returns an observer that writes one event to s for each fire of a wire point.
func NewRecorder[R hookkit.AnyRun](spec Spec, s hooklog.Sink) Recorder[R] {
	return Recorder[R]{hooklog.Observer(s, spec.Path, spec.Points...)}
}

// Observe writes the event for a fire.
func (r Recorder[R]) Observe(ctx context.Context, run R, fired hookkit.AnyFired) {
	r.observe(ctx, run, fired)
}
