package adapt_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestLongRunsKeepTheLastResults(t *testing.T) {
	const calls = 1100
	for name, c := range map[string]struct{ limit, kept int }{
		"no limit":              {0, calls},
		"the last ones":         {100_000, 65}, // each has about 1500 bytes
		"less than one":         {1000, 0},
		"more than all of them": {10_000_000, calls},
	} {
		t.Run(name, func(t *testing.T) {
			h := &adapt.Host{Hooks: new(agent.Hooks), KeepBytes: c.limit}
			var counters agent.Counters
			result, err := h.Run(t.Context(), adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
				for i := range calls {
					_, err := h.Tool(ctx, agent.ToolCallRequest{Name: fmt.Sprintf("tool%d", i)}, func(
						ctx context.Context, _ agent.ToolCallRequest,
					) (string, error) {
						counters = agentspec.EnvOf(ctx).Counters()
						return strings.Repeat("a", 1000), nil
					})
					if err != nil {
						return "", err
					}
				}
				return "", nil
			})
			if err != nil || len(result.Calls) != c.kept {
				t.Fatalf("%d results are kept, %v", len(result.Calls), err)
			}
			if c.kept > 0 && result.Calls[c.kept-1].Call.Name != fmt.Sprintf("tool%d", calls-1) {
				t.Errorf("the last result is that of %s", result.Calls[c.kept-1].Call.Name)
			}
			warned := slices.ContainsFunc(result.Warnings, func(w string) bool {
				return strings.Contains(w, fmt.Sprintf("the first %d results", calls-c.kept))
			})
			if warned != (c.kept < calls) {
				t.Errorf("warnings %q", result.Warnings)
			}
			if len(counters.Tools) > 1001 || counters.ToolCalls != calls-1 {
				t.Errorf("%d calls of %d tools are counted", counters.ToolCalls, len(counters.Tools))
			}
		})
	}
}
