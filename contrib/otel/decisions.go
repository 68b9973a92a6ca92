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
		attrs := b.fired(f, failed.Hook, failed.Site)
		class, text := failure(failed.Cause), textOf(failed.Cause)
		attrs = append(attrs, attribute.String(errorType, class))
		attrs = b.because(attrs, text, f)
		b.failed(run, text, class)
		open.event(ctx, eventFailure, attrs...)
	}
	if f.Decision == "" || f.Decision == "Error" && len(f.Failures) > 0 {
		return
	}
	attrs := append(b.fired(f, f.Hook, f.Site), attribute.String(decision, b.name(f.Decision)))
	open.event(ctx, eventDecision, b.because(attrs, f.Reason, f)...)
}

// because appends the reason of a hook.
func (t *Telemetry) because(attrs attributes, text string, f hookkit.AnyFired) attributes {
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
	attrs := b.named(b.called(attributes{attribute.String(denial, b.name(string(d.Kind)))}, d.Call), hook, d.By)
	open.event(ctx, eventDenial, b.because(attrs, d.Reason, hookkit.AnyFired{Payload: d.Call})...)
}
