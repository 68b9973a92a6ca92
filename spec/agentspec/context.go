package agentspec

import (
	"context"
	"encoding/json"
	"fmt"
)

type (
	envKey      struct{}
	identityKey struct{}
	progressKey struct{}
	runKey      struct{}
)

// WithEnv returns a context with the environment of a run. Loops pass it to models and tools.
func WithEnv(ctx context.Context, env *Env) context.Context {
	return WithIdentity(context.WithValue(ctx, envKey{}, env), env.Identity())
}

// EnvOf returns the environment of the run that called a tool, or nil outside a run. For example, a tool that
// summarizes a page calls EnvOf(ctx).Model, whose calls and tokens count towards the run and its limits.
func EnvOf(ctx context.Context) *Env {
	env, _ := ctx.Value(envKey{}).(*Env)
	return env
}

// WithIdentity returns a context with an owner. A program uses it outside a run, to act on a store for that owner; in a
// run, [WithEnv] has named the owner.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns the owner of the run that called a model or a tool, or the zero Identity outside a run.
func IdentityOf(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}

// WithRun returns a context with the identity of a run. Loops pass it to models and tools.
func WithRun(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, runKey{}, id)
}

// RunID returns the identity of the run that called a model or a tool, or "" outside a run.
func RunID(ctx context.Context) string {
	id, _ := ctx.Value(runKey{}).(string)
	return id
}

// WithProgress returns a context in which [Progress] reports to f. Loops call it for each attempt at a call.
func WithProgress(ctx context.Context, f func(stage string, data json.RawMessage)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// Progress reports the progress of a tool from inside its Call. Data is encoded as JSON, or reported as text if
// that fails. It is a no-op outside a run and after the call has returned.
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
