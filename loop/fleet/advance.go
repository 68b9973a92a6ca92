package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A Next says how an engine continues a run. It is small: the conversation and the questions are in the Log.
type Next struct {
	State State         `json:"state"`           // final: nothing follows; Suspended: wait for answers
	Calls []string      `json:"calls,omitempty"` // give each to Worker.Perform, in any order, and then advance the run
	Pause time.Duration `json:"pause,omitempty"` // before the next Advance, because an agent or a hook refuses to continue
}

// Advance continues a run until its next calls, its next questions, or its end. An engine that has queues, timers and
// retries of its own uses it instead of Run, for example contrib/temporal; the Store then needs no Queue. The state of
// the run is in the Log: hooks that have decided about a call do not fire again, and neither is a reply of the model
// asked for again.
//
// The engine makes one Advance of a run at a time, and none while calls of it are performed. If an attempt is still
// working when the next one begins, it cannot change the run any more. After an error, the engine tries again, also on
// another worker: for example, this one has another release or does not have the agent.
func (w *Worker) Advance(ctx context.Context, run string) (Next, error) {
	if err := w.prepare(); err != nil {
		return Next{}, err
	}
	d := &direct{run: run, token: Token{Queue: time.Now().UnixNano(), Message: 1, Try: 1}}
	c, err := w.claim(ctx, ctx, d)
	if err == nil && c != nil {
		defer c.cancel(nil)
		err = c.try()
	}
	if err != nil {
		return Next{}, fmt.Errorf("fleet: advance run %.70s: %w", run, err)
	}
	now, err := look(ctx, w.Store.Log, run)
	if err != nil {
		return Next{}, fmt.Errorf("fleet: advance run %.70s: %w", run, err)
	}
	next := Next{State: now.state, Pause: d.pause}
	if now.state.Final() || now.state == Suspended {
		return next, nil
	}
	if c == nil {
		return Next{}, fmt.Errorf("fleet: advance run %.70s: this worker cannot continue it; see its log", run)
	}
	for _, c := range now.effects {
		next.Calls = append(next.Calls, c.Key)
	}
	return next, nil
}

// Perform makes one of the calls in Next and records its result. Calls of one run may be performed at the same time, by
// any workers. A call that has a result is not made again. A call that has begun and has no result is made again only
// if its tool is read-only or idempotent; otherwise the next Advance asks a person about it. A run whose call has
// stopped Tries workers is set aside.
func (w *Worker) Perform(ctx context.Context, run, key string) error {
	if err := w.prepare(); err != nil {
		return err
	}
	rec, err := look(ctx, w.Store.Log, run)
	if err == nil {
		err = w.unreadable(rec)
	}
	if err != nil {
		return fmt.Errorf("fleet: perform %.100q of run %.70s: %w", key, run, err)
	}
	at := slices.IndexFunc(rec.effects, func(c call) bool { return c.Key == key })
	if at < 0 || rec.cancel || rec.state.Final() || rec.state == Suspended || !rec.needs(key) {
		return nil
	}
	c := w.newClaim(ctx, ctx, &direct{run: run}, rec)
	defer c.cancel(nil)
	c.writer.key = key
	if tries := rec.begunBy(key); len(tries) >= w.tries() {
		return c.setAside(tries)
	}
	a := w.Agents[rec.task.Agent]
	if a == nil || w.otherHooks(rec) {
		return fmt.Errorf("fleet: perform %.100q of run %.70s: this worker does not have the agent %.100q with the hooks "+
			"%.100q", key, run, rec.task.Agent, rec.hooks)
	}
	j := newJournal(c)
	j.only = key
	req := request(rec, j)
	req.Continue = func(run string, call agent.ToolCallRequest) bool { return j.keyOf(run, call) == key }
	_, err = a.Do(c.ctx, req)
	if err == nil || errors.Is(err, loop.ErrSuspended) {
		err = errors.New("the agent does not make it: its tool or a hook has changed")
	}
	switch {
	case errors.Is(j.why, ErrTooLarge):
		return c.end(Result{State: Failed, Err: j.why.Error()})
	case j.made || c.writer.isLost(): // or another attempt has begun the call
		return nil
	}
	return fmt.Errorf("fleet: perform %.100q of run %.70s: %w", key, run, errors.Join(j.why, err, ctx.Err()))
}

// needs reports whether a call is still to be made, or its hooks have still to return.
func (r *record) needs(key string) bool { return r.made[key] == nil && r.doubt(key) == nil }

// begunBy returns the workers that have begun a call and have not recorded its result.
func (r *record) begunBy(key string) (workers []string) {
	for _, c := range r.calls {
		if c.Key == key && !c.void && c.outcome == nil {
			workers = append(workers, c.worker)
		}
	}
	return workers
}

// keyOf returns the key of a call of the run, or of a run that it has started.
func (j *journal) keyOf(run string, call agent.ToolCallRequest) string {
	key := fmt.Sprintf("%d.%s", call.Step, call.ID)
	if run != j.rec.id {
		key = run + "." + key
	}
	return key
}

// dispatch gives back the result of a call that was made for the engine, makes the one to perform with its hooks of
// AroundTool, or leaves the call to the engine. A call of a sub-agent is made in each part, and the engine makes those
// inside it. The calls of a run that another tool has started are parts of its call.
func (j *journal) dispatch(
	ctx context.Context, run *agent.Run, req agent.ToolCallRequest, fire func() (loop.Made, bool),
) (made loop.Made, waits bool) {
	schema, _ := run.Env.Tools.Lookup(req.Name)
	key := j.keyOf(run.ID(), req)
	switch {
	case isSubagent(schema), ctx.Value(unitKey{}) != nil:
		return fire()
	case j.only == "":
		j.mu.Lock()
		defer j.mu.Unlock()
		j.used[key]++
		if o := j.rec.made[key]; o != nil {
			j.replayed++
			return loop.Made{Result: o.Result, StopRun: o.StopRun}, false
		}
		j.wanted = append(j.wanted, call{
			Key: key, Unit: key, Request: req, Agent: run.Env.Agent, Repeatable: schema.ReadOnly || schema.Idempotent,
		})
	case j.only == key:
		if made, waits = fire(); waits {
			made.Result = agent.ToolCallResult{Status: agent.CallFailed, Kind: agent.FailTool, NoRetry: true,
				Err: "the call wants to wait, and only calls inside a sub-agent can"}
		}
		if ctx.Err() == nil {
			o := &outcome{Key: key, Result: made.Result, StopRun: made.StopRun, Final: true}
			j.made = j.write(event{Kind: finished, Outcome: o}) == nil
		}
	}
	return made, true
}

// isSubagent reports whether an engine makes the calls inside a call, and not the call itself.
func isSubagent(s agent.ToolSchema) bool { return s.Concurrent && !s.ReadOnly }

// direct is the delivery of a run that an engine has chosen.
type direct struct {
	run   string
	token Token
	pause time.Duration
}

func (d *direct) Run() string                 { return d.run }
func (d *direct) Token() Token                { return d.token }
func (d *direct) Renew(context.Context) error { return nil }
func (d *direct) Done(context.Context) error  { return nil }
func (d *direct) Return(_ context.Context, after time.Duration) error {
	d.pause = after
	return nil
}

// noQueue is the queue of an engine that has its own.
type noQueue struct{}

func (noQueue) Put(context.Context, string) error             { return nil }
func (noQueue) Take(context.Context) (Delivery, error)        { return nil, ErrNotFound }
func (noQueue) Runs(context.Context) (map[string]bool, error) { return nil, nil }
func (noQueue) Lifetime() time.Duration                       { return 0 }
