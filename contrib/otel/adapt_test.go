package otel_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

func TestAgentsOfOtherFrameworksHaveSameSpans(t *testing.T) {
	s := newSink(t)
	h := &adapt.Host{Hooks: new(agent.Hooks), Agent: "foreign"}
	h.Hooks.Use(s.hook())
	_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		_, err := h.Model(ctx, agent.LLMRequest{Model: "m"}, func(context.Context, agent.LLMRequest) (
			agent.LLMResponse, error,
		) {
			return agent.LLMResponse{}, nil
		})
		if err != nil {
			return "", err
		}
		_, err = h.Tool(ctx, agent.ToolCallRequest{Name: "work"}, func(ctx context.Context, _ agent.ToolCallRequest) (
			string, error,
		) {
			_, span := s.tracer().Start(ctx, "GET")
			span.End()
			return "", nil
		})
		return "", err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.tree(t); got != "invoke_agent foreign\n  chat m\n  execute_tool work\n    GET\n" {
		t.Error(got)
	}
}
