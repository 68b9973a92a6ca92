package agentspec

import (
	"context"
	"encoding/json"
)

// A Denial is a call that was denied.
type Denial struct {
	Call   ToolCallRequest `json:"call"`
	Reason string          `json:"reason"`
	Kind   DenialKind      `json:"kind"`
	By     string          `json:"by"` // the hook that denied, asked or failed
}

// A Grant is a call that was approved after a question.
type Grant struct {
	Question Question        `json:"question"`
	Call     ToolCallRequest `json:"call"`               // as it will be dispatched
	By       string          `json:"by,omitempty"`       // the hook of BeforeAsk that approved; "": the approver
	Reason   string          `json:"reason,omitempty"`   // of the answer
	Remember json.RawMessage `json:"remember,omitempty"` // of the answer
}

// A DenialKind is the origin of a denial.
type DenialKind string

// The kinds of denial.
const (
	DeniedByVote     DenialKind = "vote"            // a hook of OnPermission denied
	DeniedByHook     DenialKind = "hook_failed"     // a hook of OnPermission or BeforeAsk failed
	DeniedByAnswer   DenialKind = "hook_answered"   // a hook of BeforeAsk refused instead of a person
	DeniedByPerson   DenialKind = "person"          // the approver denied
	DeniedUnasked    DenialKind = "no_approver"     // no approver is set
	DeniedBySilence  DenialKind = "no_answer"       // no answer in time
	DeniedByApprover DenialKind = "approver_failed" // the approver failed, or changed the arguments to invalid ones
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
//
// An approver that changes the arguments approves another call than the rules have seen. The changed arguments must
// therefore match the schema of the tool, and OnPermission fires once more with them: a Deny still denies. An Ask does
// not ask the person again. The arguments of a call that a hook has answered with SkipTool cannot be changed.
type Approval struct {
	Allow  bool            `json:"allow"`
	Reason string          `json:"reason,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"` // other arguments for the call; nil: unchanged

	// Remember has rules for later calls, for example "do not ask again about git status". Hooks of OnPermissionGranted
	// read it; the loop does not. The format is that of permission.ParseRules.
	Remember json.RawMessage `json:"remember,omitempty"`

	StopRun bool `json:"stop_run,omitempty"` // stop the run with stop_requested; no call of the reply is run
}
