package prompt

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// FailureNote tells the model which calls of the last step did not succeed.
//
// It contributes to Briefing, in the tier Observability, and has no state: it looks at the results of the last
// step. Each failed or refused call is a line "⚠ tool failed: error", the error cut at 100 characters; after ten
// lines the rest is counted. After a step without failures it is silent.
type FailureNote struct{}

// maxFailureLines bounds the lines of a FailureNote.
const maxFailureLines = 10

// Bind adds the hook.
func (n *FailureNote) Bind(h *agent.Hooks) { h.Briefing.Add(n) }

// Briefing contributes the note.
func (n *FailureNote) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	var lines []string
	failed := failedCalls(step)
	for _, r := range failed[:min(len(failed), maxFailureLines)] {
		lines = append(lines, fmt.Sprintf("⚠ %s failed: %s", shorten.Line(r.Call.Name, 100), shorten.Line(r.Err, 100)))
	}
	if lines == nil {
		return nil, nil
	}
	if more := len(failed) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("⚠ %d more calls failed", more))
	}
	return []string{strings.Join(lines, "\n")}, nil
}

// failedCalls returns the results of the last step that are no success.
func failedCalls(step agent.Step) []agent.ToolCallResult {
	if step.Last == nil {
		return nil
	}
	var failed []agent.ToolCallResult
	for _, r := range step.Last.Results {
		if !r.OK() {
			failed = append(failed, r)
		}
	}
	return failed
}
