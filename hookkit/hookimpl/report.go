package hookimpl

import (
	"context"
	"log/slog"

	"github.com/hookgen/hookgen/hookkit"
)

// failedBy returns the By of a fire that the failure ended.
func failedBy(f *hookkit.Failure) hookkit.By {
	return hookkit.By{Hook: f.Hook, Site: f.Site, Decision: hookkit.DecisionError, Reason: textOf(f.Cause)}
}

// failed records a failure, and returns it and whether it ends the fire. gone means that the goroutine of the fire is
// ending, so that no caller receives an error.
func (s *Snapshot) failed(
	ctx context.Context, e *entry, err error, gone bool, by *hookkit.By,
) (f *hookkit.Failure, ends bool) {
	f = e.failure(s.point.Name, err)
	ends = gone || s.point.stops(e)
	if ends && by != nil {
		*by = failedBy(f)
	}
	if s.recording != nil {
		s.recording.failed(f, ends || s.point.All && s.recording.verdict.Failures == nil, gone)
	}
	if gone || !ends && !s.point.All {
		s.report(ctx, f)
	}
	return f, ends
}

// report passes a failure to the failure handler, because the caller of Fire does not receive it.
func (s *Snapshot) report(ctx context.Context, f *hookkit.Failure) {
	ctx = Background(ctx)
	if s.onFailure == nil {
		logFailure(ctx, f)
		return
	}
	shield(func() { s.onFailure(ctx, f) }, func(err error) {
		c := err.(*crash)
		slog.ErrorContext(ctx, "hookkit: the failure handler failed", "error", c.cause, "place", c.place)
		logFailure(ctx, f)
	})
}

// logFailure is the failure handler of Hooks without another.
func logFailure(ctx context.Context, f *hookkit.Failure) {
	attrs := []any{"point", f.Point, "hook", f.Hook, "site", f.Site, "error", f.Cause}
	if f.Place != "" {
		attrs = append(attrs, "place", f.Place)
	}
	slog.ErrorContext(ctx, "hookkit: a hook failed", attrs...)
}
