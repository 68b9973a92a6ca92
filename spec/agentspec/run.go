package agentspec

import (
	"slices"
	"time"
)

// A RunStart is the start of a run.
type RunStart struct {
	Task     string    `json:"task"`
	Parts    []Part    `json:"parts,omitempty"`    // content of the task other than text, for example an image
	Messages []Message `json:"messages,omitempty"` // the stored conversation before the task
	Agent    string    `json:"agent"`

	// Instructions are the system message of each prompt of the run, before the conversation; "": none. A text that stays
	// the same belongs here and not in Briefing, because it is sent once and providers cache it. They are not stored.
	Instructions string `json:"instructions,omitempty"`

	// Resumed is the ID of the [Suspension] that the run continues, or "" for a new run. The conversation of a resumed
	// run contains the Task and ends with the calls that wait for an answer. Of its start, only Instructions
	// can be changed.
	Resumed string `json:"resumed,omitempty"`
}

// An AgentResult is the result of a run.
type AgentResult struct {
	Agent       string           `json:"agent"`
	Task        string           `json:"task"`
	Reply       string           `json:"reply"`
	Steps       int              `json:"steps"`
	ModelCalls  int              `json:"model_calls"` // of the run, its hooks and its sub-runs
	Usage       Usage            `json:"usage"`       // like ModelCalls
	Calls       []ToolCallResult `json:"calls,omitempty"`
	Messages    []Message        `json:"messages,omitempty"` // the stored conversation, including task and reply
	Elapsed     time.Duration    `json:"elapsed_ns"`
	Stop        EndRun           `json:"stop"`                    // the strongest signal
	Signals     []EndRun         `json:"signals,omitempty"`       // all of them, in order
	EndedBy     string           `json:"ended_by,omitempty"`      // the hook whose EndTurn ended the run
	HandedOffTo string           `json:"handed_off_to,omitempty"` // the agent that gave the final reply
	Warnings    []string         `json:"warnings,omitempty"`      // problems that did not end the run
	Err         string           `json:"err,omitempty"`           // the reason of a failed run

	// FinishReason is that of the last reply of the model, for example stop or length, in the words of its API.
	FinishReason string `json:"finish_reason,omitempty"`

	// UsageByModel is Usage by the name of the model that replied, or that was requested if the reply has no name.
	UsageByModel map[string]Usage `json:"usage_by_model,omitempty"`

	// Unread are messages of the user that came too late for the run, in order. A program passes them to the next run.
	Unread []Message `json:"unread,omitempty"`

	// Suspended is the state of a run that waits for answers. It is set if and only if the cause of Stop is
	// CauseSuspended. Messages then ends with calls that are not answered yet, and Reply is empty.
	Suspended *Suspension `json:"suspended,omitempty"`
}

// Forced reports whether the run was stopped before it was done.
func (r AgentResult) Forced() bool { return r.Stop.Cause.Forced() }

// An EndRun is a signal to stop a run.
type EndRun struct {
	Cause   Cause          `json:"cause"`
	Message string         `json:"message,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"` // values that encoding/json can encode
	By      string         `json:"by,omitempty"`     // the hook that gave it, set by the loop; empty: the loop itself
}

// A Cause is the reason why a run stops.
type Cause string

// The causes, strongest first.
const (
	CauseError         Cause = "error"
	CauseStopRequested Cause = "stop_requested" // by a hook, for example with EndTurn
	CauseUserRequested Cause = "user_requested" // by a person, for example by cancelling the context
	CauseSuspended     Cause = "suspended"      // the run waits for answers and can be resumed; see Suspension
	CauseStepsLimit    Cause = "steps_limit"
	CauseTokenLimit    Cause = "token_limit" // of tokens or of their cost
	CauseTimeLimit     Cause = "time_limit"  // also a context past its deadline
	CauseRetryLimit    Cause = "retry_limit" // too many rejections or empty replies
	CauseFinishReason  Cause = "finish_reason"
	CauseCompleted     Cause = "completed"
	CauseUnknown       Cause = "unknown"
)

var causes = []Cause{
	CauseError, CauseStopRequested, CauseUserRequested, CauseSuspended, CauseStepsLimit, CauseTokenLimit,
	CauseTimeLimit, CauseRetryLimit, CauseFinishReason, CauseCompleted, CauseUnknown,
}

// Strength orders causes: a higher number is stronger. Unknown causes are as weak as CauseUnknown.
func (c Cause) Strength() int {
	at := slices.Index(causes, c)
	if at < 0 {
		at = len(causes) - 1
	}
	return len(causes) - 1 - at
}

// Forced reports whether a run that stops for this cause was not done. This is true for all causes except
// finish_reason and completed.
func (c Cause) Forced() bool { return c != CauseFinishReason && c != CauseCompleted }

// Strongest returns the signal with the strongest cause, or the first among equals. Without signals it returns one
// with CauseUnknown.
func Strongest(signals []EndRun) EndRun {
	if len(signals) == 0 {
		return EndRun{Cause: CauseUnknown}
	}
	best := signals[0]
	for _, s := range signals[1:] {
		if s.Cause.Strength() > best.Cause.Strength() {
			best = s
		}
	}
	return best
}

// A RunError is a failure that is about to end a run.
type RunError struct {
	Err     string      `json:"err"`
	Where   string      `json:"where"`   // the failed point or action: OnRunStart, ShouldStop, BeforeLLM, LLM, ...
	Partial AgentResult `json:"partial"` // the result so far
}

// Stopping is the payload of OnStop.
type Stopping struct {
	Signals []EndRun `json:"signals"` // recorded so far, in order
}

// A Handoff is a planned handoff to another agent.
type Handoff struct {
	From string          `json:"from"`
	To   string          `json:"to"`
	Task string          `json:"task"`
	Call ToolCallRequest `json:"call"`
}

// A Subagent is a run that another run starts.
type Subagent struct {
	ID      string `json:"id"` // of the new run
	Name    string `json:"name"`
	Task    string `json:"task"`
	Handoff bool   `json:"handoff,omitempty"` // the new run takes over and does not return
}

// A SubagentDone is the end of a run that another run started.
type SubagentDone struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	ModelCalls int         `json:"model_calls"`
	Steps      int         `json:"steps"`
	Result     AgentResult `json:"result"`
}
