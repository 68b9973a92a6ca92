package loop

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A batch carries the tool calls of one reply to their results.
type batch struct {
	r     *run
	calls []*call

	results     []agent.ToolCallResult // one per call, in memory that no hook can reach
	copies      []agent.ToolCallResult // copies for AfterTool and then for the other points
	hookResults []agent.ToolCallResult // copies, once all results are known

	cut  bool  // the model reached a limit before the last call was complete
	last *call // the call that hands over or finishes, run after the others; may be nil

	to   *Agent // the agent that takes over after the batch; nil: no handoff
	task string // the task for to
	seed uint64 // the seed of the run of to
}

// A call is one tool call of a batch.
type call struct {
	req        agent.ToolCallRequest // as edited by the hooks so far, in memory that no hook can reach
	shared     json.RawMessage       // the copy of the arguments that hooks received last
	number     int                   // in the reply, from 1
	duplicate  string                // the id from the model, if another call of the reply has the same
	fired      bool                  // BeforeTool has fired, so AfterTool is due
	settled    bool                  // AfterTool has fired or is not due
	stopsRun   bool                  // the tool asked to stop the run
	entry      *entry                // of the table, once the call is permitted
	to         *Agent                // the target of a handoff
	task       string                // the task for to
	result     *agent.ToolCallResult // nil: not known yet
	slot       *agent.ToolCallResult // storage of result
	shown      *agent.ToolCallResult // the copy for hooks, in copies of the batch; AfterTool may replace it
	flight     flight
	dispatcher *dispatcher // of a call in another goroutine
	failed     error       // of a hook that judged the call
	changed    string      // says for the model which arguments ran, if they are not those that it sent

	ask      *asked          // a person is to be asked, once the calls before have returned; nil: not
	question *agent.Question // the question that a person has not answered yet; nil: none
	skip     *savedSkip      // with ask or question: the result that a hook gave instead of the tool
	spawned  []savedSpawn    // the runs that the call had started when the run was suspended
	waits    bool            // one of spawned is suspended, or the call is deferred
	deferred bool            // a tool or a hook wants to be called again when the run is resumed
}

// give sets the result of the call.
func (c *call) give(result agent.ToolCallResult) {
	*c.slot = result
	c.slot.Call = c.req
	c.result = c.slot
}

// forHooks returns a copy of the call for hooks. The arguments are copied once and not for each point. A hook that
// changes them in place affects only later hooks, never the tool.
func (c *call) forHooks() agent.ToolCallRequest {
	if !bytes.Equal(c.shared, c.req.Args) {
		c.shared = slices.Clone(c.req.Args)
	}
	req := c.req
	req.Args = slices.Clip(c.shared)
	return req
}

// resultForHooks returns a copy of the result for hooks.
func (c *call) resultForHooks() agent.ToolCallResult {
	result := *c.slot
	result.Call = c.forHooks()
	result.Parts, result.Warnings = agentspec.CloneParts(result.Parts), slices.Clone(result.Warnings)
	result.Context = slices.Clone(result.Context)
	return result
}

// newBatch returns the batch of a reply. It works on calls; record is the copy that hooks cannot reach.
func (r *run) newBatch(calls, record []agent.ToolCallRequest, duplicates []string) *batch {
	b := r.emptyBatch(len(calls))
	for i, c := range b.calls {
		c.req, c.shared = record[i], calls[i].Args
		if duplicates != nil {
			c.duplicate = duplicates[i]
		}
	}
	return b
}

// emptyBatch returns a batch of n calls that have neither a request nor a result.
func (r *run) emptyBatch(n int) *batch {
	b := &batch{
		r: r, calls: make([]*call, n), results: make([]agent.ToolCallResult, n), copies: make([]agent.ToolCallResult, n),
	}
	all := make([]call, n)
	for i := range all {
		all[i].number, all[i].slot, all[i].shown = i+1, &b.results[i], &b.copies[i]
		b.calls[i] = &all[i]
	}
	return b
}

// run gives every call a result and answers the calls in the stored conversation, unless the run is suspended. again
// says that the calls were decided before the run was suspended.
func (b *batch) run(again bool) {
	r := b.r
	r.open = nil
	defer func() {
		if !r.suspended {
			b.close()
		}
	}()
	if again {
		b.decideAgain()
	} else {
		b.decide()
	}
	if !r.state.over() {
		b.dispatch()
	}
	if b.suspend() {
		return
	}
	if r.state.over() {
		b.abandon()
	}
	b.afterAll(b.calls)
	if b.last != nil && !r.state.over() {
		b.finish(b.last)
	}
}

// close answers every call. It runs also after a panic. Calls without a result are marked as not run.
func (b *batch) close() {
	defer b.answer()
	b.abandon()
	b.settle(b.calls)
}

// settle fires AfterTool for the calls for which it is due, even if a hook ends the goroutine with runtime.Goexit.
func (b *batch) settle(calls []*call) {
	for len(calls) > 0 && (calls[0].settled || !calls[0].fired) {
		calls = calls[1:]
	}
	if len(calls) > 0 {
		defer b.settle(calls[1:])
		b.after(calls[0])
	}
}

// abandon marks the calls without a result as not run.
func (b *batch) abandon() {
	for _, c := range b.calls {
		if c.result == nil {
			c.markNotRun()
		}
	}
}

// markNotRun sets the result of a call that was not dispatched.
func (c *call) markNotRun() {
	c.give(agent.ToolCallResult{
		Status: agent.CallUnrun, Kind: agent.FailRunEnded, NoRetry: true, Err: "not run: the run ended before this call",
	})
}

// refuse sets the result of a call that a check or a hook refused.
func (c *call) refuse(status agent.CallStatus, err *agent.ToolError, by, reason string) {
	c.give(agent.ToolCallResult{
		Status: status, Kind: err.Kind, Err: err.Error(), NoRetry: err.NoRetry, By: by, Reason: reason,
	})
}

// afterAll fires AfterTool for calls in call order, except for the one that hands over or finishes.
func (b *batch) afterAll(calls []*call) {
	for _, c := range calls {
		if c != b.last {
			b.after(c)
		}
	}
}

// after fires AfterTool for a call, once.
func (b *batch) after(c *call) {
	if c.settled || !c.fired {
		return
	}
	c.settled = true
	r := b.r
	if status := c.slot.Status; c.changed != "" && status != agent.CallRefused && status != agent.CallUnrun {
		c.slot.Context = append(slices.Clip(c.slot.Context), c.changed)
	}
	was := *c.slot
	*c.shown = c.resultForHooks()
	var (
		exit     agent.AfterToolExit
		by       hookkit.By
		err      error
		returned bool
	)
	defer func() {
		if !returned { // a hook ended the goroutine with runtime.Goexit
			err = &PanicError{What: "a hook"}
		}
		if err != nil {
			c.withhold(was, by, err)
		}
	}()
	exit, by, err = r.hooks.AfterTool.FireBy(r.cleanupCtx, r.hookRun, c.shown)
	returned = true
	if err != nil {
		return
	}
	if by != (hookkit.By{}) {
		c.give(r.fixResult(*c.shown, was, by))
	}
	if end, ok := exit.(agent.EndTurn); ok {
		r.endTurn(end, by, false)
	}
}

// withhold replaces the result of a call, because a hook of AfterTool failed that might have changed it.
func (c *call) withhold(was agent.ToolCallResult, by hookkit.By, err error) {
	status := was.Status
	if was.Err == "" {
		status = agent.CallFailed
	}
	c.give(agent.ToolCallResult{
		Status: status, Kind: agent.FailHook, Elapsed: was.Elapsed, Attempts: was.Attempts,
		Err: "the result is withheld: " + forModel(err), By: orElse(was.By, by.Hook), Reason: orElse(was.Reason, by.Reason),
	})
}

// fixResult returns the result that the hook by of AfterTool returned, with the fields that only the loop may set
// restored.
func (r *run) fixResult(left, was agent.ToolCallResult, by hookkit.By) agent.ToolCallResult {
	r.warnOwned("AfterTool", by,
		ownedField("Call.ID", left.Call.ID, was.Call.ID),
		ownedField("Call.Step", left.Call.Step, was.Call.Step),
		owned{"Call.Args", left.Call.Args != nil && !bytes.Equal(left.Call.Args, was.Call.Args)},
		ownedField("Status", left.Status, was.Status), ownedField("Elapsed", left.Elapsed, was.Elapsed),
		ownedField("Attempts", left.Attempts, was.Attempts), ownedField("By", left.By, was.By),
		ownedField("Reason", left.Reason, was.Reason), owned{"Err", left.Err == "" && was.Err != ""})
	fixed := was
	fixed.Output, fixed.Err, fixed.Kind, fixed.NoRetry = left.Output, left.Err, left.Kind, left.NoRetry
	fixed.Parts, fixed.Warnings = agentspec.CloneParts(left.Parts), warnings(left.Warnings)
	fixed.Context = contexts(left.Context)
	switch {
	case left.Err == "" && was.Err != "":
		fixed.Err, fixed.Kind = was.Err, was.Kind
	case left.Err != "" && was.Err == "":
		fixed.Status, fixed.By, fixed.Reason = agent.CallFailed, by.Hook, by.Reason
		if left.Kind == "" {
			fixed.Kind = agent.FailRejected
		}
	}
	return fixed
}

// counted returns the name of the tool for which the call counts, or "".
func (c *call) counted() string {
	switch {
	case c.slot.Status == agent.CallRefused, c.slot.Status == agent.CallUnrun, c.slot.Kind == agent.FailUnknown:
		return ""
	}
	return c.req.Name
}

// answer appends the results to the stored conversation and to the run's records, in call order.
func (b *batch) answer() {
	r := b.r
	for _, c := range b.calls {
		*c.shown = c.resultForHooks()
		r.conversation.store(c.shown.Message())
		r.counts.answered(c.counted())
		if r.stream.read() {
			result := c.shown.Clone()
			r.stream.event(Event{Kind: EventResult, Step: c.req.Step, Result: &result})
		}
	}
	b.hookResults = b.copies
	r.results, r.hookResults = append(r.results, b.results), append(r.hookResults, b.hookResults)
}
