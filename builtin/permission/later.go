package permission

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// Later is an approver for answers that come later, perhaps in another process: the run is suspended, and
// loop.Agent.Answer continues it. Notify, if set, sends the question to a person, for example as a mail. An error of it
// denies the call. The zero value is ready to use.
type Later struct {
	Notify func(ctx context.Context, question agent.Question) error
}

// Approve returns an answer that is pending.
func (l Later) Approve(ctx context.Context, question agent.Question) (agent.Approval, error) {
	if l.Notify != nil {
		if err := l.Notify(ctx, question); err != nil {
			return agent.Approval{}, err
		}
	}
	return agent.Approval{Pending: true}, nil
}
