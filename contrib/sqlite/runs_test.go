package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestRunsConform(t *testing.T) {
	looptest.CheckRunStore(t, func(t *testing.T) agent.RunStore { return session.Runs{Store: Store{newDB(t)}} })
}

func asks(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	return agent.Ask{}, nil
}

// later is an approver whose answer comes later.
type later struct{}

func (later) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// TestOneOfManyConnectionsAnswers: processes that have the file open answer the question of a run at the same moment.
// One of them continues the run, and the payment is made once.
func TestOneOfManyConnectionsAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	clerk := func(turns ...looptest.Turn) (*loop.Agent, *looptest.Tool) {
		pay := &looptest.Tool{Name: "pay"}
		return &loop.Agent{
			Model: looptest.NewScript(turns...), Tools: []agent.Tool{pay}, Approver: later{},
			Hooks: loop.Hooks(agent.OnPermissionFunc(asks)), Runs: session.Runs{Store: Store{reopen(t, path)}},
		}, pay
	}
	first, _ := clerk(looptest.Call("pay", nil))
	result, err := first.Run(t.Context(), "pay")
	if !errors.Is(err, loop.ErrSuspended) {
		t.Fatal(err)
	}
	answer := loop.AnswerTo(result.Suspended.Questions[0], agent.Approval{Allow: true})
	var processes sync.WaitGroup
	errs, payments := make(chan error, 6), make(chan int, 6)
	for range cap(errs) {
		a, pay := clerk(looptest.Reply("paid"))
		processes.Go(func() {
			_, err := a.Answer(t.Context(), result.Suspended.Run, answer)
			errs <- err
			payments <- pay.Count()
		})
	}
	processes.Wait()
	close(errs)
	close(payments)
	ended, paid := 0, 0
	for err := range errs {
		switch {
		case err == nil:
			ended++
		case !errors.Is(err, loop.ErrNotStarted),
			!errors.As(err, new(*agent.RunTaken)) && !errors.As(err, new(*agent.NotFound)):
			t.Error(err)
		}
	}
	for n := range payments {
		paid += n
	}
	if left, err := first.Runs.List(t.Context()); ended != 1 || paid != 1 || len(left) != 0 || err != nil {
		t.Errorf("%d processes ended the run and paid %d times; stored %+v, %v", ended, paid, left, err)
	}
}
