package loop

import (
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// HandoffPrefix starts the names of the tools that hand control to another agent.
const HandoffPrefix = "transfer_to_"

// handoffSchema returns the schema of the tool that hands control to an agent.
func handoffSchema(to *Agent) agent.ToolSchema {
	return agent.ToolSchema{
		Name:        toolName(HandoffPrefix, to.name()),
		Description: orElse(to.Description, fmt.Sprintf("Hand the conversation over to the agent %s.", to.name())),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"task":{"type":"string","description":"what the agent is to do"}},"additionalProperties":false}`),
	}
}

// handoff fires OnHandoff for a permitted call and reports whether the handoff may happen.
func (b *batch) handoff(c *call, e *entry) bool {
	r := b.r
	var args struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(c.req.Args, &args); err != nil { // for example, a key with different capitals
		c.refuse(agent.CallFailed, &agent.ToolError{
			Kind: agent.FailArguments, Message: "the task cannot be read: " + err.Error(),
		}, "", "")
		return false
	}
	h := agent.Handoff{From: r.agent.name(), To: e.target.name(), Task: args.Task, Call: c.forHooks()}
	exit, by, err := r.hooks.OnHandoff.FireBy(r.ctx, r.hookRun, &h)
	r.warnOwned("OnHandoff", by, ownedField("From", h.From, r.agent.name()), owned{
		"Call", h.Call.ID != "" && (h.Call.ID != c.req.ID || !h.Call.Same(c.req)),
	})
	if err != nil {
		refused := "the handoff is refused: " + forModel(err)
		c.refuse(agent.CallRefused, &agent.ToolError{Kind: agent.FailHook, Message: refused}, by.Hook, by.Reason)
		return false
	}
	switch exit := exit.(type) {
	case nil:
	case agent.SkipTool:
		b.answered(c, exit, by)
		return false
	case agent.EndTurn:
		r.endTurn(exit, by)
		return false
	default:
		r.fail("OnHandoff", illegal(exit))
		return false
	}
	for _, to := range r.agent.Handoffs {
		if to.name() == h.To {
			c.to, c.task = to, h.Task
			return true
		}
	}
	c.refuse(agent.CallFailed, &agent.ToolError{Kind: agent.FailHandoff, NoRetry: true,
		Message: fmt.Sprintf("a hook sent control to %q, which is not one of the agent's handoffs", h.To)},
		by.Hook, by.Reason)
	return false
}

// answerHandoff answers the call that hands over. The target takes over when all calls are answered.
func (b *batch) answerHandoff(c *call) {
	c.give(agent.ToolCallResult{Status: agent.CallHandedOff, Output: "control goes to " + c.to.name()})
	b.after(c)
	switch {
	case c.result.Err != "":
	case b.r.state.over():
		c.markNotRun()
	default:
		b.to, b.task, b.seed = c.to, c.task, b.r.seedFor(c.req)
	}
}

// handOver runs another agent on the conversation. Its reply is the reply of this run. from is the state of the other
// run if it was suspended, or nil.
func (r *run) handOver(to *Agent, req Request, from *snapshot) {
	started := origin{state: from, mayWait: r.mayWait, typed: r.typed, handoff: true}
	result, waiting, err := r.spawn(r.ctx, to, req, true, started)
	r.state.move(move{to: stopped, handedOffTo: orElse(result.HandedOffTo, to.name())})
	for _, s := range result.Signals {
		if waiting == nil {
			r.signal(s)
		}
	}
	for _, w := range result.Warnings {
		r.warn("%s: %s", to.name(), w)
	}
	if waiting != nil {
		r.conversation.replace(result.Messages)
		r.target = waiting
		r.suspend()
		return
	}
	stored := len(result.Messages) > 0 && agentspec.CheckPairs(result.Messages, false) == nil
	if stored {
		r.conversation.replace(result.Messages)
	}
	r.finishReason = result.FinishReason
	switch {
	case err == nil, find[StoppedError](err) != nil: // the signals of the target are those of this run
	case result.Err != "": // the target failed, so this run fails
		r.failWith("Handoff", err, hookOf(err))
		return
	default:
		r.fail("Handoff", err)
		return
	}
	r.state.move(move{to: replied, reply: reply{text: result.Reply, stored: stored, by: result.EndedBy}})
}
