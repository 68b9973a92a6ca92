package agentspec

import (
	"context"
	"encoding/json"
	"fmt"
)

type (
	progressKey struct{}
	runKey      struct{}
)

// WithRun returns a context that knows the identity of the run in which a model or a tool is called.
func WithRun(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, runKey{}, id)
}

// RunID returns the identity of the run in which a model or a tool is called, "" outside a run.
func RunID(ctx context.Context) string {
	id, _ := ctx.Value(runKey{}).(string)
	return id
}

// WithProgress returns a context in which [Progress] reports to f. Loops call it for each attempt at a call.
func WithProgress(ctx context.Context, f func(stage string, data json.RawMessage)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress reports, from inside a tool's Call, how far it is. Data is encoded as JSON; what cannot be
// encoded is reported as text. Outside a run, and after the call returned, nothing happens.
func Progress(ctx context.Context, stage string, data any) {
	f, ok := ctx.Value(progressKey{}).(func(string, json.RawMessage))
	if !ok {
		return
	}
	var raw json.RawMessage
	if data != nil {
		encoded, err := json.Marshal(data)
		if err != nil {
			encoded, _ = json.Marshal(fmt.Sprintf("%v (%v)", data, err))
		}
		raw = encoded
	}
	f(stage, raw)
}
