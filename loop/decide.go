package loop

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// decide decides the calls one after the other. It stops early if the run has ended.
func (b *batch) decide() {
	limit := b.r.limits.Calls
	for i, c := range b.calls {
		if b.r.ctx.Err() != nil {
			b.r.cancelled()
		}
		if b.r.state.over() {
			return
		}
		switch {
		case limit > 0 && i >= limit:
			c.refuse(agent.CallRefused, &agent.ToolError{Kind: agent.FailTooMany, Message: fmt.Sprintf(
				"not run: a reply can have at most %d calls; send the rest in the next reply", limit)}, "", "")
		case b.r.toolsOff():
			b.disabled(c)
		case b.cut && i == len(b.calls)-1: // a hook must not complete it
			c.refuse(agent.CallFailed, &agent.ToolError{Kind: agent.FailArguments, Message: "not run: your reply was cut at " +
				"the limit of its tokens before this call was complete; send less at once, for example in several calls"}, "", "")
		default:
			b.before(c)
		}
	}
}

// disabled refuses a call because tools are switched off.
func (b *batch) disabled(c *call) {
	r := b.r
	c.refuse(agent.CallRefused, &agent.ToolError{
		Kind: agent.FailDisabled, Message: "tools are switched off; answer without them", NoRetry: true,
	}, "", "")
	r.hooks.OnToolsDisabled.Fire(r.ctx, r.hookRun, agent.ToolsDisabled{Call: c.forHooks(), Agent: r.agent.name()})
}

// before fires BeforeTool for a call and handles its outcome.
func (b *batch) before(c *call) {
	r := b.r
	c.fired = true
	left := c.forHooks()
	exit, by, err := r.hooks.BeforeTool.FireBy(r.ctx, r.hookRun, &left)
	r.warnOwned("BeforeTool", by, ownedField("ID", left.ID, c.req.ID), ownedField("Step", left.Step, c.req.Step))
	if len(left.Args) == 0 {
		left.Args = []byte("{}")
	}
	if !bytes.Equal(left.Args, c.req.Args) {
		if !sameJSON(c.req.Args, left.Args) {
			c.tellChange("the hook "+by.Hook, left.Args, by.Reason)
		}
		c.req.Args = slices.Clone(left.Args)
	}
	if err != nil {
		c.refuse(agent.CallRefused, &agent.ToolError{Kind: agent.FailHook, Message: "the call is refused: " + forModel(err)},
			by.Hook, by.Reason)
		return
	}
	switch exit := exit.(type) {
	case nil:
		b.check(c)
	case agent.SkipTool:
		b.skip(c, exit, by)
	case agent.EndTurn:
		r.endTurn(exit, by, false)
	}
}

// skip handles SkipTool. A successful result, for example from a cache, still needs permission.
func (b *batch) skip(c *call, exit agent.SkipTool, by hookkit.By) {
	if exit.Result.Err == "" && !b.permit(c) {
		if c.ask != nil {
			c.skip = &savedSkip{Result: exit.Result.Clone(), Reason: exit.Reason, By: by.Hook}
		}
		return
	}
	b.answered(c, exit, by)
}

// answered sets the result that a hook gave instead of the tool.
func (b *batch) answered(c *call, exit agent.SkipTool, by hookkit.By) {
	given := exit.Result
	c.give(agent.ToolCallResult{
		Output: given.Output, Parts: agentspec.CloneParts(given.Parts), Warnings: warnings(given.Warnings),
		Context: contexts(given.Context), Err: given.Err, Kind: given.Kind, NoRetry: given.NoRetry,
		Status: agent.CallSkipped, By: by.Hook, Reason: exit.Reason,
	})
	if given.Err != "" {
		c.result.Status = agent.CallRefused
		if given.Kind == "" {
			c.result.Kind = agent.FailSkipped
		}
	}
}

// check looks up the tool of a call, validates the arguments and asks for permission.
func (b *batch) check(c *call) {
	r := b.r
	e := r.tools.entry(c.req.Name)
	var unusable *agent.ToolError
	switch {
	case c.duplicate != "":
		unusable = &agent.ToolError{Kind: agent.FailDuplicate, Message: fmt.Sprintf(
			"the reply has another call with the id %s, so this one was not run; give each call an id of its own",
			quoted(c.duplicate))}
	case e == nil:
		unusable = r.tools.unknown(c.req.Name)
	case !slices.Contains(r.offeredTools, c.req.Name):
		unusable = &agent.ToolError{Kind: agent.FailUnknown, Message: fmt.Sprintf(
			"the tool %s was not offered in this request; use one that was", quoted(c.req.Name))}
	default:
		unusable = e.fits(c.req.Args, r.limits.ArgBytes)
	}
	if unusable == nil && e.tool == nil && b.last != nil {
		unusable = &agent.ToolError{Kind: agent.FailHandoff, Message: fmt.Sprintf(
			"the reply calls %s already, and only one call can hand over or finish", b.last.req.Name)}
	}
	if unusable == nil && e.target != nil {
		unusable = r.tooDeep()
	}
	if unusable != nil {
		c.refuse(agent.CallFailed, unusable, "", "")
		if e != nil && e.done && r.typed != nil && unusable.Kind == agent.FailArguments {
			r.countRejection(string(c.req.Args), verdict{feedback: unusable.Message})
		}
		return
	}
	c.entry = e
	if !b.permit(c) {
		if c.ask != nil && e.tool == nil {
			b.last = c // another call must not hand over or finish before the answer
		}
		return
	}
	b.admit(c, e)
}

// admit prepares a permitted call for its dispatch.
func (b *batch) admit(c *call, e *entry) {
	switch {
	case e.target != nil:
		if !b.handoff(c, e) {
			return
		}
		b.last = c
	case e.done:
		b.last = c
	}
	c.entry = e
}

// tooDeep returns an error if the run must not start another one, because it is as deep as its own limit or that of a
// run that started it allows.
func (r *run) tooDeep() *agent.ToolError {
	for holder := r; holder != nil; holder = holder.outer {
		if limit := holder.limits.Depth; limit > 0 && r.depth >= limit {
			return &agent.ToolError{Kind: agent.FailHandoff, NoRetry: true, Message: fmt.Sprintf(
				"runs started by runs are %d deep, which is the limit; do it without another agent", limit)}
		}
	}
	return nil
}
