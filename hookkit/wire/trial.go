package wire

import "context"

type trialKey struct{}

// WithTrial returns a context for fires whose decisions count for nothing. [Replay] and [Shadow] of package hooklog
// use it. Remote hooks send the mark to their service.
//
// [Replay]: https://pkg.go.dev/github.com/hookgen/hookgen/hookkit/hooklog#Replay
// [Shadow]: https://pkg.go.dev/github.com/hookgen/hookgen/hookkit/hooklog#Shadow
func WithTrial(ctx context.Context) context.Context { return context.WithValue(ctx, trialKey{}, true) }

// IsTrial reports whether the decision of the fire counts for nothing. For example, a hook that charges an account for
// each call that it allows does not charge for a trial.
func IsTrial(ctx context.Context) bool { return ctx.Value(trialKey{}) != nil }

type clientKey struct{}

// WithClient returns the context of a request with the name of the program that sent it. Transports set it, by the best
// that they know: the address, or what their option says. A service bounds what it keeps for each client, so that one
// cannot use the memory of all others.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

// ClientOf returns the name that [WithClient] set, or "".
func ClientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}
