package hookkit

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// A Tracer gets an event for each hook that ran and one for each fire. Trace is called during the fire, from
// as many goroutines as there are fires; it must be safe for that and should be quick. A tracer that panics
// is logged and does not harm the fire.
type Tracer interface {
	Trace(ctx context.Context, e Event)
}

// An EventKind says what an Event is about.
type EventKind int

// The kinds of events.
const (
	HookRan        EventKind = iota + 1 // one hook was called and returned, failed or timed out
	Fired                               // one fire was decided; it comes after those of its hooks
	ObserverFailed                      // an observer failed; nobody else is told
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case HookRan:
		return "hook"
	case Fired:
		return "fire"
	case ObserverFailed:
		return "observer failed"
	}
	return fmt.Sprintf("EventKind(%d)", int(k))
}

// An Event is what a Tracer gets. It shares nothing with the payload.
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
	Decision string // as in Verdict; contributions of a hook that only collects are "Collect"
	Reason   string
	Failure  error // a *Failure, nil if nothing failed; of a fire: the last one; at an around point: any error
}

func (f *Firing) trace(ctx context.Context, e Event) {
	for _, t := range f.tracers {
		func() {
			defer func() {
				if r := recover(); r != nil {
					slog.ErrorContext(ctx, "hookkit: a tracer panicked", "point", e.Point, "tracer", fmt.Sprintf("%T", t), "panic", r)
				}
			}()
			t.Trace(ctx, e)
		}()
	}
}

// SlogTracer returns a tracer that logs every event: failures as errors, decisions as infos, the rest as debug.
// A nil logger is slog.Default at the time of the event.
func SlogTracer(l *slog.Logger) Tracer { return slogTracer{l} }

type slogTracer struct{ log *slog.Logger }

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
	attrs := []slog.Attr{slog.String("run", e.Run), slog.String("point", e.Point), slog.Duration("duration", e.Duration)}
	if e.Hook != "" {
		attrs = append(attrs, slog.String("hook", e.Hook), slog.String("site", e.Site))
	}
	if e.Kind == HookRan {
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

// A Recorder is a tracer that keeps every event, for tests. The zero value is ready to use.
type Recorder struct {
	mu     sync.Mutex
	events []Event
}

// Trace keeps the event.
func (r *Recorder) Trace(_ context.Context, e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns a copy of the events so far, in order.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Reset forgets the events.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}
