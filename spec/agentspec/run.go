package agentspec

import (
	"slices"
	"time"
)

// A RunStart is a run that is about to begin.
type RunStart struct {
	Task     string    `json:"task"`
	Messages []Message `json:"messages,omitempty"` // the stored conversation before the task
	Agent    string    `json:"agent"`
}

// An AgentResult is what came of a run.
type AgentResult struct {
	Agent       string           `json:"agent"`
	Task        string           `json:"task"`
	Reply       string           `json:"reply"`
	Steps       int              `json:"steps"`
	ModelCalls  int              `json:"model_calls"` // of the run, its hooks and its sub-runs
	Usage       Usage            `json:"usage"`       // of the same
	Calls       []ToolCallResult `json:"calls,omitempty"`
	Messages    []Message        `json:"messages,omitempty"` // the stored conversation, task and reply included
	Elapsed     time.Duration    `json:"elapsed_ns"`
	Stop        EndRun           `json:"stop"`                    // the strongest signal
	Signals     []EndRun         `json:"signals,omitempty"`       // all of them, in order
	EndedBy     string           `json:"ended_by,omitempty"`      // the hook whose EndTurn ended the run
	HandedOffTo string           `json:"handed_off_to,omitempty"` // the agent that replied in the end
	Warnings    []string         `json:"warnings,omitempty"`      // what went wrong without ending the run
	Err         string           `json:"err,omitempty"`           // why the run failed
}

// Forced reports whether the run was stopped before it was done.
func (r AgentResult) Forced() bool { return r.Stop.Cause.Forced() }

// An EndRun is a signal that a run shall stop.
type EndRun struct {
	Cause   Cause          `json:"cause"`
	Message string         `json:"message,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"` // values that encoding/json can encode
	By      string         `json:"by,omitempty"`     // the hook that gave it, filled in by the loop; empty: the loop itself
}

// A Cause is why a run stops.
type Cause string

// The causes, strongest first.
const (
	CauseError         Cause = "error"
	CauseStopRequested Cause = "stop_requested" // by a hook; every EndTurn is one
	CauseUserRequested Cause = "user_requested" // by a person; a cancelled context is one
	CauseStepsLimit    Cause = "steps_limit"
	CauseTokenLimit    Cause = "token_limit" // of tokens or of their cost
	CauseTimeLimit     Cause = "time_limit"  // a context past its deadline too
	CauseRetryLimit    Cause = "retry_limit" // too many requests to go on
	CauseFinishReason  Cause = "finish_reason"
	CauseCompleted     Cause = "completed"
	CauseUnknown       Cause = "unknown"
)

var causes = []Cause{
	CauseError, CauseStopRequested, CauseUserRequested, CauseStepsLimit, CauseTokenLimit,
	CauseTimeLimit, CauseRetryLimit, CauseFinishReason, CauseCompleted, CauseUnknown,
}

// Strength orders causes: the higher, the stronger. Causes that are none of the constants are as weak as
// unknown.
func (c Cause) Strength() int {
	at := slices.Index(causes, c)
	if at < 0 {
		at = len(causes) - 1
	}
	return len(causes) - 1 - at
}

// Forced reports whether a run that stops for this cause was not done: all causes but finish_reason and
// completed.
func (c Cause) Forced() bool { return c != CauseFinishReason && c != CauseCompleted }

// Strongest returns the signal with the strongest cause, among equals the first; without signals one with
// the cause unknown.
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
	Where   string      `json:"where"`   // the point or act that failed: OnRunStart, ShouldStop, BeforeLLM, LLM, ...
	Partial AgentResult `json:"partial"` // what there is so far
}

// Stopping is a run that stops.
type Stopping struct {
	Signals []EndRun `json:"signals"` // recorded so far, in order
}

// A Handoff is control that is about to go to another agent.
type Handoff struct {
	From string          `json:"from"`
	To   string          `json:"to"`
	Task string          `json:"task"`
	Call ToolCallRequest `json:"call"`
}

// A Subagent is a run that is started by a run.
type Subagent struct {
	ID      string `json:"id"` // of the new run
	Name    string `json:"name"`
	Task    string `json:"task"`
	Handoff bool   `json:"handoff,omitempty"` // control goes over and does not come back
}

// A SubagentDone is a run started by a run that is over.
type SubagentDone struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	ModelCalls int         `json:"model_calls"`
	Steps      int         `json:"steps"`
	Result     AgentResult `json:"result"`
}
