package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// version is the version of events. Change it if an older worker would read a new event wrongly. A new field needs no
// new version if a worker that does not know it may ignore it: see [event.unknown].
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
	Hooks      string            `json:"hooks,omitempty"` // of a claim: Worker.Hooks
	Reply      *reply            `json:"reply,omitempty"`
	Call       *call             `json:"call,omitempty"`
	Outcome    *outcome          `json:"outcome,omitempty"`
	Progress   *progress         `json:"progress,omitempty"`
	Suspension *agent.Suspension `json:"suspension,omitempty"`
	Calls      []call            `json:"calls,omitempty"` // of a suspended run, for an engine; see Worker.Perform
	Doubts     []Question        `json:"doubts,omitempty"`
	Answers    []Answer          `json:"answers,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	Result     *Result           `json:"result,omitempty"`

	foreign string // see unknown
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
	Final   bool                 `json:"final,omitempty"`    // by Worker.Perform: of all attempts, after their hooks
}

// progress is the state of a run after a step.
type progress struct {
	Counters loop.Resume `json:"counters"`
	// Messages are those since the last saved step, or all if Whole is set.
	Messages []agent.Message `json:"messages"`
	Whole    bool            `json:"whole,omitempty"`
}

// decode returns the event in an entry, without the fields that this release does not know.
func decode(entry Entry) (event, error) {
	var e event
	err := json.Unmarshal(entry.Event, &e)
	switch {
	case e.Version != version && (err == nil || e.Version != 0): // another version may have other types
		err = fmt.Errorf("it has version %d, and this program reads version %d", e.Version, version)
	case err == nil:
		if err = e.check(); err == nil {
			e.foreign, err = e.unknown(entry.Event)
		}
	}
	if err != nil {
		return event{}, fmt.Errorf("event %d (%.40s by %.100q) cannot be read: %w; %w", entry.Number, e.Kind, e.By, err,
			ErrUnreadable)
	}
	return e, nil
}

// unknown returns the first field that this release does not know and would lose, or "". It looks only into the content
// that a worker uses for the next events, for example the messages of a saved step. The log keeps all other content as
// it is.
func (e *event) unknown(data []byte) (string, error) {
	if known, err := json.Marshal(e); err != nil || bytes.Equal(known, data) {
		return "", err
	}
	var raw struct {
		Task struct{ Parts, Messages json.RawMessage }

		Reply, Call, Outcome, Progress, Suspension, Calls, Doubts, Answers json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return "", err
	}
	task := new(Task)
	if e.Task != nil {
		task = e.Task
	}
	for _, content := range []struct {
		data  json.RawMessage
		value any
	}{
		{raw.Task.Parts, task.Parts}, {raw.Task.Messages, task.Messages}, {raw.Reply, e.Reply}, {raw.Call, e.Call},
		{raw.Outcome, e.Outcome}, {raw.Progress, e.Progress}, {raw.Suspension, e.Suspension}, {raw.Calls, e.Calls},
		{raw.Doubts, e.Doubts},
		{raw.Answers, e.Answers},
	} {
		if content.data == nil {
			continue
		}
		if field, err := agentspec.UnknownField(content.data, content.value); field != "" || err != nil {
			return field, err
		}
	}
	return "", nil
}

// key returns the key of the call that a worker makes or has made, or "".
func (e *event) key() string {
	switch e.Kind {
	case begun:
		return e.Call.Key
	case finished:
		return e.Outcome.Key
	}
	return ""
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
		return errors.New("its kind is unknown")
	}
	if missing {
		return errors.New("its content is missing or unknown")
	}
	return nil
}
