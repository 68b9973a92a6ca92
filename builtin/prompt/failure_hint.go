package prompt

import (
	"context"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// FailureHint tells the model what to do after a failed call.
//
// It contributes to Briefing, in the tier Observability, and has no state: it looks at the results of the last
// step. The Text is in the prompt after a step with a failed or refused call, and only in that one. A blank Text
// adds nothing.
type FailureHint struct {
	Text string
}

// Bind adds the hook.
func (r *FailureHint) Bind(h *agent.Hooks) { h.Briefing.Add(r) }

// Briefing contributes the text.
func (r *FailureHint) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	if strings.TrimSpace(r.Text) == "" || len(failedCalls(step)) == 0 {
		return nil, nil
	}
	return []string{r.Text}, nil
}
