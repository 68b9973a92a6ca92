package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A batch is the tool calls of one reply on their way to results.
type batch struct {
	r     *run
	calls []*call

	results []agent.ToolCallResult // of the calls, in memory that no hook has seen
	shown   []agent.ToolCallResult // the same for hooks, once all are known

	last *call // the one that hands over or finishes, when the others are done; nil if there is none

	to   *Agent // that control goes to when the calls are answered; nil: it stays
	task string // for it
	seed uint64 // of its run
}

// A call is one tool call of a batch.
type call struct {
	req       agent.ToolCallRequest // as the hooks left it so far, in memory that no hook has seen
	shared    json.RawMessage       // the arguments that hooks have seen last
	asked     string                // the tool that the model named
	duplicate string                // the id that the model gave it, if another call of the reply had it
	fired     bool                  // BeforeTool was, so AfterTool is due
	settled   bool                  // AfterTool was, or is not due
	entry     *entry                // to be dispatched, handed over or finished with
	to        *Agent                // that control goes to
	task      string                // for it
	result    *agent.ToolCallResult // nil: not known yet
	slot      *agent.ToolCallResult // the memory of result
	flight    flight
}

// give gives the call its result.
func (c *call) give(result agent.ToolCallResult) {
	*c.slot = result
	c.slot.Call = c.req
	c.result = c.slot
}

// shown returns the call for hooks. A hook that changed the arguments in place gets what it deserves, the others
// and the tool do not.
func (c *call) shown() agent.ToolCallRequest {
	if !bytes.Equal(c.shared, c.req.Args) {
		c.shared = slices.Clone(c.req.Args)
	}
	shown := c.req
	shown.Args = slices.Clip(c.shared)
	return shown
}

// shownResult returns the result for hooks.
func (c *call) shownResult() agent.ToolCallResult {
	shown := *c.slot
	shown.Call = c.shown()
	return shown
}

// identify gives each call of a reply an id of its own, arguments and the step. It returns the ids that the model gave
// to calls that had to get another one, "" for the others; nil if all ids are the model's.
func identify(step int, calls []agent.ToolCallRequest) (duplicates []string) {
	taken := make(map[string]bool, len(calls))
	clash := false
	for i := range calls {
		c := &calls[i]
		c.Step = step
		if len(c.Args) == 0 {
			c.Args = []byte("{}")
		}
		clash = clash || c.ID == "" || taken[c.ID]
		taken[c.ID] = true
	}
	if !clash {
		return nil
	}
	tried := make(map[string]int) // by what the id begins with, so that n calls of one id take n tries
	fresh := func(begin string) string {
		for n := max(tried[begin], 1) + 1; ; n++ {
			if try := fmt.Sprintf("%s%d", begin, n); !taken[try] {
				taken[try], tried[begin] = true, n
				return try
			}
		}
	}
	duplicates = make([]string, len(calls))
	seen := make(map[string]bool, len(calls))
	for i := range calls {
		c := &calls[i]
		switch {
		case c.ID == "":
			c.ID = fresh(fmt.Sprintf("call_%d_%d_", step, i+1))
		case seen[c.ID]:
			duplicates[i] = c.ID
			c.ID = fresh(c.ID + "#")
		}
		seen[c.ID] = true
	}
	return duplicates
}

// newBatch returns the batch of a reply's calls, of which the record has a copy.
func (r *run) newBatch(calls, record []agent.ToolCallRequest, duplicates []string) *batch {
	b := &batch{r: r, calls: make([]*call, len(calls)), results: make([]agent.ToolCallResult, len(calls))}
	all := make([]call, len(calls))
	for i := range calls {
		c := &all[i]
		c.req, c.shared, c.asked, c.slot = record[i], calls[i].Args, calls[i].Name, &b.results[i]
		if duplicates != nil {
			c.duplicate = duplicates[i]
		}
		b.calls[i] = c
	}
	return b
}

// run brings every call of the batch to a result and answers it in the stored conversation.
func (b *batch) run() {
	r := b.r
	defer func() { b.shown = b.answer() }()
	defer func() { // also after a panic: no call stays without a result
		b.abandon()
		for _, c := range b.calls {
			b.after(c)
		}
	}()
	b.decide()
	if !r.state.over() {
		b.dispatch()
	}
	if r.state.over() {
		b.abandon()
	}
	for _, c := range b.calls {
		if c != b.last {
			b.after(c)
		}
	}
	if b.last != nil && !r.state.over() {
		b.finish(b.last)
	}
}

// abandon gives the calls without a result one that says that the run is over.
func (b *batch) abandon() {
	for _, c := range b.calls {
		if c.result == nil {
			c.markNotRun()
		}
	}
}

// markNotRun is the result of a call that was not dispatched.
func (c *call) markNotRun() {
	c.give(agent.ToolCallResult{
		Status: agent.CallUnrun, Kind: agent.FailRunEnded, NoRetry: true, Err: "not run: the run ended before this call",
	})
}

// refuse is the result of a call that does not run.
func (c *call) refuse(status agent.CallStatus, err *agent.ToolError, by, reason string) {
	c.give(agent.ToolCallResult{
		Status: status, Kind: err.Kind, Err: err.Error(), NoRetry: err.NoRetry, By: by, Reason: reason,
	})
}

// after fires AfterTool on a call's result, once.
func (b *batch) after(c *call) {
	if c.settled || !c.fired {
		return
	}
	c.settled = true
	r := b.r
	was := *c.slot
	c.slot.Call = c.shown()
	exit, by, err := r.hooks.AfterTool.FireBy(r.cleanupCtx, r.id, c.slot)
	if err != nil {
		status := was.Status
		if was.Err == "" {
			status = agent.CallFailed
		}
		c.give(agent.ToolCallResult{
			Status: status, Kind: agent.FailHook, Elapsed: was.Elapsed, Attempts: was.Attempts,
			Err: "the result is withheld: " + err.Error(), By: orElse(was.By, by.Hook), Reason: orElse(was.Reason, by.Reason),
		})
		return
	}
	c.give(r.fixResult(*c.slot, was, by))
	switch exit := exit.(type) {
	case nil:
	case agent.EndTurn:
		r.endTurn(exit, by)
	default:
		r.fail("AfterTool", illegal(exit))
	}
}

// fixResult returns a result as AfterTool left it, with the loop's own fields as they were.
func (r *run) fixResult(left, was agent.ToolCallResult, by hookkit.By) agent.ToolCallResult {
	if by == (hookkit.By{}) {
		return was
	}
	r.undo("AfterTool", by,
		ownedField("Call.ID", left.Call.ID, was.Call.ID), ownedField("Call.Name", left.Call.Name, was.Call.Name),
		ownedField("Call.Step", left.Call.Step, was.Call.Step),
		owned{"Call.Args", left.Call.Args != nil && !bytes.Equal(left.Call.Args, was.Call.Args)},
		ownedField("Status", left.Status, was.Status), ownedField("Elapsed", left.Elapsed, was.Elapsed),
		ownedField("Attempts", left.Attempts, was.Attempts), ownedField("By", left.By, was.By),
		ownedField("Reason", left.Reason, was.Reason), owned{"Err", left.Err == "" && was.Err != ""})
	fixed := was
	fixed.Output, fixed.Err, fixed.Kind, fixed.NoRetry = left.Output, left.Err, left.Kind, left.NoRetry
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

// answer puts the results into the stored conversation and the run's records, in call order. It returns them for
// hooks.
func (b *batch) answer() (shown []agent.ToolCallResult) {
	r := b.r
	shown = make([]agent.ToolCallResult, len(b.calls))
	for i, c := range b.calls {
		c.slot.Call = c.req // a hook that ended the goroutine has left the call that it was shown
		shown[i] = c.shownResult()
		r.conversation.store(c.slot.Message())
		r.counts.add(&r.counts.toolCalls, 1)
		if r.stream.read() {
			result := shown[i].Clone()
			r.stream.event(Event{Kind: EventResult, Step: c.req.Step, Result: &result})
		}
	}
	r.results, r.shownResults = append(r.results, b.results), append(r.shownResults, shown)
	return shown
}
