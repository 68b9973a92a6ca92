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

// A Span is a timed part of a run: the run itself, a step, a model call, or a tool call. When it starts, the fields
// that are only known at the end are zero.
type Span struct {
	Service      string   `json:"service.name"`
	Kind         SpanKind `json:"kind"`
	Name         string   `json:"name"`                     // for example "execute_tool search" or "step 3"
	TraceID      string   `json:"trace_id"`                 // 32 hexadecimal digits
	SpanID       string   `json:"span_id"`                  // 16 hexadecimal digits
	ParentSpanID string   `json:"parent_span_id,omitempty"` // 16 hexadecimal digits; "" for the root of the trace
	Run          string   `json:"run"`
	agent.Identity
	Agent  string    `json:"agent"`
	Step   int       `json:"step,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	CallID string    `json:"call_id,omitempty"`
	Model  string    `json:"model,omitempty"` // the requested model; at the end, the model that replied
	Start  time.Time `json:"start"`

	Duration     time.Duration `json:"duration_ns,omitempty"`
	Status       string        `json:"status,omitempty"` // ok or error
	HasError     bool          `json:"has_error"`
	Err          string        `json:"err,omitempty"`
	ReplyLen     int           `json:"reply_len,omitempty"` // characters of the reply or the tool's output
	FinishReason string        `json:"finish_reason,omitempty"`
	Usage        agent.Usage   `json:"usage"`
	StopReason   string        `json:"stop_reason,omitempty"` // only for a run
	HandedOffTo  string        `json:"handed_off_to,omitempty"`
}

// A SpanKind says which part of a run a span measures.
type SpanKind string

// The kinds of spans.
const (
	SpanRun   SpanKind = "run"
	SpanStep  SpanKind = "step"
	SpanModel SpanKind = "model" // one model call; a retry has its own span
	SpanTool  SpanKind = "tool"  // one attempt of a tool call
)

// A SpanExporter receives each span twice, when it starts and when it ends. The methods are called from one goroutine.
type SpanExporter interface {
	StartSpan(s Span)
	EndSpan(s Span)
}

// SlogSpans returns an exporter that logs the end of each span, at debug level, or at warn level if the span has an
// error. If l is nil, it uses slog.Default() at that time.
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
		slog.String("trace_id", s.TraceID), slog.String("span_id", s.SpanID), slog.String("run", s.Run),
		ownerAttr(s.Identity), slog.String("agent", s.Agent), slog.Int("step", s.Step), slog.Duration("duration", s.Duration),
		slog.String("status", s.Status),
	}
	if s.ParentSpanID != "" {
		attrs = append(attrs, slog.String("parent_span_id", s.ParentSpanID))
	}
	if s.HasError {
		attrs = append(attrs, slog.String("error", s.Err))
	}
	l.LogAttrs(context.Background(), level, s.Name, attrs...)
}

// A SpanRecorder is an exporter for tests that keeps all spans. The zero value is ready to use. It is safe for
// concurrent use.
type SpanRecorder struct {
	mu             sync.Mutex
	started, ended []Span
}

// StartSpan records the start of a span.
func (r *SpanRecorder) StartSpan(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, s)
}

// EndSpan records the end of a span.
func (r *SpanRecorder) EndSpan(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, s)
}

// Started returns the spans in the order in which they started.
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

// A spanRef is the position of a context in a trace.
type spanRef struct {
	trace, span string
	by          *Tracing // nil for a position set by WithTraceParent
	run         string
	kind        SpanKind
}

type spanKey struct{}

// WithTraceParent returns a context whose runs continue a trace that another process started. The run's span becomes a
// child of the given span. IDs that are not 32 and 16 lower-case hexadecimal digits, or only zeros, are ignored.
func WithTraceParent(ctx context.Context, traceID, spanID string) context.Context {
	if !isHexID(traceID, 32) || !isHexID(spanID, 16) {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, spanRef{trace: traceID, span: spanID})
}

// TraceParent returns the current trace and span, for example for a tool that calls another service. Both are ""
// outside a trace.
func TraceParent(ctx context.Context) (traceID, spanID string) {
	ref, _ := ctx.Value(spanKey{}).(spanRef)
	return ref.trace, ref.span
}

func isHexID(id string, n int) bool {
	return len(id) == n && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

func newTraceID() string { return fmt.Sprintf("%016x%016x", rand.Uint64()|1, rand.Uint64()) }

func newSpanID() string { return fmt.Sprintf("%016x", rand.Uint64()|1) }
