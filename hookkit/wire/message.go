package wire

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// Protocol is the version of the messages in this package. Both ends send it, and refuse another version.
const Protocol = 1

// A Request asks the hooks of one point for their decision.
type Request struct {
	Protocol int             `json:"protocol"` // [Protocol]
	Spec     string          `json:"spec"`     // the import path of the spec's package
	Point    string          `json:"point"`    // the name of the point
	Run      RunInfo         `json:"run"`
	Payload  json.RawMessage `json:"payload"` // the payload as encoding/json writes it
}

// A RunInfo says which run of the program fired the point.
type RunInfo struct {
	ID     string            `json:"id,omitempty"`     // see [hookkit.AnyRun]; "" if the program fired without a run
	Parent string            `json:"parent,omitempty"` // the ID of the run that started this one; "" at the root
	Root   string            `json:"root,omitempty"`   // the ID of the topmost run
	Labels map[string]string `json:"labels,omitempty"` // of its environment, see [Labeler]; nil for none
}

// A Labeler is an environment that names the context of a run, for example its conversation, user and tenant. The
// labels travel in every request and are in every record.
type Labeler interface {
	WireLabels() map[string]string
}

// InfoOf describes a run to other processes. The result is zero for a nil run, and for one without an ID.
func InfoOf(run hookkit.AnyRun) RunInfo {
	if run == nil || run.ID() == "" {
		return RunInfo{}
	}
	env := reflect.ValueOf(run).Elem().FieldByName("Env").Interface()
	return RunInfo{run.ID(), run.Parent(), run.Root(), labelsOf(env)}
}

// labelsOf returns the labels of an environment, or nil.
func labelsOf(env any) map[string]string {
	l, ok := env.(Labeler)
	if v := reflect.ValueOf(env); !ok || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return l.WireLabels()
}

// The decisions of a [Reply] that are not exits.
const (
	Continue = "continue" // the hooks let the act go on
	Replace  = "replace"  // Value is the new payload
	Edit     = "edit"     // Value is the new value of the field that hooks of the point may edit
)

// A Reply is the decision of the hooks of one point. A reply with an Error has no other field.
type Reply struct {
	Decision  string          `json:"decision,omitempty"`  // Continue, Replace, Edit, or the type name of an exit
	Value     json.RawMessage `json:"value,omitempty"`     // of Replace and Edit; or an exit, which may be left out
	Reason    string          `json:"reason,omitempty"`    // for records, with Replace and Edit; exits have their own
	Collected json.RawMessage `json:"collected,omitempty"` // an array, at points that collect
	Error     string          `json:"error,omitempty"`     // the hooks failed, or refused at a point that checks
}

// A Description lists the points that a service answers.
type Description struct {
	Protocol int      `json:"protocol"` // [Protocol]
	Spec     string   `json:"spec"`     // the import path of the spec's package
	Points   []string `json:"points"`   // the points that have hooks or observers, in the order of the spec
}

// A Caller sends requests to one service. Its methods may be called concurrently. They return when the context ends,
// and each transport has a limit on the time and on the size of a reply as well. An error means that no reply came;
// the caller must not send the request again on its own, because the service may have decided already.
//
// If a Caller has a String method, its text is a part of the default name of the hooks.
type Caller interface {
	Describe(ctx context.Context) (Description, error)
	Call(ctx context.Context, request Request) (Reply, error)
}

// A Handler answers the requests of one service. Generated code has a function Serve that returns one. Its methods may
// be called concurrently. A request that cannot be answered gets a Reply with an Error, so Call returns an error only
// if the transport must not reply at all.
type Handler interface {
	Caller
}
