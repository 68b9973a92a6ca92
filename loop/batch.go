package loop

import (
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// A batch is the tool calls of one reply on their way to results.
type batch struct {
	r     *run
	calls []*call
	last  *call // the one that hands over or finishes, when the others are done; nil for none

	to   *Agent // that control goes to when the calls are answered, nil for none
	task string // for it
}

// A call is one tool call of a batch.
type call struct {
	req       agent.ToolCallRequest // as the hooks left it so far
	asked     string                // the tool that the model named
	duplicate string                // the id that the model gave it, if another call of the reply had it
	fired     bool                  // BeforeTool was, so AfterTool is due
	settled   bool                  // AfterTool was, or is not due
	entry     *entry                // to be dispatched, handed over or finished with
	to        *Agent                // that control goes to
	task      string                // for it
	result    *agent.ToolCallResult // nil: not known yet
}

// batch makes the calls of a reply ready: each has an id of its own, arguments and the step.
func (r *run) batch(step int, reply *agent.LLMResponse) *batch {
	b := &batch{r: r}
	taken := make(map[string]bool)
	for _, c := range reply.ToolCalls {
		taken[c.ID] = true
	}
	seen := make(map[string]bool)
	fresh := func(format, id string) string {
		for n := 2; ; n++ {
			if try := fmt.Sprintf(format, id, n); !taken[try] {
				taken[try] = true
				return try
			}
		}
	}
	for i := range reply.ToolCalls {
		req := &reply.ToolCalls[i]
		c := &call{}
		switch {
		case req.ID == "":
			req.ID = fresh("%s_%d", fmt.Sprintf("call_%d_%d", step, i+1))
		case seen[req.ID]:
			c.duplicate = req.ID
			req.ID = fresh("%s#%d", req.ID)
		}
		seen[req.ID] = true
		req.Step = step
		if len(req.Args) == 0 {
			req.Args = []byte("{}")
		}
		c.req, c.asked = req.Clone(), req.Name
		b.calls = append(b.calls, c)
	}
	return b
}

// run brings every call of the batch to a result and answers it in the stored conversation.
func (b *batch) run() {
	r := b.r
	defer b.answer()
	defer func() { // also after a panic: no call stays without a result
		b.leave()
		for _, c := range b.calls {
			b.after(c)
		}
	}()
	b.decide()
	if !r.over {
		b.dispatch()
	}
	if r.over {
		b.leave()
	}
	for _, c := range b.calls {
		if c != b.last {
			b.after(c)
		}
	}
	if b.last != nil && !r.over {
		b.finish(b.last)
	}
}

// leave gives the calls without a result one that says that the run is over.
func (b *batch) leave() {
	for _, c := range b.calls {
		if c.result == nil {
			c.unrun()
		}
	}
}

// unrun is the result of a call that was left undispatched.
func (c *call) unrun() {
	c.result = &agent.ToolCallResult{
		Call: c.req, Status: agent.CallUnrun, Kind: agent.FailRunEnded, NoRetry: true,
		Err: "not run: the run ended before this call",
	}
}

// refuse is the result of a call that does not run.
func (c *call) refuse(status agent.CallStatus, err *agent.ToolError, by, reason string) {
	c.result = &agent.ToolCallResult{
		Call: c.req, Status: status, Kind: err.Kind, Err: err.Error(), NoRetry: err.NoRetry, By: by, Reason: reason,
	}
}

// after fires AfterTool on a call's result, once.
func (b *batch) after(c *call) {
	if c.settled || !c.fired {
		return
	}
	c.settled = true
	r := b.r
	was := *c.result
	left := was.Clone()
	exit, err := r.hooks.AfterTool.Fire(r.back, r.id, &left)
	if err != nil {
		status := was.Status
		if was.Err == "" {
			status = agent.CallFailed
		}
		c.result = &agent.ToolCallResult{
			Call: was.Call, Status: status, Kind: agent.FailHook, Elapsed: was.Elapsed, Attempts: was.Attempts,
			Err: "the result is withheld: " + err.Error(), By: was.By, Reason: was.Reason,
		}
		return
	}
	left.Call, left.Elapsed, left.Attempts, left.Status = was.Call, was.Elapsed, was.Attempts, was.Status
	left.By, left.Reason = was.By, was.Reason
	switch {
	case left.Err == "" && was.Err != "":
		left.Err, left.Kind = was.Err, was.Kind
	case left.Err != "" && was.Err == "":
		left.Status = agent.CallFailed
		if left.Kind == "" {
			left.Kind = agent.FailRejected
		}
	}
	c.result = &left
	switch exit := exit.(type) {
	case nil:
	case agent.EndTurn:
		r.endTurn(exit)
	default:
		r.fail("AfterTool", illegal(exit))
	}
}

// answer puts the results into the stored conversation and the run's records, in call order.
func (b *batch) answer() {
	r := b.r
	for _, c := range b.calls {
		r.talk.store(c.result.Message())
		r.calls = append(r.calls, *c.result)
		r.counts.add(&r.counts.toolCalls, 1)
		if r.stream.read() {
			shown := c.result.Clone()
			r.stream.event(Event{Kind: EventResult, Step: c.req.Step, Result: &shown})
		}
	}
}

// record returns the results in call order.
func (b *batch) record() []agent.ToolCallResult {
	var out []agent.ToolCallResult
	for _, c := range b.calls {
		if c.result != nil {
			out = append(out, *c.result)
		}
	}
	return out
}
