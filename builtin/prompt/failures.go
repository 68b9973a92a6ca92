package prompt

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
)

// FailureNote lists the calls of the last step that failed or were refused.
//
// Each call is one line, for example "⚠ search failed: connection refused". The error is truncated to 100 characters.
// After ten lines the remaining calls are only counted. If no call failed, the note is absent. FailureNote contributes
// to Briefing, has no state and is safe for concurrent use.
type FailureNote struct{}

// maxFailureLines bounds the lines of a FailureNote.
const maxFailureLines = 10

// Bind adds the hook to Briefing.
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

// failedCalls returns the results of the last step that are not successful.
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
