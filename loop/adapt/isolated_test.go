package adapt_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/adapt"
)

func crashingModel(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic("model") }

func crashingTool(context.Context, agent.ToolCallRequest) (string, error) { panic(errTool) }

var errTool = errors.New("tool")

func TestPanicsHaveTheirStack(t *testing.T) {
	for name, c := range map[string]struct {
		bind func(*foreign)
		text string
		site string // the function that panicked
	}{
		"model": {func(f *foreign) { f.model = crashingModel }, "panic: model", "adapt_test.crashingModel"},
		"tool":  {func(f *foreign) { f.tool = crashingTool }, "panic: tool", "adapt_test.crashingTool"},
	} {
		t.Run(name, func(t *testing.T) {
			f := calling(new(agent.Hooks))
			c.bind(&f)
			result, _, err := f.run(t.Context(), adapt.Task{})
			var crash *adapt.PanicError
			if !errors.As(err, &crash) || !strings.Contains(string(crash.Stack), c.site) {
				t.Fatalf("%v without the stack of %s", err, c.site)
			}
			if !errors.As(err, new(*hookkit.PanicError)) || errors.Is(err, errTool) != (name == "tool") {
				t.Errorf("%v does not wrap its value", err)
			}
			if result.Err != c.text {
				t.Errorf("the result has the error %q", result.Err)
			}
		})
	}
}

func TestAPanickingAgentHasItsStack(t *testing.T) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	_, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		return crashingTool(ctx, agent.ToolCallRequest{})
	})
	var crash *adapt.PanicError
	if !errors.As(err, &crash) || !strings.Contains(string(crash.Stack), "adapt_test.crashingTool") {
		t.Errorf("%v", err)
	}
}
