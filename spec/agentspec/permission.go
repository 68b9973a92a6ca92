package agentspec

import "context"

// A Denial is a call that was denied.
type Denial struct {
	Call   ToolCallRequest `json:"call"`
	Reason string          `json:"reason"`
	Kind   DenialKind      `json:"kind"`
	By     string          `json:"by"` // the hook that denied, asked or failed
}

// A DenialKind is the origin of a denial.
type DenialKind string

// The kinds of denial.
const (
	DeniedByVote     DenialKind = "vote"            // a hook of OnPermission denied
	DeniedByHook     DenialKind = "hook_failed"     // a hook of OnPermission failed
	DeniedByPerson   DenialKind = "person"          // the approver denied
	DeniedUnasked    DenialKind = "no_approver"     // no approver is set
	DeniedBySilence  DenialKind = "no_answer"       // no answer in time
	DeniedByApprover DenialKind = "approver_failed" // the approver returned an error or panicked
)

// An Approver asks a person about a call. Approve should return when ctx is done; a later answer is dropped. It
// must be safe for concurrent use.
type Approver interface {
	Approve(ctx context.Context, question Question) (Approval, error)
}

// A Question is the request to an approver.
type Question struct {
	Call   ToolCallRequest `json:"call"` // as it would be dispatched
	Tool   ToolSchema      `json:"tool"` // zero for a call that SkipTool answers
	Prompt string          `json:"prompt,omitempty"`
	Reason string          `json:"reason,omitempty"`
	By     string          `json:"by,omitempty"` // the hook that asked
	Agent  string          `json:"agent,omitempty"`
	Run    string          `json:"run,omitempty"`
	Owner  Identity        `json:"owner"` // of the run
}

// An Approval is the answer of an approver. The zero value denies.
type Approval struct {
	Allow  bool   `json:"allow"`
	Reason string `json:"reason,omitempty"`
}
