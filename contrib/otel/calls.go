package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A call is a model call or a tool call with its span.
type call struct {
	ctx    context.Context // with the span
	span   trace.Span
	start  time.Time
	labels attributes // of its metrics
}

// begin starts a call. If the SDK panics, the call has no span of its own.
func (t *Telemetry) begin(
	ctx context.Context, operation, name string, kind trace.SpanKind, attrs attributes,
) *call {
	c := &call{ctx: ctx, span: trace.SpanFromContext(context.Background()), start: time.Now()}
	guarded(func() {
		c.ctx, c.span = t.tracer.Start(ctx, titled(operation, name), trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	})
	return c
}

// shows reports whether the content of a call is recorded. Redacting it takes time, which a span that is not sampled
// does not need.
func (t *Telemetry) shows(c *call) bool { return t.Content && c.span.IsRecording() }

// end ends a call. class is the kind of its error, or "" without one.
func (t *Telemetry) end(c *call, operation, class, message string, attrs attributes) {
	if class != "" {
		attrs = append(attrs, attribute.String(errorType, class))
		c.labels = append(c.labels, attribute.String(errorType, class))
	}
	guarded(func() {
		defer c.span.End()
		c.span.SetAttributes(attrs...)
		if class != "" {
			c.span.SetStatus(codes.Error, legible(message, class))
		}
	})
	t.measure(c.ctx, operation, time.Since(c.start), c.labels)
}

// model records a call to the model.
func (b *binding) model(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (answer hookkit.Answer[agent.LLMResponse], err error) {
	open, mine := b.run(run)
	if !mine {
		return next.Call(ctx, req)
	}
	c := b.begin(open.within(ctx), chat, b.name(req.Model), trace.SpanKindClient, b.request(run, req))
	if b.shows(c) {
		shown := req.Messages[max(len(req.Messages)-shownCount, 0):]
		guarded(func() { c.span.SetAttributes(b.content(inputMessages, messages(shown))) })
	}
	returned := false
	defer func() {
		reply, class, message := answer.Value(), classOf(err), ""
		switch {
		case !returned:
			class, message = classPanic, "the call panicked or ended its goroutine"
		case err != nil:
			message = b.reason(textOf(err), req)
			b.failed(run, textOf(err), class)
		}
		if req.Model == "" && reply.Model != "" {
			guarded(func() { c.span.SetName(titled(chat, b.name(reply.Model))) })
		}
		c.labels = b.named(nil, requestModel, b.models.bounded(b.name(req.Model)),
			responseModel, b.models.bounded(b.name(reply.Model)))
		b.end(c, chat, class, message, b.reply(reply, b.shows(c)))
		b.count(c, "input", reply.Usage.Input)
		b.count(c, "output", reply.Usage.Output)
	}()
	answer, err = next.Call(c.ctx, req)
	returned = true
	return answer, err
}

// count records the tokens of a call to the model. Zero means that the model did not report them.
func (t *Telemetry) count(c *call, kind string, tokens int) {
	if tokens > 0 {
		guarded(func() {
			t.tokens.Record(c.ctx, int64(tokens),
				metric.WithAttributes(append(t.labels(chat, c.labels), attribute.String(tokenType, kind))...))
		})
	}
}

// tool records an attempt at a tool call.
func (b *binding) tool(
	ctx context.Context, run *agent.Run, req agent.ToolCallRequest, next agent.AroundToolNext,
) (answer hookkit.Answer[agent.ToolCallResult], err error) {
	open, mine := b.run(run)
	if !mine {
		return next.Call(ctx, req)
	}
	attrs := append(b.called(b.spanned(executeTool, run), req), attribute.String(toolType, "function"))
	attrs = attrs.number(step, req.Step)
	c := b.begin(open.within(ctx), executeTool, b.name(req.Name), trace.SpanKindInternal, attrs)
	if b.shows(c) {
		args := string(b.Redact.CutJSON(req.Args, contentChars))
		guarded(func() { c.span.SetAttributes(attribute.String(toolArguments, args)) })
	}
	returned := false
	defer func() {
		result, class, message := answer.Value(), classOf(err), ""
		switch {
		case !returned:
			class, message = classPanic, "the call panicked or ended its goroutine"
		case err != nil:
			message = b.reason(textOf(err), req, result.Output)
			b.failed(run, textOf(err), class)
		case result.Err != "":
			class, message = known(result.Kind), b.reason(result.Err, req, result.Output)
			b.failed(run, result.Err, class)
		}
		c.labels = attributes{attribute.String(toolName, b.listed(run, req.Name))}
		var attrs attributes
		if b.shows(c) && result.Output != "" {
			attrs = append(attrs, attribute.String(toolResult, cut(&b.Redact, result.Output, contentChars)))
		}
		b.end(c, executeTool, class, message, attrs)
	}()
	answer, err = next.Call(c.ctx, req)
	returned = true
	return answer, err
}

// listed returns the name of a tool of the run for a metric.
func (t *Telemetry) listed(run *agent.Run, name string) string {
	if run == nil || run.Env == nil || run.Env.Tools == nil {
		return other
	}
	if _, ok := run.Env.Tools.Lookup(name); !ok {
		return other
	}
	return t.tools.bounded(t.name(name))
}
