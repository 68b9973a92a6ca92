package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
)

// A journal is the hook of one claim. It records the replies of the model, the calls of tools and the steps of a run,
// and gives a continued run the records of the workers before.
//
// It is bound to the innermost layer of the run. At an around point it therefore sees each attempt that the agent's own
// hooks make, and a recorded attempt is given back to the same hooks.
type journal struct {
	*claim
	accounts []Account
	engine   loop.Dispatch // makes the calls, see Worker.Advance; nil: the worker does
	only     string        // the key of the only call to make; "" in Advance
	made     bool          // that call has its result; only its own goroutine uses it

	kept []agent.Message // the conversation at the last saved step; only the goroutine of the run uses it
	step int             // the last saved step; likewise

	mu       sync.Mutex
	why      error          // the run cannot go on here
	used     map[string]int // recorded attempts that were given back, by key
	late     []outcome      // results that came after the claim was lost
	wanted   []call         // that the engine is to make
	replayed int
}

func newJournal(c *claim) *journal {
	j := &journal{
		claim: c, accounts: c.w.accounts(c.rec.task), kept: c.rec.messages, step: c.rec.step(), used: make(map[string]int),
	}
	if _, engine := c.d.(*direct); engine {
		j.engine = j.dispatch
	}
	return j
}

// Bind adds the hook to its points.
func (j *journal) Bind(h *agent.Hooks) {
	name := hookkit.Named("fleet")
	h.ShouldStop.Add(agent.ShouldStopFunc(j.shouldStop), name)
	h.BeforeLLM.Add(agent.BeforeLLMFunc(j.beforeLLM), name)
	h.AroundLLM.Add(agent.AroundLLMFunc(j.aroundLLM), name)
	h.AfterLLM.ObserveFunc(j.afterLLM, name)
	h.AroundTool.Add(agent.AroundToolFunc(j.aroundTool), name)
}

func isRoot(run *agent.Run) bool { return run.Parent() == "" }

// because notes why the run cannot go on here. The first reason counts.
func (j *journal) because(why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.why == nil {
		j.why = why
	}
}

// stop ends the run in the middle of its step.
func (j *journal) stop(why error) {
	j.because(why)
	j.cancel(why)
}

// stopAfter ends the run after its step.
func (j *journal) stopAfter(why error) ([]agent.EndRun, error) {
	j.because(why)
	return []agent.EndRun{{Cause: agent.CauseUserRequested, Message: why.Error()}}, nil
}

// errHandedBack ends a run that another worker continues.
var errHandedBack = errors.New("the worker gives the run back")

// A refusal ends a run because a call of its current step was made, and is refused since.
type refusal struct {
	tool string
	step int
}

func (r *refusal) Error() string {
	return fmt.Sprintf("step %d cannot be continued: the call of %.100q was made, and a hook or the agent refuses it "+
		"since", r.step, r.tool)
}

// write appends an event, and ends the run if that fails. After a lost claim the run is not cancelled, so that a call
// that is being made can return its result.
func (j *journal) write(e event) error {
	err := j.writer.append(j.hard, e)
	if err != nil && !errors.Is(err, errLost) {
		j.stop(fmt.Errorf("the event %s cannot be recorded: %w", e.Kind, err))
	}
	return err
}

// shouldStop saves the completed step, and ends the run if its worker wants to stop.
func (j *journal) shouldStop(_ context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if !isRoot(run) || step.Done {
		return nil, nil
	}
	if step.Number > j.step {
		if refused := j.unused(); refused != nil {
			return j.stopAfter(refused)
		}
		if err := j.save(run, step.Number); err != nil {
			return nil, err
		}
	}
	if j.writer.isLost() {
		return nil, errLost
	}
	if j.drain.Err() != nil {
		return j.stopAfter(errHandedBack)
	}
	return nil, nil
}

// unused returns the refusal of a recorded call whose result was not given back, or nil.
//
// For example, a call was made and its worker was killed. In the repeated step, the service of a hook cannot be
// reached, so the call is refused. The model would read that it was not made, and would make it again with another
// call. So the step is not saved, and the run is given back until the hooks let the call pass.
func (j *journal) unused() *refusal {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.rec.calls {
		if c.Key == c.Unit && !c.void && c.outcome != nil && !c.Repeatable && j.used[c.Key] == 0 {
			return &refusal{c.Request.Name, j.rec.step() + 1}
		}
	}
	return nil
}

// save records a completed step.
func (j *journal) save(run *agent.Run, step int) error {
	messages := run.Env.Conversation.Messages()
	c := run.Env.Count()
	p := &progress{Counters: loop.Resume{
		Steps: c.Step, ModelCalls: c.ModelCalls, ToolCalls: c.ToolCalls, Tools: c.Tools, Usage: c.Usage, Elapsed: c.Elapsed,
		Rejections: c.Rejections,
	}, Messages: messages}
	kept := len(j.kept)
	same := func(a, b agent.Message) bool { return reflect.DeepEqual(a, b) }
	// For example, the conversation was compacted since.
	if p.Whole = len(messages) < kept || !slices.EqualFunc(messages[:kept], j.kept, same); !p.Whole {
		p.Messages = messages[kept:]
	}
	if err := j.write(event{Kind: saved, Progress: p}); err != nil {
		return err
	}
	j.kept, j.step = messages, step
	return nil
}

// recorded returns the recorded reply of a step, or nil.
func (j *journal) recorded(run *agent.Run, step int) *agent.LLMResponse {
	if r := j.rec.reply; isRoot(run) && r != nil && r.Step == step {
		return &r.Response
	}
	return nil
}

// beforeLLM answers a request with the recorded reply.
func (j *journal) beforeLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest,
) (agent.BeforeLLMOutcome, error) {
	if j.writer.isLost() {
		return nil, errLost
	}
	// For example, the tool was removed, and the run would continue with the next step.
	if j.only != "" && ctx.Value(unitKey{}) == nil {
		return nil, errors.New("the call cannot be made any more")
	}
	if r := j.recorded(run, req.Step); r != nil {
		return agent.UseReply{Response: r.Clone(), Reason: "recorded by " + j.rec.worker}, nil
	}
	return nil, nil
}

// afterLLM records a reply as the model or another hook has given it, before the hooks of AfterLLM change it.
func (j *journal) afterLLM(_ context.Context, run *agent.Run, f agent.AfterLLMFired[agent.LLMResponse]) {
	if !isRoot(run) {
		return
	}
	got := f.Payload
	if r := j.recorded(run, got.Step); r == nil {
		_ = j.write(event{Kind: replied, Reply: &reply{Step: got.Step, Response: got.Clone()}}) // it has ended the run
	} else if !sameReply(*r, got) {
		j.stop(fmt.Errorf("a hook has answered step %d again, with another reply than the recorded one", got.Step))
	}
}

// asStored returns a value as the log gives it back. JSON changes spaces in arguments, and bytes that are not UTF-8.
func asStored[T any](v T) (stored T) {
	data, err := json.Marshal(v)
	if err != nil || json.Unmarshal(data, &stored) != nil {
		return v
	}
	return stored
}

// sameReply reports whether a reply has the same text and calls as a recorded one.
func sameReply(a, b agent.LLMResponse) bool {
	if a.Content != asStored(b.Content) || len(a.ToolCalls) != len(b.ToolCalls) {
		return false
	}
	for i, c := range a.ToolCalls {
		if d := asStored(b.ToolCalls[i]); c.ID != d.ID || !c.Same(d) {
			return false
		}
	}
	return true
}

// aroundLLM makes a call of the model within the accounts of the task.
func (j *journal) aroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (none hookkit.Answer[agent.LLMResponse], _ error) {
	if j.writer.isLost() {
		return none, errLost
	}
	if len(j.accounts) == 0 {
		return next.Call(ctx, req)
	}
	prices, bank := j.w.Prices, j.w.bank
	h := hold{ID: j.rec.id + "/" + rand.Text()}
	if req.MaxTokens <= 0 && bounds(j.accounts, limitsTokens) {
		req.MaxTokens = cmp.Or(j.w.MaxReply, DefaultReply)
	}
	var known bool
	if h.Amount, known = worstCase(run, req, prices); !known && bounds(j.accounts, limitsCost) {
		err := fmt.Errorf("an account limits the cost, and the price of the model %.100q is unknown; give Worker.Prices one",
			req.Model)
		j.stop(err)
		return none, err
	}
	if err := bank.reserve(j.hard, j.accounts, h); err != nil {
		if errors.Is(err, ErrUnreadable) {
			j.stop(err)
		}
		return none, err
	}
	var (
		answer hookkit.Answer[agent.LLMResponse]
		cost   Amount
		err    = ctx.Err() // the run may have ended while the reservation was made
	)
	if err == nil {
		answer, err = next.Call(ctx, req)
		reply := answer.Value()
		if prices != nil {
			reply.Usage.Cost, _ = prices.Price(req, reply)
		}
		cost = costOf(h.Amount, reply, err)
	}
	if settled := bank.settle(j.hard, j.accounts, h.ID, cost); settled != nil {
		j.stop(fmt.Errorf("the accounts cannot be charged: %w", settled))
	}
	return answer, err
}

type (
	unitKey struct{}
	callKey struct{}
)

// CallKey returns a text that identifies the call that a tool is called for, or "". It is the same when another worker
// makes the call again. A tool passes it to a service that drops a second request with the same key. It is "" outside a
// fleet, and in runs that another run has started, because those begin anew after a crash.
func CallKey(ctx context.Context) string {
	key, _ := ctx.Value(callKey{}).(string)
	return key
}

// aroundTool records a call, or gives back its recorded result.
func (j *journal) aroundTool(
	ctx context.Context, run *agent.Run, req agent.ToolCallRequest, next agent.AroundToolNext,
) (none hookkit.Answer[agent.ToolCallResult], _ error) {
	schema, _ := run.Env.Tools.Lookup(req.Name)
	if j.engine != nil && isSubagent(schema) {
		return next.Call(ctx, req)
	}
	c := call{Request: req, Agent: run.Env.Agent, Key: j.keyOf(run.ID(), req),
		Repeatable: schema.ReadOnly || schema.Idempotent}
	if isRoot(run) || c.Key == j.only {
		c.Unit = c.Key
		if o, err := j.replay(c); o != nil || err != nil {
			return given(o, err)
		}
		ctx = context.WithValue(context.WithValue(ctx, unitKey{}, c.Unit), callKey{}, j.rec.id+"."+c.Key)
	} else {
		if c.Unit, _ = ctx.Value(unitKey{}).(string); c.Unit == "" {
			c.Unit = handoff
		}
		ctx = context.WithValue(ctx, callKey{}, "")
	}
	return j.make(ctx, run, c, next)
}

// make makes a call and records it.
func (j *journal) make(
	ctx context.Context, run *agent.Run, c call, next agent.AroundToolNext,
) (none hookkit.Answer[agent.ToolCallResult], _ error) {
	if err := j.write(event{Kind: begun, Call: &c}); err != nil {
		return none, &agent.ToolError{Kind: agent.FailCancelled, NoRetry: true, StopRun: true, Cause: err}
	}
	answer, err := next.Call(ctx, c.Request)
	tool := new(agent.ToolError)
	if isTool := errors.As(err, &tool); isTool && tool.Kind == agent.FailSuspended ||
		err != nil && ctx.Err() != nil {
		return answer, err // it continues later, or nobody knows whether it was done
	}
	o := outcome{Key: c.Key, Result: answer.Value()}
	if err != nil {
		o = outcome{Key: c.Key, Failed: true, StopRun: tool.StopRun, Result: agent.ToolCallResult{
			Err: err.Error(), Kind: tool.Kind, NoRetry: tool.NoRetry, Output: answer.Value().Output,
		}}
	}
	if wrote := j.write(event{Kind: finished, Outcome: &o}); wrote != nil {
		if errors.Is(wrote, errLost) && isRoot(run) {
			j.mu.Lock()
			j.late = append(j.late, o)
			j.mu.Unlock()
		}
		return none, &agent.ToolError{Kind: agent.FailCancelled, NoRetry: true, StopRun: true, Cause: wrote}
	}
	return answer, err
}

// replay returns the recorded outcome of a call, or nil if it must be made. It fails if the call must not be made.
//
// Suppose that a hook has repeated a failed call, and the second attempt has succeeded. Only the last attempt counts,
// because the recorded error of the first one may not look temporary any more. A hook that repeats the call again gets
// the same outcome, as often as the call was made.
func (j *journal) replay(c call) (*outcome, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var last *attempt
	made := 0
	for i := range j.rec.calls {
		a := &j.rec.calls[i]
		if a.Key != c.Key {
			continue
		}
		if last = a; a.void {
			continue
		}
		if !a.Request.Same(asStored(c.Request)) {
			return nil, &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
				Message: "the call has begun before with another tool or other arguments; it is not made again"}
		}
		if a.outcome != nil {
			made++
		}
	}
	switch {
	case last == nil || last.void:
	case last.outcome != nil && j.used[c.Key] < made:
		j.used[c.Key]++
		j.replayed++
		return last.outcome, nil
	case last.outcome == nil && !last.Repeatable:
		return nil, &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
			Message: "the call has begun before, and nobody knows whether it was done"}
	}
	return nil, nil
}

// given returns a recorded outcome as the tool gave it.
func given(o *outcome, err error) (hookkit.Answer[agent.ToolCallResult], error) {
	switch {
	case err != nil:
		return hookkit.Answer[agent.ToolCallResult]{}, err
	case o.Failed:
		r := o.Result
		return hookkit.Answer[agent.ToolCallResult]{}, &agent.ToolError{
			Kind: r.Kind, Message: r.Err, NoRetry: r.NoRetry, StopRun: o.StopRun,
		}
	}
	return hookkit.Answered(o.Result), nil
}
