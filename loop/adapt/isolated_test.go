package adapt_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// Each case cancels the run while the model or the tool ignores its context.
func TestDeafModelsAndToolsAreAbandoned(t *testing.T) {
	for name, bind := range map[string]func(*foreign, func()){
		"model": func(f *foreign, wait func()) {
			f.model = func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				wait()
				return agent.LLMResponse{Content: "late"}, nil
			}
		},
		"tool": func(f *foreign, wait func()) {
			f.tool = func(context.Context, agent.ToolCallRequest) (string, error) {
				wait()
				return "late", nil
			}
		},
	} {
		for _, c := range []struct {
			returns time.Duration // after the end of the context
			takes   time.Duration
		}{{time.Hour, time.Second}, {time.Millisecond, time.Millisecond}} {
			t.Run(name+" for "+c.returns.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					var begun time.Time
					f := calling(new(agent.Hooks))
					bind(&f, func() {
						begun = time.Now()
						cancel()
						time.Sleep(c.returns)
					})
					_, _, err := f.run(ctx, adapt.Task{})
					late := err != nil && strings.Contains(err.Error(), "no answer within 1s")
					if late != (c.returns > c.takes) || late && !errors.Is(err, context.Canceled) {
						t.Errorf("the run ended with %v", err)
					}
					if took := time.Since(begun); took != c.takes {
						t.Errorf("the run ended after %v, want %v", took, c.takes)
					}
					time.Sleep(c.returns) // the bubble waits for all goroutines
				})
			})
		}
	}
}
