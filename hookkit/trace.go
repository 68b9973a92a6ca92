package hookkit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// A Tracer receives an event for each hook that ran and one for each fire. Attach it with the generated method Trace.
// The tracer is called during the fire, by as many goroutines as there are fires, so it must be safe for concurrent use
// and should be quick. A panic of a tracer is reported to the failure handler and does not affect the fire.
type Tracer interface {
	Trace(ctx context.Context, e Event)
}

// A BeginTracer is a [Tracer] that is also notified before each hook is called. For example, a hook hangs: no event of
// [Tracer] says so before the hook has returned, and with a BeginTracer the last event of the run names it.
//
//	func (t progress) TraceBegin(_ context.Context, e hookkit.Event) { t.now.Store(e.Point + " " + e.Hook) }
//
// The event has the kind [EventBegin], and neither a duration nor a decision. A panic of TraceBegin is reported like
// one of Trace, and the hook runs. A program without tracers pays nothing for it. [SlogTracer] returns a BeginTracer.
type BeginTracer interface {
	Tracer
	TraceBegin(ctx context.Context, e Event)
}

// An EventKind distinguishes the events of a [Tracer].
type EventKind int

// The kinds of events.
const (
	EventHook     EventKind = iota + 1 // one hook was called and returned, failed or timed out
	EventFire                          // one fire was decided; it follows the events of its hooks
	EventObserver                      // an observer failed
	EventBegin                         // one hook is about to be called; only a [BeginTracer] receives it
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case EventHook:
		return "hook"
	case EventFire:
		return "fire"
	case EventObserver:
		return "observer failed"
	case EventBegin:
		return "hook begins"
	}
	return fmt.Sprintf("EventKind(%d)", int(k))
}

// An Event describes one hook or one fire to a [Tracer]. It shares no memory with the payload.
type Event struct {
	Kind     EventKind
	Run      string // the run's ID
	Point    string
	Hook     string // of a fire: the hook that decided, "" if all continued
	Site     string // the hook's registration, file:line
	Layer    int    // of the hook; 0 for a fire
	Priority int    // of the hook; 0 for a fire
	Start    time.Time
	Duration time.Duration
	Decision string // as in By
	Reason   string
	Failure  error // nil, a *Failure, or at an around point any error; of a fire the last failure
}

// SlogTracer returns a tracer that logs every event: failures at level Error, decisions at level Info, the rest and the
// begin of each hook at level Debug. A nil logger means slog.Default at the time of the event.
func SlogTracer(l *slog.Logger) BeginTracer { return slogTracer{l} }

type slogTracer struct{ log *slog.Logger }

func (t slogTracer) TraceBegin(ctx context.Context, e Event) { t.Trace(ctx, e) }

func (t slogTracer) Trace(ctx context.Context, e Event) {
	l := t.log
	if l == nil {
		l = slog.Default()
	}
	level := slog.LevelDebug
	switch {
	case e.Failure != nil:
		level = slog.LevelError
	case e.Decision != "":
		level = slog.LevelInfo
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.String("run", e.Run), slog.String("point", e.Point)}
	if e.Kind != EventBegin {
		attrs = append(attrs, slog.Duration("duration", e.Duration))
	}
	if e.Hook != "" {
		attrs = append(attrs, slog.String("hook", e.Hook), slog.String("site", e.Site))
	}
	if e.Kind == EventHook || e.Kind == EventBegin {
		attrs = append(attrs, slog.Int("layer", e.Layer), slog.Int("priority", e.Priority))
	}
	if e.Decision != "" {
		attrs = append(attrs, slog.String("decision", e.Decision), slog.String("reason", e.Reason))
	}
	if e.Failure != nil {
		attrs = append(attrs, slog.Any("failure", e.Failure))
	}
	l.LogAttrs(ctx, level, e.Kind.String(), attrs...)
}

// A TraceRecorder is a tracer that keeps every event, for tests. The zero value is ready to use. It is safe for
// concurrent use.
type TraceRecorder struct {
	mu     sync.Mutex
	events []Event
}

// Trace keeps the event.
func (r *TraceRecorder) Trace(_ context.Context, e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns a copy of the events so far, in order.
func (r *TraceRecorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Reset discards the events.
func (r *TraceRecorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}
