package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A claim is the work of a worker on a run, from its claim to its end, its suspension or its return.
type claim struct {
	w      *Worker
	d      Delivery
	rec    *record
	writer *writer

	hard  context.Context // done when the worker must stop at once
	drain context.Context // done when the worker should stop

	ctx    context.Context         // of the agent; done when the run cannot continue, or when a client cancels it
	cancel context.CancelCauseFunc // of ctx
}

// newClaim returns a claim that has still to begin. Call its cancel at the end.
func (w *Worker) newClaim(hard, drain context.Context, d Delivery, rec *record) *claim {
	c := &claim{w: w, d: d, rec: rec, writer: newWriter(w.Store.Log, w.Clock, rec, w.name), hard: hard, drain: drain}
	c.ctx, c.cancel = context.WithCancelCause(hard)
	c.writer.onCancel = func() { c.cancel(errCancelled) }
	c.writer.report = &w.waits
	return c
}

// begin adds the claim to the log. It fails with ErrUnreadable if this release cannot continue the run.
func (c *claim) begin() error {
	w, rec, token := c.w, c.rec, c.d.Token()
	err := w.unreadable(rec)
	if err == nil {
		err = w.bank.check(c.hard, w.accounts(rec.task), rec.id)
	}
	e := event{Kind: claimed, Claim: &token, Hooks: w.Hooks}
	if err == nil {
		err = c.writer.append(c.hard, e)
	}
	if err != nil {
		return err
	}
	w.stats.claimed.Add(1)
	e.By = w.name
	err = rec.fold(Entry{Number: c.writer.last, Time: rec.changed}, e)
	rec.cancel = rec.cancel || c.writer.cancelled.Load()
	return err
}

// work continues the run and renews the claim meanwhile.
func (c *claim) work() {
	w := c.w
	w.stats.running.Add(1)
	defer w.stats.running.Add(-1)
	defer c.cancel(nil)
	renewing, stop := context.WithCancel(c.hard)
	var renewal sync.WaitGroup
	renewal.Go(func() { c.renew(renewing) })
	err := c.try()
	stop()
	renewal.Wait()
	switch {
	case errors.Is(err, errLost):
		w.stats.lost.Add(1)
		w.Logger.Info("fleet: another worker has taken the run", "worker", w.name, "run", c.rec.id)
	case err != nil && c.hard.Err() == nil:
		w.failed("the run could not be finished; another claim continues it", err, "run", c.rec.id)
	}
}

// renew renews the claim until ctx is done, and looks for events of clients and of other workers.
func (c *claim) renew(ctx context.Context) {
	for c.w.Clock.Sleep(ctx, c.w.Store.Queue.Lifetime()/3) == nil {
		if err := c.writer.sync(ctx); errors.Is(err, errLost) {
			return
		}
		if err := c.d.Renew(ctx); err != nil && ctx.Err() == nil {
			c.w.failed("the claim is not renewed", err, "run", c.rec.id)
		}
	}
}

// try runs the agent and records how that ended, unless the log says that the run has to end or to wait.
func (c *claim) try() error {
	w, rec := c.w, c.rec
	accounts := w.accounts(rec.task)
	if rec.claims > 1 {
		if err := w.bank.absorb(c.hard, accounts, rec.id); err != nil {
			return err
		}
	}
	a := w.Agents[rec.task.Agent]
	switch {
	case rec.cancel:
		return c.end(Result{State: Cancelled, Err: errCancelled.Error()})
	case rec.stopped != "":
		return c.end(Result{State: Done, Cause: agent.CauseStopRequested, Message: rec.stopped})
	case len(rec.tries) > w.tries(): // the last one is this claim
		return c.setAside(rec.tries[:len(rec.tries)-1])
	case a == nil:
		return c.end(Result{State: Failed, Err: fmt.Sprintf("no worker has the agent %.100q", rec.task.Agent)})
	}
	if doubts := rec.doubts(); len(doubts) > 0 {
		return c.suspend(event{Kind: suspended, Doubts: doubts})
	}
	j := newJournal(c)
	result, err := a.Do(c.ctx, request(rec, j))
	w.stats.replayed.Add(int64(j.replayed))
	w.stats.steps.Add(int64(j.step - rec.step()))
	return c.settle(j, result, err)
}

// request returns the request that continues a run.
func request(rec *record, j *journal) loop.Request {
	use := []agent.Hook{j}
	if rec.suspension != nil && (len(rec.answers) > 0 || len(rec.effects) > 0) {
		return loop.Request{Suspended: rec.suspension, Answers: rec.answers, Use: use, Dispatch: j.engine}
	}
	t := rec.task
	req := loop.Request{
		ID: t.ID, Task: t.Text, Parts: t.Parts, Messages: t.Messages, Conversation: t.Conversation, User: t.User,
		Tenant: t.Tenant, Seed: t.Seed, Data: t.Data, Resume: rec.counters, Use: use,
		Dispatch: j.engine,
	}
	if len(rec.messages) > 0 { // they contain the task
		req.Task, req.Parts, req.Messages = "", nil, rec.messages
	}
	return req
}

// settle records how the agent ended.
func (c *claim) settle(j *journal, result agent.AgentResult, err error) error {
	j.mu.Lock()
	why, late := j.why, j.late
	j.mu.Unlock()
	refused := new(refusal)
	switch {
	case c.writer.isLost():
		return errors.Join(errLost, c.report(late))
	case c.hard.Err() != nil: // the step is given up
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.hard), giveUp)
		defer cancel()
		return c.release(ctx)
	case errors.Is(context.Cause(c.ctx), errCancelled):
		return c.end(c.resultOf(result, Cancelled, errCancelled.Error()))
	case errors.Is(why, errHandedBack), errors.Is(why, ErrUnreadable): // an account; the next claim leaves the run
		return c.release(c.hard)
	case errors.As(why, &refused):
		return c.postpone(refused.Error())
	case why != nil:
		return c.end(c.resultOf(result, Failed, why.Error()))
	case result.Suspended != nil:
		if refused := j.unused(); refused != nil { // a hook asks about a call that was made before
			return c.postpone(refused.Error())
		}
		return c.suspend(event{Kind: suspended, Suspension: result.Suspended, Calls: j.wanted})
	case errors.Is(err, loop.ErrNotStarted) && c.rec.suspension != nil: // its answers are not lost
		return c.postpone("the agent cannot continue: " + err.Error())
	case errors.As(err, new(*loop.StoppedError)):
	case err != nil:
		made := c.resultOf(result, Failed, err.Error())
		if errors.Is(err, ErrSpent) {
			made.Cause = agent.CauseTokenLimit
		}
		return c.end(made)
	}
	return c.end(c.resultOf(result, Done, ""))
}

func (c *claim) resultOf(r agent.AgentResult, state State, err string) Result {
	return Result{
		State: state, Err: err, Reply: r.Reply, Cause: r.Stop.Cause, Message: r.Stop.Message, Steps: r.Steps,
		ModelCalls: r.ModelCalls, ToolCalls: c.rec.counters.ToolCalls + len(r.Calls), Usage: r.Usage,
	}
}

// setAside ends a run that has stopped its workers again and again.
func (c *claim) setAside(tries []string) error {
	return c.end(Result{State: SetAside, Err: fmt.Sprintf(
		"the run is set aside: %d workers stopped without progress after step %d (%s)", len(tries), c.rec.step(),
		strings.Join(tries, ", "))})
}

// end records the result of the run and removes it from the queue.
func (c *claim) end(result Result) error {
	result.Worker, result.Claims = c.w.name, c.rec.claims
	if saved := c.rec.counters; result.Steps == 0 { // the agent was not asked again
		result.Steps, result.ModelCalls, result.ToolCalls = saved.Steps, saved.ModelCalls, saved.ToolCalls
		result.Usage = saved.Usage
	}
	err := c.writer.append(c.hard, event{Kind: ended, Result: &result})
	if errors.Is(err, ErrTooLarge) {
		result.State = Failed
		result.Err = fmt.Sprintf("the result cannot be stored: its reply has %d bytes", len(result.Reply))
		result.Reply, result.Message = "", ""
		err = c.writer.append(c.hard, event{Kind: ended, Result: &result})
	}
	if err != nil {
		return err
	}
	s := &c.w.stats
	switch result.State {
	case Done:
		s.done.Add(1)
	case SetAside:
		s.setAside.Add(1)
		c.w.Logger.Error("fleet: a run is set aside", "worker", c.w.name, "run", c.rec.id, "error", result.Err)
	default:
		s.failed.Add(1)
	}
	return c.d.Done(c.hard)
}

// suspend records that the run waits, and removes it from the queue.
func (c *claim) suspend(e event) error {
	err := c.writer.append(c.hard, e)
	if errors.Is(err, ErrTooLarge) {
		return c.end(Result{State: Failed, Err: "the state of the suspended run cannot be stored: " + err.Error()})
	}
	if err != nil {
		return err
	}
	if c.writer.cancelled.Load() { // so the run does not wait, and the next claim ends it
		return c.d.Return(c.hard, 0)
	}
	c.w.stats.suspended.Add(1)
	return c.w.doneSuspended(c.hard, c.d, c.writer.position())
}

// giveUp limits the time in which a run is given back whose worker has to stop at once.
const giveUp = 2 * time.Second

// release gives the run back after a saved step.
func (c *claim) release(ctx context.Context) error {
	if err := c.writer.append(ctx, event{Kind: released}); err != nil {
		return err
	}
	c.w.stats.released.Add(1)
	return c.d.Return(ctx, 0)
}

// maxPostponed is how often in a row a run is given back because its hooks refuse a call that was made before, or
// because its agent refuses to continue it. The pauses double from a second to a minute. For example, the next worker
// has an older version of the agent while a new one is installed.
const maxPostponed = 12

// postpone gives the run back for a while, without the current step.
func (c *claim) postpone(reason string) error {
	n := c.rec.postponed
	if n >= maxPostponed {
		return c.end(Result{State: Failed, Err: reason})
	}
	if err := c.writer.append(c.hard, event{Kind: released, Reason: reason}); err != nil {
		return err
	}
	c.w.stats.released.Add(1)
	return c.d.Return(c.hard, min(time.Second<<n, time.Minute))
}

// report answers the questions about calls whose results came after the claim was lost. For example, the server was
// gone for a minute, and another worker has taken the run while the tool was working. That worker cannot know the
// result and asks whether the call was made. This worker knows it.
func (c *claim) report(late []outcome) error {
	if len(late) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(c.drain)
	defer cancel()
	client := NewClient(c.w.Store)
	client.Name = c.w.name
	for wait := firstWait; wait < lateWait; wait *= 2 {
		status, err := client.Status(ctx, c.rec.id)
		if err == nil && status.State.Final() {
			return nil
		}
		var answers []Answer
		for _, q := range status.Questions {
			for _, o := range late {
				if q.Doubt && q.Reason == o.Key {
					a := Decide(q, agent.Approval{By: c.w.name, Reason: "the result came late"})
					a.Happened = &o.Result
					answers = append(answers, a)
				}
			}
		}
		if len(answers) > 0 {
			return client.Answer(ctx, c.rec.id, answers...)
		}
		if slept := c.w.Clock.Sleep(ctx, wait); slept != nil {
			return slept
		}
	}
	return nil
}

// lateWait bounds the waits for the question about a late result.
const lateWait = 10 * time.Second
