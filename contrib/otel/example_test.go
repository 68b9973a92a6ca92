package otel_test

import (
	"context"
	"fmt"
	"log"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hookgen/hookgen/contrib/otel"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// printer is an exporter that prints spans. A real program takes one of OpenTelemetry, for example otlptracehttp.
type printer struct{}

func (printer) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		fmt.Println(s.Name(), s.Status().Code)
		for _, e := range s.Events() {
			fmt.Println(" ", e.Name, e.Attributes[0].Value.AsString(), e.Attributes[len(e.Attributes)-1].Value.AsString())
		}
	}
	return nil
}

func (printer) Shutdown(context.Context) error { return nil }

// readOnly denies every tool that does not declare that it changes nothing.
type readOnly struct{}

func (readOnly) Bind(h *agent.Hooks) { h.OnPermission.Add(readOnly{}) }

func (readOnly) OnPermission(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	if tool, _ := run.Env.Tools.Lookup(call.Name); !tool.ReadOnly {
		return agent.Deny{Reason: "it changes something"}, nil
	}
	return nil, nil
}

func Example() {
	provider := sdk.NewTracerProvider(sdk.WithBatcher(printer{}))
	a := &loop.Agent{
		Name:  "assistant",
		Hooks: loop.Hooks(&otel.Telemetry{Traces: provider, Provider: "openai"}, readOnly{}),
		Tools: []agent.Tool{
			loop.ReadOnly(loop.Tool("list", "lists files", func(context.Context, struct{}) (string, error) {
				return "a.txt", nil
			})),
			loop.Tool("delete", "deletes all files", func(context.Context, struct{}) (string, error) {
				return "deleted", nil
			}),
		},
		Request: agent.LLMRequest{Model: "gpt-5"},
		Model: looptest.NewScript( // a real program has a model here
			looptest.Call("list", "{}"),
			looptest.Call("delete", "{}"),
			looptest.Reply("I may not delete files."),
		),
	}
	ctx, span := provider.Tracer("program").Start(context.Background(), "POST /tasks")
	if _, err := a.Run(ctx, "Delete all files."); err != nil {
		log.Println(err)
	}
	span.End()
	if err := provider.Shutdown(context.Background()); err != nil { // exports the last spans
		log.Println(err)
	}
	// Output:
	// chat gpt-5 Unset
	// execute_tool list Unset
	// chat gpt-5 Unset
	// chat gpt-5 Unset
	// invoke_agent assistant Unset
	//   hookgen.decision OnPermission it changes something
	// POST /tasks Unset
}
