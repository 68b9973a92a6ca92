package prompt

import (
	"context"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// FailureHint adds a fixed hint to the prompt after a step with a failed or refused call.
//
// For example, the Text "Read the file before you edit it." helps a model whose edits fail. The hint is only in the
// prompt right after the failure. A blank Text adds nothing. FailureHint contributes to Briefing, has no state and is
// safe for concurrent use.
type FailureHint struct {
	Text string
}

// Bind adds the hook to Briefing.
func (r *FailureHint) Bind(h *agent.Hooks) { h.Briefing.Add(r) }

// Briefing contributes the text.
func (r *FailureHint) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	if strings.TrimSpace(r.Text) == "" || len(failedCalls(step)) == 0 {
		return nil, nil
	}
	return []string{r.Text}, nil
}
