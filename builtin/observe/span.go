package observe

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Span is something that took time in a run: the run, a step, a call to the model, the dispatch of a call. What
// only the end knows is zero at the start.
type Span struct {
	Service      string    `json:"service.name"`
	Kind         SpanKind  `json:"kind"`
	Name         string    `json:"name"`                     // invoke_agent, chat or execute_tool and whose, or "step 3"
	TraceID      string    `json:"trace_id"`                 // 32 hexadecimal digits
	SpanID       string    `json:"span_id"`                  // 16
	ParentSpanID string    `json:"parent_span_id,omitempty"` // 16; "" at the root of the trace
	Run          string    `json:"run"`
	Agent        string    `json:"agent"`
	Step         int       `json:"step,omitempty"`
	Tool         string    `json:"tool,omitempty"`
	CallID       string    `json:"call_id,omitempty"`
	Model        string    `json:"model,omitempty"` // as it was asked for, at the end the one that replied
	Start        time.Time `json:"start"`

	Duration     time.Duration `json:"duration_ns,omitempty"`
	Status       string        `json:"status,omitempty"` // ok or error
	HasError     bool          `json:"has_error"`
	Err          string        `json:"err,omitempty"`
	ReplyLen     int           `json:"reply_len,omitempty"` // characters of the run's or the model's reply, or of the output
	FinishReason string        `json:"finish_reason,omitempty"`
	Usage        agent.Usage   `json:"usage"`
	StopReason   string        `json:"stop_reason,omitempty"` // of a run
	HandedOffTo  string        `json:"handed_off_to,omitempty"`
}

// A SpanKind says what a span is about.
type SpanKind string

// The kinds of span.
const (
	SpanRun   SpanKind = "run"
	SpanStep  SpanKind = "step"
	SpanModel SpanKind = "model" // one call to a model; a retry is another one
	SpanTool  SpanKind = "tool"  // one attempt at a call
)

// A SpanExporter gets each span twice: when it begins and when it ends. It is called from one goroutine.
type SpanExporter interface {
	StartSpan(s Span)
	EndSpan(s Span)
}

// SlogSpans returns an exporter that logs the end of each span: at level debug, and at level warn if it has an error.
// A nil logger is slog.Default at that time.
func SlogSpans(l *slog.Logger) SpanExporter { return slogSpans{l} }

type slogSpans struct{ log *slog.Logger }

func (slogSpans) StartSpan(Span) {}

func (e slogSpans) EndSpan(s Span) {
	l, level := e.log, slog.LevelDebug
	if l == nil {
		l = slog.Default()
	}
	if s.HasError {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("trace_id", s.TraceID), slog.String("span_id", s.SpanID), slog.String("run", s.Run), slog.String("agent", s.Agent),
		slog.Int("step", s.Step), slog.Duration("duration", s.Duration), slog.String("status", s.Status),
	}
	if s.ParentSpanID != "" {
		attrs = append(attrs, slog.String("parent_span_id", s.ParentSpanID))
	}
	if s.HasError {
		attrs = append(attrs, slog.String("error", s.Err))
	}
	l.LogAttrs(context.Background(), level, s.Name, attrs...)
}

// A SpanRecorder is an exporter that keeps everything, for tests. The zero value is ready to use.
type SpanRecorder struct {
	mu             sync.Mutex
	started, ended []Span
}

// StartSpan keeps the span.
func (r *SpanRecorder) StartSpan(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, s)
}

// EndSpan keeps the span.
func (r *SpanRecorder) EndSpan(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, s)
}

// Started returns the spans in the order in which they began.
func (r *SpanRecorder) Started() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.started)
}

// Ended returns the spans in the order in which they ended.
func (r *SpanRecorder) Ended() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ended)
}

// A spanRef is where a context stands in a trace.
type spanRef struct {
	trace, span string
	by          *Tracing // nil for what came from outside
	run         string
	kind        SpanKind
}

type spanKey struct{}

// WithTraceParent returns a context in which runs belong to a trace that was begun elsewhere, under one of its spans.
// Identities that are not 32 and 16 hexadecimal digits, or all zero, are ignored.
func WithTraceParent(ctx context.Context, traceID, spanID string) context.Context {
	if !isHexID(traceID, 32) || !isHexID(spanID, 16) {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, spanRef{trace: traceID, span: spanID})
}

// TraceParent returns the trace and the span that a context stands in, for a tool that passes them on; "" for none.
func TraceParent(ctx context.Context) (traceID, spanID string) {
	ref, _ := ctx.Value(spanKey{}).(spanRef)
	return ref.trace, ref.span
}

func isHexID(id string, n int) bool {
	return len(id) == n && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

func newTraceID() string { return fmt.Sprintf("%016x%016x", rand.Uint64()|1, rand.Uint64()) }

func newSpanID() string { return fmt.Sprintf("%016x", rand.Uint64()|1) }
