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
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/terminal"
)

// ApprovalStop ends the turn when a tool requests the approval of a person, who may answer hours later. For example, a
// payment tool returns {"needs_approval": true, "approval_description": "Pay 40 euros?"} instead of paying.
//
// Points: AfterTool (EndTurn). Tier: Safety. State: none.
//
// A request is an output that is a JSON object with needs_approval set to true. approval_description is the question.
// approval_options is a list of the possible answers, "approve" and "deny" by default. The hook ignores all other
// outputs, and outputs of more than 1 MiB. The description becomes the reply of the turn, and the reason is
// "waiting_for_approval". The results of the other calls of the turn are kept.
//
// Use it for tools that decide by themselves when to ask, and answer with a request instead of acting. The model then
// gets the answer as text and calls the tool again. If a rule decides which calls need a person, let an approver answer
// with Pending instead: the run is suspended before the call, and the very call that the person has seen runs after the
// answer. See agent.Suspension.
//
// [WaitsForApproval] reads the request from the result of the run, so the host can store the result and ask later. To
// continue, start a run with the messages of the result and the hook that [PendingApproval.Answer] returns.
type ApprovalStop struct{}

// A PendingApproval is a question of a tool that a person has not answered yet.
type PendingApproval struct {
	Step        int      `json:"step"` // of the tool call; the first is 1
	Tool        string   `json:"tool"`
	Description string   `json:"description"` // at most 2000 characters
	Options     []string `json:"options"`     // at most 20, of at most 200 characters each
}

const waitingForApproval = "waiting_for_approval"

// Bind adds the hook to AfterTool.
func (a *ApprovalStop) Bind(h *agent.Hooks) {
	h.AfterTool.Add(a, hookkit.Priority(hookkit.Safety))
}

// AfterTool ends the turn if the result requests an approval.
func (*ApprovalStop) AfterTool(_ context.Context, _ *agent.Run,
	result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	pending, ok := approvalIn(result)
	if !ok {
		return nil, nil
	}
	return agent.EndTurn{Reply: pending.Description, Reason: waitingForApproval}, nil
}

// WaitsForApproval returns the approval that a finished run waits for. If several calls of the last reply requested
// one, WaitsForApproval returns the first. It reports false unless an [ApprovalStop] ended the run.
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

// Answer returns a hook that puts the answer into the first prompt of the run that continues the conversation. Use the
// hook only for that run, for example in the field Use of its agent. Answer returns an error if answer is not one of
// the options.
func (p PendingApproval) Answer(answer string) (agent.Hook, error) {
	if len(p.Options) > 0 && !slices.Contains(p.Options, answer) {
		return nil, fmt.Errorf("the answer %q is not an option; use one of %q", answer, p.Options)
	}
	tool := terminal.Escape(shorten.To(p.Tool, toolname.MaxDisplay))
	return &approvalAnswer{text: fmt.Sprintf("[approval] The tool %s asked in step %d: %s\nThe user answered: %s",
		tool, p.Step, shorten.Line(p.Description, maxApproval), shorten.Line(answer, 200))}, nil
}

// maxApproval is the most characters of a description.
const maxApproval = 2000

// approvalIn returns the approval that a result requests.
func approvalIn(result agent.ToolCallResult) (PendingApproval, bool) {
	output := bytes.TrimSpace([]byte(result.Output))
	if len(output) > maxDecodeArgs || len(output) == 0 || output[0] != '{' {
		return PendingApproval{}, false
	}
	var request struct {
		Needs       any `json:"needs_approval"`
		Description any `json:"approval_description"`
		Options     any `json:"approval_options"`
	}
	if json.Unmarshal(output, &request) != nil || request.Needs != true {
		return PendingApproval{}, false
	}
	description, _ := request.Description.(string)
	tool := shorten.To(result.Call.Name, toolname.MaxDisplay)
	p := PendingApproval{
		Step: result.Call.Step, Tool: tool,
		Description: cmp.Or(shorten.To(strings.TrimSpace(description), maxApproval),
			"The tool "+tool+" needs an approval to continue."),
	}
	options, _ := request.Options.([]any)
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

// approvalAnswer adds an answer to the first prompt of a run.
type approvalAnswer struct {
	text  string
	first hookkit.PerRun[*int] // the step of the first prompt
}

// Bind adds the hook to Briefing.
func (a *approvalAnswer) Bind(h *agent.Hooks) {
	h.Briefing.Add(a, hookkit.Priority(hookkit.InputShape), hookkit.Named("permission.PendingApproval"))
}

// Briefing contributes the answer to the first prompt, even if the loop builds that prompt twice.
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
