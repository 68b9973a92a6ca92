package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Observe records the decision and the failures of a fire as events of the run.
func (b *binding) Observe(ctx context.Context, run *agent.Run, f hookkit.AnyFired) {
	if f.Decision == "" && len(f.Failures) == 0 {
		return
	}
	open, mine := b.run(run)
	if !mine {
		return
	}
	for _, failed := range f.Failures {
		attrs := b.event(f, failed.Hook, failed.Site)
		class, text := failure(failed.Cause), textOf(failed.Cause)
		attrs = append(attrs, attribute.String(errorType, class))
		attrs = b.because(attrs, text, f)
		b.failed(run, text, class)
		open.event(ctx, eventFailure, attrs...)
	}
	if f.Decision == "" || f.Decision == "Error" && len(f.Failures) > 0 {
		return
	}
	attrs := append(b.event(f, f.Hook, f.Site), attribute.String(decision, b.name(f.Decision)))
	open.event(ctx, eventDecision, b.because(attrs, f.Reason, f)...)
}

// event returns the attributes that all events have.
func (t *Telemetry) event(f hookkit.AnyFired, by, at string) []attribute.KeyValue {
	attrs := t.named([]attribute.KeyValue{attribute.String(point, f.Point)}, hook, by)
	attrs = t.named(attrs, site, at)
	switch p := f.Payload.(type) {
	case agent.ToolCallRequest:
		attrs = t.called(attrs, p)
	case agent.ToolCallResult:
		attrs = t.called(attrs, p.Call)
	case agent.Question:
		attrs = t.called(attrs, p.Call)
	case agent.Handoff:
		attrs = t.called(attrs, p.Call)
	}
	return attrs
}

func (t *Telemetry) called(attrs []attribute.KeyValue, call agent.ToolCallRequest) []attribute.KeyValue {
	return t.named(t.named(attrs, toolName, call.Name), toolCallID, call.ID)
}

// because appends the reason of a hook.
func (t *Telemetry) because(attrs []attribute.KeyValue, text string, f hookkit.AnyFired) []attribute.KeyValue {
	if text = t.reason(text, f.Payload, f.Final, f.Result); text != "" {
		attrs = append(attrs, attribute.String(reason, text))
	}
	return attrs
}

// failure returns the value of error.type for the cause of a failed hook.
func failure(cause error) string {
	if _, ok := cause.(*hookkit.PanicError); ok { //nolint:errorlint // hookkit does not wrap it
		return classPanic
	}
	return classOf(cause)
}

// denied records a denial that no hook decided, for example that of a person.
func (b *binding) denied(ctx context.Context, run *agent.Run, f agent.OnPermissionDeniedFired[agent.Denial]) {
	d := f.Payload
	switch d.Kind {
	case agent.DeniedByVote, agent.DeniedByHook, agent.DeniedByAnswer:
		return // Observe has recorded the decision
	}
	open, mine := b.run(run)
	if !mine {
		return
	}
	attrs := b.called([]attribute.KeyValue{attribute.String(denial, b.name(string(d.Kind)))}, d.Call)
	attrs = b.named(attrs, hook, d.By)
	if text := b.reason(d.Reason, d.Call); text != "" {
		attrs = append(attrs, attribute.String(reason, text))
	}
	open.event(ctx, eventDenial, attrs...)
}
