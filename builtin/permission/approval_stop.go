package permission

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/terminal"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// ApprovalStop ends the turn when a tool says that a person must approve something before it goes on.
//
// Points: AfterTool (EndTurn). Tier: Safety. State: per run, the pending approval.
//
// A tool says so by an output that is a JSON object with needs_approval true; beside it approval_description says
// what is to be approved, and approval_options, a list of texts, what can be answered ("approve" and "deny" if it is
// absent). Any other output, a list or plain text for example, is left alone, and so is one of more than 1 MiB. The
// turn ends with the description as the reply, reason "waiting_for_approval"; the results of the reply's other calls
// are kept.
//
// What is pending is in the result of the run ([WaitsForApproval]), so it can be asked for when the run is over,
// stored with it, and never leaks into another run. To go on, continue the conversation of the result, or of a
// checkpoint, with the hook that [PendingApproval.Answer] returns: the first prompt then holds the answer.
type ApprovalStop struct {
	runs hookkit.PerRun[*PendingApproval]
}

// A PendingApproval is something that a person must approve.
type PendingApproval struct {
	Step        int      `json:"step"`
	Tool        string   `json:"tool"`
	Description string   `json:"description"` // at most 2000 characters
	Options     []string `json:"options"`     // at most 20, of at most 200 characters each
}

const waitingForApproval = "waiting_for_approval"

// Bind adds the hook to AfterTool.
func (a *ApprovalStop) Bind(h *agent.Hooks) {
	h.AfterTool.Add(a, hookkit.Priority(hookkit.Safety))
}

// AfterTool ends the turn if the result asks for an approval.
func (a *ApprovalStop) AfterTool(_ context.Context, run *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	pending, ok := approvalIn(result)
	if !ok {
		return nil, nil
	}
	a.runs.Do(run, func(p **PendingApproval) {
		if *p == nil {
			*p = &pending
		}
	})
	return agent.EndTurn{Reply: pending.Description, Reason: waitingForApproval}, nil
}

// Pending returns what is pending in a run, for hooks that fire later in it. It reports false for nothing.
func (a *ApprovalStop) Pending(run *agent.Run) (pending PendingApproval, waits bool) {
	a.runs.Do(run, func(p **PendingApproval) {
		if waits = *p != nil; waits {
			pending = **p
			pending.Options = slices.Clone(pending.Options)
		}
	})
	return pending, waits
}

// WaitsForApproval returns what is pending at the end of a run that an [ApprovalStop] ended, the first if several
// calls of the last reply asked. It reports false if the run ended for another reason.
func WaitsForApproval(result agent.AgentResult) (PendingApproval, bool) {
	if !slices.ContainsFunc(result.Signals, func(s agent.EndRun) bool { return s.Message == waitingForApproval }) {
		return PendingApproval{}, false
	}
	for _, c := range result.Calls {
		if pending, ok := approvalIn(c); ok {
			return pending, true
		}
	}
	return PendingApproval{}, false
}

// Answer returns a hook for the run that goes on: its first prompt holds the answer. Put it into the hooks of that
// run alone, for example in Use of the agent that continues the conversation. An answer that is none of the options
// is an error.
func (p PendingApproval) Answer(answer string) (agent.Hook, error) {
	if len(p.Options) > 0 && !slices.Contains(p.Options, answer) {
		return nil, fmt.Errorf("%q is no answer here; use one of %q", answer, p.Options)
	}
	return &approvalAnswer{text: fmt.Sprintf("[approval] The tool %s asked in step %d: %s\nThe user answered: %s",
		terminal.Escape(shorten.To(p.Tool, toolname.MaxDisplay)), p.Step, shorten.Line(p.Description, maxApproval), shorten.Line(answer, 200))}, nil
}

// maxApproval bounds the description of an approval.
const maxApproval = 2000

// approvalIn returns the approval that a result asks for.
func approvalIn(result agent.ToolCallResult) (PendingApproval, bool) {
	output := bytes.TrimSpace([]byte(result.Output))
	if len(output) > maxDecodeArgs || len(output) == 0 || output[0] != '{' {
		return PendingApproval{}, false
	}
	var asks struct {
		Needs       any `json:"needs_approval"`
		Description any `json:"approval_description"`
		Options     any `json:"approval_options"`
	}
	if json.Unmarshal(output, &asks) != nil || asks.Needs != true {
		return PendingApproval{}, false
	}
	description, _ := asks.Description.(string)
	tool := shorten.To(result.Call.Name, toolname.MaxDisplay)
	p := PendingApproval{
		Step: result.Call.Step, Tool: tool,
		Description: cmp.Or(shorten.To(strings.TrimSpace(description), maxApproval), "The tool "+tool+" needs an approval to go on."),
	}
	options, _ := asks.Options.([]any)
	for _, o := range options {
		if text, ok := o.(string); ok && text != "" && len(p.Options) < 20 {
			p.Options = append(p.Options, shorten.To(text, 200))
		}
	}
	if len(p.Options) == 0 {
		p.Options = []string{"approve", "deny"}
	}
	return p, true
}

// approvalAnswer puts an answer into the first prompt of a run.
type approvalAnswer struct {
	text  string
	first hookkit.PerRun[*int] // the step of the first prompt
}

// Bind adds the hook to Briefing.
func (a *approvalAnswer) Bind(h *agent.Hooks) {
	h.Briefing.Add(a, hookkit.Priority(hookkit.InputShape), hookkit.Named("permission.PendingApproval"))
}

// Briefing contributes the answer to the first prompt, also if that is built again.
func (a *approvalAnswer) Briefing(_ context.Context, run *agent.Run, at agent.Step) (texts []string, err error) {
	a.first.Do(run, func(first **int) {
		if *first == nil {
			*first = &at.Number
		}
		if **first == at.Number {
			texts = []string{a.text}
		}
	})
	return texts, nil
}
