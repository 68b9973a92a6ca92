package otel

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookgen/hookgen/hookkit"
)

// Trace returns a tracer that records each fire as a span "fire POINT", for the hooks of any spec:
//
//	hooks.Trace(otel.Trace(nil))
//
// The span is a child of the span in the context of the fire. It has the run, the hook that decided and its decision.
// A failure is its status, with the value of error.type. A nil provider means the global one.
//
// A tracer receives no payload, so it cannot check that a reason or an error does not quote one. The spans therefore
// have neither. Log them with hookkit.SlogTracer if the log may contain them. A tracer receives a fire after its end.
// Requests that a hook sends are therefore not children of the span but of its parent.
func Trace(provider trace.TracerProvider) hookkit.Tracer {
	return fires{cmp.Or(provider, otel.GetTracerProvider()).Tracer(scope)}
}

type fires struct{ tracer trace.Tracer }

// Trace records a fire. The failure of an observer is an event of the current span.
func (f fires) Trace(ctx context.Context, e hookkit.Event) {
	attrs := attributes{}.texts(bare, point, e.Point, runID, e.Run, hook, e.Hook, site, e.Site, decision, e.Decision)
	if e.Failure != nil {
		attrs = attrs.texts(bare, errorType, failureOf(e.Failure))
	}
	switch e.Kind {
	case hookkit.EventObserver:
		guarded(func() { trace.SpanFromContext(ctx).AddEvent(eventFailure, trace.WithAttributes(attrs...)) })
	case hookkit.EventFire:
		guarded(func() {
			_, span := f.tracer.Start(ctx, "fire "+e.Point, trace.WithTimestamp(e.Start), trace.WithAttributes(attrs...))
			defer span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
			if e.Failure != nil {
				span.SetStatus(codes.Error, failureOf(e.Failure))
			}
		})
	}
}

// failureOf returns the value of error.type for the failure of an event.
func failureOf(err error) string {
	if f, ok := err.(*hookkit.Failure); ok { //nolint:errorlint // hookkit does not wrap it
		return failure(f.Cause)
	}
	return classOf(err)
}
