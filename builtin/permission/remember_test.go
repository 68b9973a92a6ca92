package permission_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestRememberIgnoresLateAnswers(t *testing.T) {
	asked := 0
	slow := fixture.ApproverFunc(func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
		if asked++; asked == 1 {
			<-ctx.Done()
		}
		return agent.Approval{Allow: asked == 1}, nil
	})
	r := &permission.Remember{Approver: slow}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Approve(ctx, agent.Question{})
	if a, err := r.Approve(t.Context(), agent.Question{}); err != nil || a.Allow || asked != 2 {
		t.Errorf("the late approval counts: %+v, %v; asked %d times", a, err, asked)
	}
}
