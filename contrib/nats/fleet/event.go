package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// version is the version of events. Change it if an older worker would read a new event wrongly.
const version = 1

// A kind is the content of an event in one word.
type kind string

const (
	submitted kind = "submitted" // by a client: Task
	claimed   kind = "claimed"   // by a worker: Claim
	replied   kind = "replied"   // the model has answered: Reply
	begun     kind = "begun"     // a tool is about to be called: Call
	finished  kind = "finished"  // the call has returned: Call.Key, Outcome
	saved     kind = "saved"     // a step is complete: Progress
	released  kind = "released"  // the worker gives the run back
	suspended kind = "suspended" // the run waits: Suspension, or Doubts
	answered  kind = "answered"  // by a client: Answers
	cancelled kind = "cancelled" // by a client, who wants the run to end
	ended     kind = "ended"     // Result
)

// An event is an entry of the log of a run. Fields that its kind does not need are empty.
type event struct {
	Version int    `json:"version"`
	Kind    kind   `json:"kind"`
	ID      string `json:"id"` // by which a writer recognizes its own event after an error
	By      string `json:"by,omitempty"`

	Task       *Task             `json:"task,omitempty"`
	Claim      *Token            `json:"claim,omitempty"`
	Reply      *reply            `json:"reply,omitempty"`
	Call       *call             `json:"call,omitempty"`
	Outcome    *outcome          `json:"outcome,omitempty"`
	Progress   *progress         `json:"progress,omitempty"`
	Suspension *agent.Suspension `json:"suspension,omitempty"`
	Doubts     []Question        `json:"doubts,omitempty"`
	Answers    []Answer          `json:"answers,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	Result     *Result           `json:"result,omitempty"`
}

// A reply is a recorded reply of the model.
type reply struct {
	Step     int               `json:"step"`
	Response agent.LLMResponse `json:"response"`
}

// A call is one attempt at a call of a tool.
type call struct {
	Key        string                `json:"key"`  // identifies the call within the step
	Unit       string                `json:"unit"` // Key, or that of the call whose run makes this call; see doubts
	Request    agent.ToolCallRequest `json:"request"`
	Repeatable bool                  `json:"repeatable,omitempty"` // the tool is read-only or idempotent
	Agent      string                `json:"agent,omitempty"`
}

// An outcome is the recorded result of an attempt. Err is the text of an error that the tool returned.
type outcome struct {
	Key     string               `json:"key"`
	Result  agent.ToolCallResult `json:"result"`
	Failed  bool                 `json:"failed,omitempty"`   // the attempt returned an error
	StopRun bool                 `json:"stop_run,omitempty"` // see agent.ToolError
}

// progress is the state of a run after a step.
type progress struct {
	Counters loop.Resume `json:"counters"`
	// Messages are those since the last saved step, or all if Whole is set.
	Messages []agent.Message `json:"messages"`
	Whole    bool            `json:"whole,omitempty"`
}

// A versionError is the error about an event that another version of this package has written.
type versionError struct{ problem string }

func (e *versionError) Error() string { return "the run cannot be read: " + e.problem }

func decode(entry Entry) (event, error) {
	var e event
	d := json.NewDecoder(bytes.NewReader(entry.Event))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Version != version {
		var head struct{ Version int }
		if json.Unmarshal(entry.Event, &head) == nil && head.Version != version {
			err = fmt.Errorf("it has version %d, and this program reads version %d", head.Version, version)
		}
		return event{}, &versionError{fmt.Sprintf("event %d: %v", entry.Number, err)}
	}
	if err := e.check(); err != nil {
		return event{}, &versionError{fmt.Sprintf("event %d (%.40s): %v", entry.Number, e.Kind, err)}
	}
	return e, nil
}

// check reports a field that the kind needs and that is missing.
func (e *event) check() error {
	missing := false
	switch e.Kind {
	case submitted:
		missing = e.Task == nil
	case claimed:
		missing = e.Claim == nil
	case replied:
		missing = e.Reply == nil
	case begun:
		missing = e.Call == nil
	case finished:
		missing = e.Outcome == nil
	case saved:
		missing = e.Progress == nil
	case suspended:
		missing = e.Suspension == nil && len(e.Doubts) == 0
	case answered:
		missing = len(e.Answers) == 0
	case ended:
		missing = e.Result == nil || !e.Result.State.Final()
	case released, cancelled:
	default:
		return fmt.Errorf("the kind is unknown")
	}
	if missing {
		return fmt.Errorf("the content is missing")
	}
	return nil
}
