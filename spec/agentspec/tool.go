package agentspec

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// A ToolCallRequest is a call of a tool that a model requested.
//
// It encodes as an object with the keys id, name, args and step. Models sometimes send Args that are not valid
// JSON; these are encoded as text under args_text.
type ToolCallRequest struct {
	ID   string          `json:"id"`             // unique within the reply
	Name string          `json:"name"`           // of the tool
	Args json.RawMessage `json:"args,omitempty"` // as the model wrote them; nil or empty: no arguments
	Step int             `json:"step,omitempty"` // the step of the call, from 1; 0: unknown
}

type encodedCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args,omitempty"`
	ArgsText *string         `json:"args_text,omitempty"`
	Step     int             `json:"step,omitempty"`
}

// MarshalJSON encodes the call, even if Args is not valid JSON.
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

// UnmarshalJSON decodes the output of MarshalJSON.
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

// Same reports whether two calls have the same name and, byte by byte, the same arguments.
func (c ToolCallRequest) Same(d ToolCallRequest) bool {
	return c.Name == d.Name && bytes.Equal(c.Args, d.Args)
}

// Clone returns a deep copy of c.
func (c ToolCallRequest) Clone() ToolCallRequest {
	c.Args = slices.Clone(c.Args)
	return c
}

// CloneCalls returns a deep copy of calls. It is nil for nil.
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

// A ToolCallResult is the result of a call. Hooks may set only Output, Parts, Warnings, Context, Err, Kind and
// NoRetry. The loop sets the other fields; it undoes any change of a hook to them and adds a warning to the result of
// the run.
type ToolCallResult struct {
	Call     ToolCallRequest `json:"call"`
	Output   string          `json:"output"`               // for the model; with an Err it is guidance
	Parts    []Part          `json:"parts,omitempty"`      // content other than text, after Output
	Warnings []string        `json:"warnings,omitempty"`   // problems that did not make the call fail
	Context  []string        `json:"context,omitempty"`    // texts of hooks for the model, after Output and Warnings
	Err      string          `json:"err,omitempty"`        // the reason of a failure
	Elapsed  time.Duration   `json:"elapsed_ns,omitempty"` // of all attempts; 0 if nothing was dispatched
	Status   CallStatus      `json:"status,omitempty"`
	Kind     FailureKind     `json:"kind,omitempty"`     // of Err
	NoRetry  bool            `json:"no_retry,omitempty"` // the same call cannot succeed later
	Attempts int             `json:"attempts,omitempty"` // dispatches; 0 if nothing was dispatched
	By       string          `json:"by,omitempty"`       // the hook that answered, refused or rejected the call
	Reason   string          `json:"reason,omitempty"`   // that hook's reason, or the text of its failure
}

// OK reports whether the call succeeded, or a hook answered it successfully.
func (r ToolCallResult) OK() bool { return r.Err == "" }

// Content returns the text for the model: Output, the Warnings and the Context. An empty Output is replaced by a
// description of the result.
func (r ToolCallResult) Content() string {
	text := r.Output
	switch {
	case text != "":
	case r.Err != "":
		text = "error: " + r.Err
	case len(r.Parts) == 0:
		text = "(no output)"
	}
	for _, w := range r.Warnings {
		text += "\nwarning: " + w
	}
	for _, c := range r.Context {
		text += "\n\n" + c
	}
	return text
}

// Message returns the tool message that answers the call.
func (r ToolCallResult) Message() Message {
	return Message{
		Role: RoleTool, Name: r.Call.Name, ToolCallID: r.Call.ID,
		Content: r.Content(), Parts: r.Parts, IsError: r.Err != "",
	}
}

// Clone returns a deep copy of r.
func (r ToolCallResult) Clone() ToolCallResult {
	r.Call = r.Call.Clone()
	r.Parts, r.Warnings, r.Context = CloneParts(r.Parts), slices.Clone(r.Warnings), slices.Clone(r.Context)
	return r
}

// A CallStatus is the final state of a call.
type CallStatus string

// The final states of a call. Only CallSucceeded is a success of the tool.
const (
	CallSucceeded CallStatus = "succeeded"  // dispatched, and the tool returned without an error
	CallFailed    CallStatus = "failed"     // dispatched or about to be, and failed
	CallSkipped   CallStatus = "skipped"    // answered successfully by a hook instead of the tool
	CallRefused   CallStatus = "refused"    // refused by a hook, a vote, a person or a switch; the tool did not run
	CallUnrun     CallStatus = "unrun"      // not dispatched because the run ended
	CallHandedOff CallStatus = "handed_off" // answered; another agent took over
)

// A FailureKind classifies an Err.
type FailureKind string

// The kinds of failure of a call.
const (
	FailTool      FailureKind = "tool"      // the tool returned an error
	FailPanic     FailureKind = "panic"     // the tool panicked or ended its goroutine
	FailTimeout   FailureKind = "timeout"   // the tool did not return in time
	FailCancelled FailureKind = "cancelled" // the run was cancelled
	FailArguments FailureKind = "arguments" // the arguments are invalid JSON, too large or do not match the schema
	FailUnknown   FailureKind = "unknown_tool"
	FailDuplicate FailureKind = "duplicate_id" // the id was used before in the reply
	FailTooMany   FailureKind = "too_many"     // the reply has more calls than the loop allows
	FailDisabled  FailureKind = "disabled"     // tools are switched off
	FailDenied    FailureKind = "denied"       // by OnPermission
	FailSkipped   FailureKind = "skipped"      // SkipTool with an Err
	FailHook      FailureKind = "hook"         // a hook failed, and its point refuses in that case
	FailRejected  FailureKind = "rejected"     // an answer was rejected, or AfterTool rejected the output
	FailRunEnded  FailureKind = "run_ended"    // the run ended before the dispatch
	FailHandoff   FailureKind = "handoff"      // the handoff failed
	FailSuspended FailureKind = "suspended"    // the call continues when its run is resumed, see Suspension
)

// A ToolSchema describes a tool to a model and to hooks.
type ToolSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema of the arguments; nil: an object
	ReadOnly    bool            `json:"read_only,omitempty"`  // the tool declares that it changes nothing
	Idempotent  bool            `json:"idempotent,omitempty"` // the tool declares that repeating a call does no harm
	Concurrent  bool            `json:"concurrent,omitempty"` // the tool declares that it may run next to other calls
}

// A Tool performs an action for a model. Call gets arguments that match the schema, and returns text for the
// model. It must return when ctx is done and be safe for concurrent use. It may report progress with [Progress]. A
// nil error with an empty text is a success without output.
type Tool interface {
	Schema() ToolSchema
	Call(ctx context.Context, call ToolCallRequest) (string, error)
}

// An OutputTool returns more than text. The loop calls Output instead of Call; other programs that know only [Tool]
// call Call.
type OutputTool interface {
	Tool
	Output(ctx context.Context, call ToolCallRequest) (ToolOutput, error)
}

// A ToolOutput is the output of an [OutputTool].
type ToolOutput struct {
	Text  string
	Parts []Part // content other than text, for example a screenshot

	// Warnings are problems that did not make the call fail, for example that a list is not complete. The model reads
	// them after the text, and records keep them apart from it.
	Warnings []string
}

// A TimedTool replaces the loop's time limit for each attempt by its own. For a limit of zero or less, only the
// context ends the call.
type TimedTool interface {
	Tool
	Timeout() time.Duration
}

// A ToolTable has the tools of a run by name. It is safe for concurrent use. An added tool belongs to this run
// only, from its next prompt on.
type ToolTable interface {
	Lookup(name string) (ToolSchema, bool)
	Schemas() []ToolSchema // in order of addition
	Add(tool Tool) error   // fails if the name is taken or the schema is unusable
}

// A ToolError is an error about a call with more details than a text. Tools may return one.
type ToolError struct {
	Kind    FailureKind
	Message string
	NoRetry bool  // the same call cannot succeed later
	Cause   error // may be nil

	// StopRun stops the run with stop_requested, because no other call can help. For example, the account is out of
	// credit. Calls of the reply that are running may finish, and the others are not run. A hook of AroundTool that
	// answers the call instead keeps the run going.
	StopRun bool
}

// Error returns the Message, or the text of the cause if Message is empty.
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
