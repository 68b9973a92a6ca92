package wire

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// Protocol is the version of the messages in this package. Both ends send it, and refuse another version.
const Protocol = 1

// A Request asks the hooks of one point for their decision.
type Request struct {
	Protocol int     `json:"protocol"` // [Protocol]
	Spec     string  `json:"spec"`     // the import path of the spec's package
	Point    string  `json:"point"`    // the name of the point
	Run      RunInfo `json:"run"`

	// Trial says that the decision counts for nothing: a record is replayed, or a candidate is compared with the hooks
	// that decide. A service passes it to its hooks in the context, see [IsTrial].
	Trial bool `json:"trial,omitempty"`
	// Wait is how many milliseconds the sender waits. The service gives its hooks no more. 0 means without a limit.
	Wait int64 `json:"wait,omitempty"`
	// Damaged has the paths of texts that are not UTF-8 in the program. U+FFFD is in place of the wrong bytes.
	Damaged []string `json:"damaged,omitempty"`
	// Digest is that of the [Shape] of the point in the program; "" if it has none. A service that generated code made
	// replies with its own, and with its Shape unless the digest is this one or that in Seen.
	Digest string `json:"digest,omitempty"`
	Seen   string `json:"seen,omitempty"` // the digest of another Shape that the program has received

	Payload json.RawMessage `json:"payload"` // as encoding/json writes it; last, so that scripts find it
}

// SetWait sets Wait by the deadline of a context. Transports call it before they send a request.
func (q *Request) SetWait(ctx context.Context) {
	if at, ok := ctx.Deadline(); ok {
		q.Wait = max(1, time.Until(at).Milliseconds())
	}
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
	info := RunInfo{run.ID(), run.Parent(), run.Root(), nil}
	l, ok := reflect.ValueOf(run).Elem().FieldByName("Env").Interface().(Labeler)
	if v := reflect.ValueOf(l); ok && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		info.Labels = l.WireLabels()
	}
	return info
}

// The decisions of a [Reply] that are not exits.
const (
	Continue = "continue" // the hooks let the act go on
	Replace  = "replace"  // Value is the new payload
	Edit     = "edit"     // Value is the new value of the field that hooks of the point may edit
	Patch    = "patch"    // Value is a JSON merge patch (RFC 7396) of the payload, where hooks may replace it
)

// A Reply is the decision of the hooks of one point. A reply with an Error has no other field.
type Reply struct {
	Decision  string          `json:"decision,omitempty"`  // Continue, Replace, Edit, Patch, or the name of an exit
	Value     json.RawMessage `json:"value,omitempty"`     // an exit may be left out
	Reason    string          `json:"reason,omitempty"`    // for records, with Replace and Edit; exits have their own
	Collected json.RawMessage `json:"collected,omitempty"` // an array, at points that collect
	Error     string          `json:"error,omitempty"`     // the hooks failed, or refused at a point that checks

	Digest string `json:"digest,omitempty"` // of the shape in the service, if the request has one; see [Request]
	Shape  *Shape `json:"shape,omitempty"`  // if the program does not know the digest
}

// A Description lists the points that a service answers.
type Description struct {
	Protocol int      `json:"protocol"` // [Protocol]
	Spec     string   `json:"spec"`     // the import path of the spec's package
	Points   []string `json:"points"`   // the points that have hooks or observers, in the order of the spec
	// Shapes has the service's knowledge of its points. It may lack points, or be nil. Each object of a replacement must
	// have every field that was sent, unless the reply has the digest of a shape.
	Shapes map[string]*Shape `json:"shapes,omitempty"`
	// Keys has the points whose hooks are all for some keys only. Fires with other keys are not sent.
	Keys map[string]Keys `json:"keys,omitempty"`
}

// Keys are the keys of a point for which a service wants calls.
type Keys struct {
	Key    string            `json:"key"`    // the name of the key in the spec, for example Tool
	Values []json.RawMessage `json:"values"` // at least one
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
