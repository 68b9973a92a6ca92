package loop

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// HandoffPrefix starts the names of the tools that hand control to another agent.
const HandoffPrefix = "transfer_to_"

// handoffSchema returns the schema of the tool that hands control to an agent.
func handoffSchema(to *Agent) agent.ToolSchema {
	return to.schema(HandoffPrefix, "Hand the conversation over to the agent %s.", "")
}

// schema returns the schema of a tool that gives the agent a task.
func (a *Agent) schema(prefix, description, required string) agent.ToolSchema {
	s := agent.ToolSchema{
		Name:        toolName(prefix, a.name()),
		Description: orElse(a.Description, fmt.Sprintf(description, a.name())),
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"task":{"type":"string","description":"what the agent is to do"}},` + required + `"additionalProperties":false}`),
	}
	if !isNil(a.Input) {
		s.Parameters = a.Input.Schema().Parameters
	}
	return s
}

// taskIn returns the task in a call of such a tool.
func (a *Agent) taskIn(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	if !isNil(a.Input) {
		return a.Input.Call(ctx, call)
	}
	var args struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(call.Args, &args); err != nil { // for example, a key with different capitals
		return "", &agent.ToolError{Kind: agent.FailArguments, Message: "the task cannot be read: " + err.Error(), Cause: err}
	}
	return args.Task, nil
}

// handoff fires OnHandoff for a permitted call and reports whether the handoff may happen.
func (b *batch) handoff(c *call, e *entry) bool {
	r := b.r
	w := r.waiting(e.what, r.clock.Now(), r.limits.ToolTime)
	task, err := await(r.ctx, w, func(ctx context.Context) (string, error) { return e.target.taskIn(ctx, c.req.Clone()) })
	if err != nil {
		c.give(failedResult(r.ctx, err))
		return false
	}
	h := agent.Handoff{From: r.agent.name(), To: e.target.name(), Task: task, Call: c.forHooks()}
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
		r.endTurn(exit, by, false)
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

// step runs the batch in a step. If a call hands over, the other agent then takes over.
func (b *batch) step(again bool, result *agent.StepResult) {
	defer func() { result.Results = b.hookResults }()
	b.run(again)
	if b.to != nil && !b.r.state.over() {
		b.r.handOver(b.to, Request{Task: b.task, Seed: b.seed}, nil)
	}
}

// handOver runs another agent on the conversation. Its reply is the reply of this run. from is the state of the other
// run if it was suspended, or nil.
func (r *run) handOver(to *Agent, req Request, from *snapshot) {
	whole := r.conversation.recorded()
	req.Messages = whole
	if from != nil {
		req.Messages = from.Messages
	} else if to.InputFilter != nil {
		err := recoverAsError("InputFilter", func() error {
			req.Messages = to.InputFilter(agentspec.CloneMessages(whole))
			return nil
		})
		if err != nil {
			r.fail("Handoff", err)
			return
		}
	}
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
	messages := result.Messages
	if n := len(req.Messages); len(messages) >= n && sameMessages(messages[:n], req.Messages) {
		messages = append(whole, messages[n:]...) // with those that the filter removed
	}
	if waiting != nil {
		r.conversation.replace(messages)
		r.target = waiting
		r.suspend()
		return
	}
	stored := len(messages) > 0 && agentspec.CheckPairs(messages, false) == nil
	if stored {
		r.conversation.replace(messages)
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
