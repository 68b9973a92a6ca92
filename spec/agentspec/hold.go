package agentspec

import "context"

type holdKey struct{}

// WithHold returns a context for a call of the model whose reply nobody may see yet. For example, a guard judges the
// task while the model answers it. The loop shows each piece of the reply when wait has returned nil, and drops it
// after an error. wait gets the context of the call, returns when that is done, and must be safe for concurrent use.
func WithHold(ctx context.Context, wait func(context.Context) error) context.Context {
	outer, _ := ctx.Value(holdKey{}).(func(context.Context) error)
	return context.WithValue(ctx, holdKey{}, func(ctx context.Context) error {
		if outer != nil {
			if err := outer(ctx); err != nil {
				return err
			}
		}
		return wait(ctx)
	})
}

// Hold waits until the pieces of a reply may be shown. Without [WithHold] it returns nil at once.
func Hold(ctx context.Context) error {
	if wait, ok := ctx.Value(holdKey{}).(func(context.Context) error); ok {
		return wait(ctx)
	}
	return nil
}
