package mail

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/hookkit"
)

// Retry is a hook that sends a message once more if the first attempt failed.
type Retry struct{}

// Bind adds the hook to its point.
func (Retry) Bind(h *Hooks) { h.AroundSend.Add(Retry{}) }

// AroundSend calls next, and again if that failed.
func (Retry) AroundSend(
	ctx context.Context,
	run *Run,
	m Message,
	next AroundSendNext,
) (hookkit.Answer[Receipt], error) {
	answer, err := next.Call(ctx, m)
	if err != nil {
		fmt.Println("again, for", err)
		return next.Call(ctx, m)
	}
	return answer, nil
}
