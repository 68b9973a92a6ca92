package agentspec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A Denial is a call that was denied.
type Denial struct {
	Call   ToolCallRequest `json:"call"`
	Reason string          `json:"reason"`
	Kind   DenialKind      `json:"kind"`
	By     string          `json:"by"` // the hook that denied, asked or failed

	AnsweredBy string    `json:"answered_by,omitempty"` // Approval.By of the person who denied
	AnsweredAt time.Time `json:"answered_at,omitzero"`  // Approval.At
}

// A Grant is a call that was approved after a question.
type Grant struct {
	Question Question        `json:"question"`
	Call     ToolCallRequest `json:"call"`               // as it will be dispatched
	By       string          `json:"by,omitempty"`       // the hook of BeforeAsk that approved; "": the approver
	Reason   string          `json:"reason,omitempty"`   // of the answer
	Remember json.RawMessage `json:"remember,omitempty"` // of the answer

	AnsweredBy string    `json:"answered_by,omitempty"` // Approval.By of the person who approved
	AnsweredAt time.Time `json:"answered_at,omitzero"`  // Approval.At
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
	ID     string          `json:"id,omitempty"`     // of the question; no other question of any run has it
	Digest string          `json:"digest,omitempty"` // SHA-256 of the ID, the tool and the exact arguments, in hexadecimal
	Call   ToolCallRequest `json:"call"`             // as it would be dispatched
	Tool   ToolSchema      `json:"tool"`             // zero for a call that SkipTool answers
	Prompt string          `json:"prompt,omitempty"`
	Reason string          `json:"reason,omitempty"`
	By     string          `json:"by,omitempty"` // the hook that asked
	Agent  string          `json:"agent,omitempty"`
	Run    string          `json:"run,omitempty"`
	Owner  Identity        `json:"owner"` // of the run

	// Early says that calls before this one in the reply have not run yet, because one of them waits for a person too.
	// The call may meet another state than the preview shows.
	Early bool `json:"early,omitempty"`

	// Choices are the answers that the question takes; none: all. For example, a person may approve or deny a payment, but
	// not change its amount. Every other answer is refused; see Check.
	Choices []Choice `json:"choices,omitempty"`
}

// A Choice is a kind of answer to a question.
type Choice string

// The choices.
const (
	ChooseAllow  Choice = "allow"  // the call runs as it is
	ChooseDeny   Choice = "deny"   // it does not run
	ChooseEdit   Choice = "edit"   // it runs with Approval.Args
	ChooseAnswer Choice = "answer" // Approval.Output is its output, and the tool does not run
)

// CheckChoices returns an error that names the first unknown choice, or nil.
func CheckChoices(choices []Choice) error {
	all := []Choice{ChooseAllow, ChooseDeny, ChooseEdit, ChooseAnswer}
	for _, c := range choices {
		if !slices.Contains(all, c) {
			return fmt.Errorf("there is no choice %.70q; the choices are %q", c, all)
		}
	}
	return nil
}

// Check returns an error that names the choices if the answer is none of them. An answer that stops the run without
// allowing the call fits every question.
func (q Question) Check(answer Approval) error {
	made := ChooseAllow
	switch {
	case !answer.Allow && answer.StopRun:
		return nil
	case !answer.Allow:
		made = ChooseDeny
	case answer.Output != "":
		made = ChooseAnswer
	case len(answer.Args) > 0 && !bytes.Equal(answer.Args, q.Call.Args):
		made = ChooseEdit
	}
	if len(q.Choices) == 0 || slices.Contains(q.Choices, made) {
		return nil
	}
	return fmt.Errorf("the question does not take the answer %q; it takes %q", made, q.Choices)
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

	// Output is what a person answers in place of the tool, for example what the customer said on the telephone. It needs
	// Allow. The tool does not run: the call counts as skipped, and hooks of AfterTool and the model get this text as its
	// output. A call that would hand over or finish does neither. "": the tool runs. With Args, too, the call is denied.
	Output string `json:"output,omitempty"`

	// Remember has rules for later calls, for example "do not ask again about git status". Hooks of OnPermissionGranted
	// read it; the loop does not. The format is that of permission.ParseRules.
	Remember json.RawMessage `json:"remember,omitempty"`

	StopRun bool `json:"stop_run,omitempty"` // stop the run with stop_requested; no call of the reply is run

	// Pending says that the answer comes later. For example, the approver has sent the question to a person who may
	// read it tomorrow. The call is not run, and the run is suspended; see [Suspension]. The other fields are ignored:
	// leave Allow false. A host that cannot suspend a run denies the call.
	Pending bool `json:"pending,omitempty"`

	By string    `json:"by,omitempty"` // the person who answered, for records; "": unknown
	At time.Time `json:"at,omitzero"`  // the time of the answer, for records; zero: unknown
}

// A Suspension is the state of a run that waits for answers of persons. It has all questions of one reply of the model,
// and those of the runs that the run started. A host stores it, collects the answers, which may take days, and resumes
// the run in any process. Package loop documents how.
//
// The State contains the conversation, and arguments and results of tools that no hook has redacted. Hooks therefore
// get a Suspension without it. Whoever can change the State controls the resumed run. The Digest finds damage,
// but an attacker can compute it again. Store the State where the users of the agent cannot change it.
type Suspension struct {
	Version   int        `json:"version"` // of the format of State
	ID        string     `json:"id"`      // of this state; a run that is suspended again has another one
	Run       string     `json:"run"`     // the ID of the run, which it keeps when it is resumed
	Agent     string     `json:"agent"`
	Owner     Identity   `json:"owner"`
	Questions []Question `json:"questions"`
	State     []byte     `json:"state,omitempty"`
	Digest    string     `json:"digest"` // SHA-256 of State, in hexadecimal
}
