package agentspec

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// A ToolCallRequest is a call of a tool that a model asked for.
//
// It encodes as an object with the keys id, name, args and step. Args that are not JSON, which models do
// send, are encoded as text under args_text.
type ToolCallRequest struct {
	ID   string          // unique within the reply
	Name string          // of the tool
	Args json.RawMessage // as the model wrote them; nil and empty stand for no arguments
	Step int             // in which the call was made, from 1; 0 if it is not known
}

type encodedCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	ArgsText *string         `json:"args_text,omitempty"`
	Step     int             `json:"step,omitempty"`
}

// MarshalJSON encodes the call, whatever is in Args.
func (c ToolCallRequest) MarshalJSON() ([]byte, error) {
	e := encodedCall{ID: c.ID, Name: c.Name, Step: c.Step}
	switch {
	case len(c.Args) == 0:
	case json.Valid(c.Args):
		e.Args = c.Args
	default:
		text := string(c.Args)
		e.ArgsText = &text
	}
	return json.Marshal(e)
}

// UnmarshalJSON decodes what MarshalJSON made.
func (c *ToolCallRequest) UnmarshalJSON(data []byte) error {
	var e encodedCall
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	*c = ToolCallRequest{ID: e.ID, Name: e.Name, Args: e.Args, Step: e.Step}
	if e.ArgsText != nil {
		c.Args = json.RawMessage(*e.ArgsText)
	}
	return nil
}

// Same reports whether two calls ask for the same: name and arguments, byte by byte.
func (c ToolCallRequest) Same(d ToolCallRequest) bool {
	return c.Name == d.Name && bytes.Equal(c.Args, d.Args)
}

// Clone returns a copy that shares no memory with c that could be changed.
func (c ToolCallRequest) Clone() ToolCallRequest {
	c.Args = slices.Clone(c.Args)
	return c
}

// CloneCalls returns a copy that shares no memory with calls that could be changed. It is nil for nil.
func CloneCalls(calls []ToolCallRequest) []ToolCallRequest {
	if calls == nil {
		return nil
	}
	size := 0
	for _, c := range calls {
		size += len(c.Args)
	}
	out, args := slices.Clone(calls), make([]byte, 0, size)
	for i, c := range calls {
		if c.Args != nil {
			from := len(args)
			args = append(args, c.Args...)
			out[i].Args = args[from:len(args):len(args)]
		}
	}
	return out
}

// A ToolCallResult is what became of a call. Only Output, Err, Kind and NoRetry are a hook's to set. The loop fills
// in the rest; a change that a hook makes to it is undone, and the result of the run has a warning.
type ToolCallResult struct {
	Call     ToolCallRequest `json:"call"`
	Output   string          `json:"output"`               // for the model; beside an Err it is guidance
	Err      string          `json:"err,omitempty"`        // why the call did not succeed
	Elapsed  time.Duration   `json:"elapsed_ns,omitempty"` // of all attempts; 0 if nothing was dispatched
	Status   CallStatus      `json:"status,omitempty"`
	Kind     FailureKind     `json:"kind,omitempty"`     // of Err
	NoRetry  bool            `json:"no_retry,omitempty"` // the same call again cannot succeed
	Attempts int             `json:"attempts,omitempty"` // dispatches; 0 if nothing was dispatched
	By       string          `json:"by,omitempty"`       // the hook that answered, refused or rejected the call
	Reason   string          `json:"reason,omitempty"`   // that hook's reason, or the text of its failure
}

// OK reports whether the call succeeded, or was answered successfully in the place of the tool.
func (r ToolCallResult) OK() bool { return r.Err == "" }

// Content is what the model is told: Output, or where that is empty what stands for it.
func (r ToolCallResult) Content() string {
	switch {
	case r.Output != "":
		return r.Output
	case r.Err != "":
		return "error: " + r.Err
	}
	return "(no output)"
}

// Message returns the tool message that answers the call.
func (r ToolCallResult) Message() Message {
	return Message{
		Role: RoleTool, Name: r.Call.Name, ToolCallID: r.Call.ID,
		Content: r.Content(), IsError: r.Err != "",
	}
}

// Clone returns a copy that shares no memory with r that could be changed.
func (r ToolCallResult) Clone() ToolCallResult {
	r.Call = r.Call.Clone()
	return r
}

// A CallStatus says how far a call got.
type CallStatus string

// The states in which a call can end. Only the first is a success of the tool.
const (
	CallSucceeded CallStatus = "succeeded"  // dispatched, and the tool returned without an error
	CallFailed    CallStatus = "failed"     // dispatched or meant to be, and failed
	CallSkipped   CallStatus = "skipped"    // answered successfully by a hook in the tool's place
	CallRefused   CallStatus = "refused"    // refused by a hook, a vote, a person or a switch; the tool did not run
	CallUnrun     CallStatus = "unrun"      // left undispatched because the run ended
	CallHandedOff CallStatus = "handed_off" // answered; control went to another agent
)

// A FailureKind says what an Err is about.
type FailureKind string

// The kinds of failure of a call.
const (
	FailTool      FailureKind = "tool"      // the tool returned an error
	FailPanic     FailureKind = "panic"     // the tool panicked or ended its goroutine
	FailTimeout   FailureKind = "timeout"   // the tool did not return in time
	FailCancelled FailureKind = "cancelled" // the run was cancelled
	FailArguments FailureKind = "arguments" // the arguments are no JSON, too large or do not fit the schema
	FailUnknown   FailureKind = "unknown_tool"
	FailDuplicate FailureKind = "duplicate_id" // the reply had used the call's id before
	FailDisabled  FailureKind = "disabled"     // tools are switched off
	FailDenied    FailureKind = "denied"       // by OnPermission
	FailSkipped   FailureKind = "skipped"      // SkipTool with an Err
	FailHook      FailureKind = "hook"         // a hook failed at a point that then refuses
	FailRejected  FailureKind = "rejected"     // an answer was rejected, or AfterTool rejected the output
	FailRunEnded  FailureKind = "run_ended"    // the run ended before the dispatch
	FailHandoff   FailureKind = "handoff"      // the handoff could not be made
)

// A ToolSchema describes a tool to a model and to hooks.
type ToolSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema of the arguments; nil: an object
	ReadOnly    bool            `json:"read_only,omitempty"`  // the tool says that it changes nothing
}

// A Tool does something for a model. Call gets a call whose arguments fit the schema, and returns text for
// the model. It must return when ctx is done and be safe for concurrent use. It reports progress by
// [Progress]. A nil error and an empty text are a success without output.
type Tool interface {
	Schema() ToolSchema
	Call(ctx context.Context, call ToolCallRequest) (string, error)
}

// A TimedTool has a time limit of its own for each attempt, in the place of the loop's. Zero and less:
// none; then it ends with its context alone.
type TimedTool interface {
	Tool
	Timeout() time.Duration
}

// A ToolTable holds the tools of a run by name. It is safe for concurrent use. What is added concerns
// this run, from its next prompt on.
type ToolTable interface {
	Lookup(name string) (ToolSchema, bool)
	Schemas() []ToolSchema // in order of addition
	Add(tool Tool) error   // an error if the name is taken or the schema is unusable
}

// A ToolError is an error of a tool or of the loop about a call that says more than its text.
type ToolError struct {
	Kind    FailureKind
	Message string
	NoRetry bool  // the same call again cannot succeed
	Cause   error // nil if there is none
}

// Error returns the Message, or where that is empty the text of the cause.
func (e *ToolError) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Cause != nil:
		return e.Cause.Error()
	}
	return string(e.Kind)
}

// Unwrap returns the Cause.
func (e *ToolError) Unwrap() error { return e.Cause }

// A ToolProgress is a report of a running tool.
type ToolProgress struct {
	Call  ToolCallRequest `json:"call"`
	Stage string          `json:"stage"`
	Data  json.RawMessage `json:"data,omitempty"`
}

// A ToolFailure is one failed attempt at a call.
type ToolFailure struct {
	Call      ToolCallRequest `json:"call"`
	Err       string          `json:"err"`
	Kind      FailureKind     `json:"kind"`
	Attempt   int             `json:"attempt"` // from 1
	WillRetry bool            `json:"will_retry"`
	Elapsed   time.Duration   `json:"elapsed_ns"` // of this attempt
}

// ToolsDisabled is a call that was refused because tools are switched off.
type ToolsDisabled struct {
	Call  ToolCallRequest `json:"call"`
	Agent string          `json:"agent"`
}
