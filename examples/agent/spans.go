package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
)

// printSpans records the run with OpenTelemetry. The function that it returns prints the spans as a tree.
func printSpans(hooks *agent.Hooks, model string, out io.Writer) func() {
	spans := new(spanTree)
	provider := sdk.NewTracerProvider(sdk.WithSyncer(spans))
	name, _, _ := strings.Cut(model, ":")
	hooks.Use(&otel.Telemetry{Traces: provider, Provider: name})
	return func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			fmt.Fprintln(out, "otel:", err)
		}
		if len(spans.spans) > 0 {
			fmt.Fprintln(out, "\nspans")
		}
		spans.print(out, trace.SpanID{}, "  ")
	}
}

// A spanTree is an exporter that keeps the spans. A real program takes one of OpenTelemetry, for example otlptracehttp.
type spanTree struct {
	mu    sync.Mutex
	spans []sdk.ReadOnlySpan
}

// ExportSpans keeps the spans.
func (t *spanTree) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = append(t.spans, spans...)
	return nil
}

// Shutdown does nothing.
func (*spanTree) Shutdown(context.Context) error { return nil }

// print prints the children of a span in the order in which they began, with the decisions of hooks.
func (t *spanTree) print(out io.Writer, parent trace.SpanID, indent string) {
	t.mu.Lock()
	spans := slices.Clone(t.spans)
	t.mu.Unlock()
	slices.SortStableFunc(spans, func(a, b sdk.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	for _, s := range spans {
		if s.Parent().SpanID() != parent {
			continue
		}
		fmt.Fprintf(out, "%s%s %s\n", indent, s.Name(), s.Status().Code)
		for _, e := range s.Events() {
			fmt.Fprintf(out, "%s  event %s%s\n", indent, e.Name, attributes(e.Attributes))
		}
		t.print(out, s.SpanContext().SpanID(), indent+"  ")
	}
}

// shown are the attributes of an event that say who decided what, and how they are printed.
var shown = map[attribute.Key]string{
	"hookgen.point": "point", "hookgen.hook.name": "hook", "hookgen.decision.name": "decision", "gen_ai.tool.name": "name",
}

func attributes(all []attribute.KeyValue) string {
	var b strings.Builder
	for _, a := range all {
		if name, ok := shown[a.Key]; ok {
			fmt.Fprintf(&b, " %s=%s", name, clean(a.Value.String()))
		}
	}
	return b.String()
}
