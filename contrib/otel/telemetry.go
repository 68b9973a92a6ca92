package otel

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// scope is the name of the instrumentation.
const scope = "github.com/hookgen/hookgen/contrib/otel"

// Telemetry is a hook that records runs as spans and metrics of OpenTelemetry, by its semantic conventions for
// generative AI. The zero value records to the global providers:
//
//	hooks.Use(&otel.Telemetry{Provider: "openai"})
//
// A run is a span "invoke_agent NAME", a child of the span in the context of the caller. Its children are a span "chat
// MODEL" for each call to the model and a span "execute_tool NAME" for each attempt at a tool call. Their contexts have
// the span, so an HTTP request that a model or a tool sends becomes a child. A run that a tool starts is a child of the
// span of the tool. A run that takes over by a handoff is a child of the run that handed over. A run that was suspended
// has one span until then, and another since it was resumed. Each has the tokens and model calls of its part, and the
// steps so far. If a request names no model, its span gets the name of the model in the reply. Every span ends, also
// after a panic, a cancellation or runtime.Goexit; the span of an abandoned tool ends when the run stops waiting.
//
// Each decision and each failure of a hook is an event of the span of the run, with the point, the hook and the
// reason. A refusal without a hook, for example by a person, is an event, too. The SDK keeps the last 128 events of a
// span unless it is configured otherwise.
//
// The metrics are gen_ai.client.operation.duration and gen_ai.client.token.usage, for each call to the model, and the
// duration of each run and each tool call. An attribute of a metric has at most 200 different values, and the tools
// have only names from the tools of the run. All others are counted as "_OTHER".
//
// Texts of the conversation are not recorded unless Content is set. Without it, a reason or an error loses each word
// that also occurs in the payload, so that a hook that quotes an argument does not reveal it. All texts are redacted
// and truncated. Names of users and tenants are recorded.
//
// Hooks cannot change the context of other hooks. The requests that a hook sends are therefore children of the span of
// the caller. Model calls of hooks, for example of a compactor, have no span; the span of the run has their tokens.
//
// Telemetry wraps AroundLLM and AroundTool and observes all points, at the priority Observability+10. A panic of the
// SDK is reported to its error handler and does not affect the run. Telemetry is safe for concurrent use. If it is
// bound twice, each span is still recorded once. Do not change the fields after the first Bind, and do not remove the
// hook while a run uses it, because the span of that run would not end.
type Telemetry struct {
	Traces   trace.TracerProvider // nil: the global provider
	Meters   metric.MeterProvider // nil: the global provider
	Provider string               // of the model, for example openai or anthropic; "": not recorded
	Content  bool                 // also record messages, arguments, results, and reasons as they are
	Redact   redact.Redactor

	once     sync.Once
	tracer   trace.Tracer
	duration metric.Float64Histogram
	tokens   metric.Int64Histogram

	models, agents, tools vocabulary

	runs hookkit.PerRun[openRun]

	parents sync.Map // spans of the parents of runs that are being started, by the ID of the run
}

// openRun is a run with its span.
type openRun struct {
	owner  *binding          // the Bind that records the run
	caller trace.SpanContext // of the context that the run was started with
	span   trace.Span        // nil before OnRunStart
	start  time.Time
	before agent.Counters // of the parts of the run before it was suspended
	last   failureNote    // of a call or a hook
}

// A binding is one Bind of a Telemetry. For example, an agent and its sub-agent have the same Telemetry in Use. Both
// bindings fire in a run of the sub-agent, but only the first of them records it.
type binding struct {
	*Telemetry
}

// Bind adds the hook to its points.
func (t *Telemetry) Bind(h *agent.Hooks) {
	t.once.Do(t.open)
	b := &binding{Telemetry: t}
	name, tier := hookkit.Named("otel.Telemetry"), hookkit.Priority(hookkit.Observability+10)
	h.OnRunStart.ObserveFunc(b.startRun, name, tier)
	h.OnSubagentStart.ObserveFunc(b.startSubagent, name, tier)
	h.OnSubagentStop.ObserveFunc(b.stopSubagent, name, tier)
	h.OnPermissionDenied.ObserveFunc(b.denied, name, tier)
	h.AroundLLM.AddFunc(b.model, name, tier)
	h.AroundTool.AddFunc(b.tool, name, tier)
	h.ObserveAny(b, name, tier)
	h.OnRunEnd.ObserveFunc(b.endRun, name, tier)
}

// open gets the tracer and the instruments. An SDK that refuses an instrument returns a no-op and reports the error.
func (t *Telemetry) open() {
	t.tracer = cmp.Or(t.Traces, otel.GetTracerProvider()).Tracer(scope)
	meter := cmp.Or(t.Meters, otel.GetMeterProvider()).Meter(scope)
	var err error
	t.duration, err = meter.Float64Histogram(operationDuration, metric.WithUnit("s"),
		metric.WithDescription("Duration of runs of agents, model calls and tool calls."),
		metric.WithExplicitBucketBoundaries(
			0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	handle(err)
	t.tokens, err = meter.Int64Histogram(tokenUsage, metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens of model calls."),
		metric.WithExplicitBucketBoundaries(
			1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	handle(err)
}

func handle(err error) {
	if err != nil {
		otel.Handle(fmt.Errorf("%s: %w", scope, err))
	}
}

// guarded calls f, which calls the SDK with its exporters and samplers. Their panics must not fail a run.
func guarded(f func()) {
	defer func() {
		if p := recover(); p != nil {
			handle(fmt.Errorf("panic: %v", p))
		}
	}()
	f()
}

// run returns the open run. It reports false if another binding records the run.
func (b *binding) run(run *agent.Run) (open openRun, mine bool) {
	if run == nil {
		return open, true
	}
	b.runs.Do(run, func(r *openRun) {
		if r.owner == nil {
			r.owner = b
		}
		open = *r
	})
	return open, open.owner == b
}

// within returns a context with the span of the run. It keeps a span that another hook or a tool has put into the
// context since the start of the run.
func (r openRun) within(ctx context.Context) context.Context {
	if r.span == nil || !trace.SpanContextFromContext(ctx).Equal(r.caller) {
		return ctx
	}
	return trace.ContextWithSpan(ctx, r.span)
}

// event adds an event to the span of the run, or to the current one if the host did not start the run.
func (r openRun) event(ctx context.Context, name string, attrs ...attribute.KeyValue) {
	span := r.span
	if span == nil {
		span = trace.SpanFromContext(ctx)
	}
	guarded(func() { span.AddEvent(name, trace.WithAttributes(attrs...)) })
}

func (b *binding) startRun(ctx context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
	open, mine := b.run(run)
	if !mine || open.span != nil || run == nil {
		return
	}
	open.caller, open.start = trace.SpanContextFromContext(ctx), f.Start
	if parent, ok := b.parents.Load(run.ID()); ok {
		ctx = trace.ContextWithSpan(ctx, parent.(trace.Span))
	}
	if f.Payload.Resumed != "" && run.Env != nil && run.Env.Counters != nil {
		open.before = run.Env.Counters() // the span of the process before has them
	}
	guarded(func() {
		attrs := append(b.spanned(invokeAgent, run), attribute.String(agentName, b.name(f.Payload.Agent)))
		_, open.span = b.tracer.Start(ctx, titled(invokeAgent, b.name(f.Payload.Agent)), trace.WithTimestamp(f.Start),
			trace.WithAttributes(attrs...))
	})
	b.runs.Do(run, func(r *openRun) { *r = open })
}

// startSubagent remembers the parent of the run that is about to start. Its context has the span of a tool, but after a
// handoff only that of the caller.
func (b *binding) startSubagent(
	ctx context.Context, run *agent.Run, f agent.OnSubagentStartFired[agent.Subagent],
) {
	if open, mine := b.run(run); mine {
		b.parents.Store(f.Payload.ID, trace.SpanFromContext(open.within(ctx)))
	}
}

func (b *binding) stopSubagent(_ context.Context, run *agent.Run, f agent.OnSubagentStopFired[agent.SubagentDone]) {
	if _, mine := b.run(run); mine {
		b.parents.Delete(f.Payload.ID)
	}
}

func (b *binding) endRun(ctx context.Context, run *agent.Run, f agent.OnRunEndFired[agent.AgentResult]) {
	open, mine := b.run(run)
	if !mine || open.span == nil {
		return
	}
	result := f.Payload
	attrs := b.ended(result, open.before)
	labels := attributes{attribute.String(agentName, b.agents.bounded(b.name(result.Agent)))}
	var class, message string
	if result.Err != "" {
		class = classOfRun(result, open.last)
		content := result
		content.Err, content.Stop, content.Signals, content.Warnings = "", agent.EndRun{}, nil, nil // they repeat the error
		content.Agent, content.HandedOffTo, content.EndedBy = "", "", ""                            // recorded names
		message = legible(b.reason(result.Err, content), class)
		attrs = append(attrs, attribute.String(errorType, class))
		labels = append(labels, attribute.String(errorType, class))
	}
	guarded(func() {
		defer open.span.End()
		open.span.SetAttributes(attrs...)
		if result.Err != "" {
			open.span.SetStatus(codes.Error, message)
		}
	})
	b.measure(trace.ContextWithSpan(ctx, open.span), invokeAgent, time.Since(open.start), labels)
}

// measure records the duration of an operation. The context has its span, so that the SDK can link an example of the
// trace to the metric.
func (t *Telemetry) measure(ctx context.Context, operation string, d time.Duration, labels attributes) {
	guarded(func() {
		t.duration.Record(ctx, d.Seconds(), metric.WithAttributes(t.labels(operation, labels)...))
	})
}

func titled(operation, name string) string {
	if name == "" {
		return operation
	}
	return operation + " " + name
}
