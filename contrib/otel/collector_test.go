package otel_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	global "go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A collector is the other side of an exporter.
type collector func(ctx context.Context) error

func (c collector) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error { return c(ctx) }
func (c collector) Shutdown(context.Context) error                                   { return nil }

// The collector dies or hangs. The run neither fails nor waits, and the provider ends.
func TestDeadCollectorDoesNotHoldTheRun(t *testing.T) {
	for name, other := range map[string]collector{
		"refuses": func(context.Context) error { return errors.New("connection refused") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			own := global.GetErrorHandler()
			t.Cleanup(func() { global.SetErrorHandler(own) })
			global.SetErrorHandler(global.ErrorHandlerFunc(func(error) {}))
			synctest.Test(t, func(t *testing.T) {
				traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(other,
					sdktrace.WithMaxExportBatchSize(1), sdktrace.WithMaxQueueSize(2)))
				hook := &otel.Telemetry{Traces: traces, Meters: newSink(t).meters}
				begun := time.Now()
				for range 10 { // more spans than the queue holds
					h := looptest.Harness{
						Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{hook},
						Agent: &loop.Agent{Name: "planner"},
					}
					ran := h.Do(t, t.Context(), loop.Request{Task: "go"})
					if ran.Failed != nil || time.Since(begun) != 0 {
						t.Fatalf("the run ended after %v with %v", time.Since(begun), ran.Failed)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_ = traces.Shutdown(ctx) // its error is that of the collector
				if took := time.Since(begun); took > 5*time.Minute {
					t.Errorf("the provider ended after %v", took)
				}
			})
		})
	}
}
