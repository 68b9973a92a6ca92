// Command tracing exports a trace of a run with OpenTelemetry.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	exporter, err := stdouttrace.New()
	if err != nil {
		log.Fatal(err)
	}
	ctx, traces := context.Background(), trace.NewTracerProvider(trace.WithBatcher(exporter))
	a := &loop.Agent{
		Model: &openai.Model{Name: "gpt-5-mini"},
		Hooks: loop.Hooks(&otel.Telemetry{Traces: traces, Provider: "openai"}),
	}
	result, err := a.Run(ctx, "Tell a joke.")
	if err := errors.Join(err, traces.Shutdown(ctx)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
