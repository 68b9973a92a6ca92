package ported

import (
	"context"
	"encoding/json"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Theory keeps the model's working theory, which it passes as the argument __theory__ of any call, in its prompts.
type Theory struct{ runs hookkit.PerRun[string] }

// Bind adds the hook.
func (t *Theory) Bind(h *agent.Hooks) {
	h.BeforeTool.Observe(t)
	h.Briefing.Add(t)
}

// ObserveBeforeTool remembers the theory of a call.
func (t *Theory) ObserveBeforeTool(
	_ context.Context, run *agent.Run, fired agent.BeforeToolFired[agent.ToolCallRequest],
) {
	var args struct {
		Theory string `json:"__theory__"`
	}
	if json.Unmarshal(fired.Payload.Args, &args) == nil && args.Theory != "" {
		t.runs.Do(run, func(theory *string) { *theory = args.Theory })
	}
}

// Briefing contributes the theory.
func (t *Theory) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	text := "No theory yet"
	t.runs.Do(run, func(theory *string) {
		if *theory != "" {
			text = *theory
		}
	})
	return []string{"Current working theory: " + text}, nil
}
