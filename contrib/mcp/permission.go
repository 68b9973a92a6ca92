package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
)

// permitted reports whether the call may run. If not, it sets the result.
func (c *guarded) permitted() bool {
	denied := c.judge()
	if denied.Kind == "" {
		return true
	}
	denied.Reason = orElse(denied.Reason, "no reason given")
	c.refuse(agent.FailDenied, fmt.Sprintf("Permission denied for tool '%s': %s", c.call.Name, denied.Reason), denied.By,
		denied.Reason)
	denied.Call = c.call.Clone()
	c.m.hooks.OnPermissionDenied.Fire(c.ctx, c.run, denied)
	return false
}

// judge returns the denial of the call. Its Kind is empty if the call is permitted.
func (c *guarded) judge() agent.Denial {
	ask, by, denied := c.vote()
	if ask == nil {
		return denied
	}
	question := c.question(*ask, by)
	answer, hook, denied := c.beforeAsk(question)
	if hook == "" {
		answer, denied = c.approve(question)
	}
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.call.Args) {
		denied = c.change(answer.Args, hook)
	}
	if denied.Kind == "" {
		c.m.hooks.OnPermissionGranted.Fire(c.ctx, c.run, agent.Grant{
			Question: question, Call: c.call.Clone(), By: hook, Reason: answer.Reason, Remember: slices.Clone(answer.Remember),
			AnsweredBy: answer.By, AnsweredAt: answer.At,
		})
	}
	return denied
}

// vote fires OnPermission. It returns the Ask and the hook that asked, or a denial, or nothing if the call is allowed.
func (c *guarded) vote() (ask *agent.Ask, hook string, denied agent.Denial) {
	exit, by, err := c.m.hooks.OnPermission.FireBy(c.ctx, c.run, c.call.Clone())
	if err != nil {
		return nil, "", agent.Denial{Kind: agent.DeniedByHook, By: by.Hook, Reason: err.Error()}
	}
	switch exit := exit.(type) {
	case nil, agent.Allow:
		return nil, "", agent.Denial{}
	case agent.Ask:
		return &exit, by.Hook, agent.Denial{}
	case agent.Deny:
		return nil, "", agent.Denial{Kind: agent.DeniedByVote, By: by.Hook, Reason: exit.Reason}
	}
	denied = agent.Denial{Kind: agent.DeniedByHook, By: by.Hook, Reason: fmt.Sprintf("the outcome %T is unknown", exit)}
	return nil, "", denied
}

func (c *guarded) question(ask agent.Ask, by string) agent.Question {
	q := agent.Question{
		Call: c.call.Clone(), Prompt: ask.Prompt, Reason: ask.Reason, By: by, Agent: c.run.Env.Agent, Run: c.run.ID(),
		Owner: c.run.Env.Identity(),
	}
	q.Tool, _ = c.run.Env.Tools.Lookup(c.call.Name)
	return q
}

// beforeAsk fires BeforeAsk. The hook is empty if none answered.
func (c *guarded) beforeAsk(q agent.Question) (answer agent.Approval, hook string, denied agent.Denial) {
	exit, by, err := c.m.hooks.BeforeAsk.FireBy(c.ctx, c.run, q)
	denied = agent.Denial{Kind: agent.DeniedByHook, By: by.Hook}
	if err != nil {
		denied.Reason = err.Error()
		return answer, orElse(by.Hook, "BeforeAsk"), denied
	}
	switch exit := exit.(type) {
	case nil:
		return answer, "", agent.Denial{}
	case agent.Approve:
		return agent.Approval{Allow: true, Reason: exit.Reason, Args: exit.Args, Remember: exit.Remember}, by.Hook,
			agent.Denial{}
	case agent.Refuse:
		denied.Kind, denied.Reason = agent.DeniedByAnswer, orElse(exit.Reason, "declined")
	default:
		denied.Reason = fmt.Sprintf("the outcome %T is unknown", exit)
	}
	return answer, by.Hook, denied
}

// approve asks the approver. An answer that comes too late is dropped.
func (c *guarded) approve(q agent.Question) (answer agent.Approval, denied agent.Denial) {
	denied = agent.Denial{Kind: agent.DeniedUnasked, By: q.By, Reason: "there is nobody to ask"}
	if c.m.opts.Approver == nil {
		if q.Reason != "" {
			denied.Reason += ": " + q.Reason
		}
		return answer, denied
	}
	ctx, cancel := context.WithCancel(c.ctx)
	if c.m.opts.ApprovalTime > 0 {
		ctx, cancel = context.WithTimeout(c.ctx, c.m.opts.ApprovalTime)
	}
	defer cancel()
	type reply struct {
		answer agent.Approval
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		r := reply{err: errors.New("it ended its goroutine")}
		defer func() {
			if v := recover(); v != nil {
				r = reply{err: fmt.Errorf("it panicked: %v", v)}
			}
			replies <- r
		}()
		r.answer, r.err = c.m.opts.Approver.Approve(ctx, q)
	}()
	select {
	case r := <-replies:
		switch {
		case ctx.Err() != nil:
		case r.err != nil:
			denied.Kind, denied.Reason = agent.DeniedByApprover, "the approver failed: "+r.err.Error()
			return answer, denied
		case r.answer.Pending:
			denied.Reason = "the answer comes later, and a call of an MCP server cannot wait for it"
			return answer, denied
		case !r.answer.Allow:
			denied.AnsweredBy, denied.AnsweredAt = r.answer.By, r.answer.At
			denied.Kind, denied.Reason = agent.DeniedByPerson, orElse(r.answer.Reason, "declined")
			return answer, denied
		default:
			return r.answer, agent.Denial{}
		}
	case <-ctx.Done():
	}
	denied.Kind, denied.Reason = agent.DeniedBySilence, fmt.Sprintf("there was no answer within %v", c.m.opts.ApprovalTime)
	if c.ctx.Err() != nil {
		denied.Reason = "the call was cancelled before there was an answer"
	}
	return answer, denied
}

// change sets the arguments that an answer approved, and lets the hooks judge the changed call.
func (c *guarded) change(args json.RawMessage, by string) agent.Denial {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		kind := agent.DeniedByApprover
		if by != "" {
			kind = agent.DeniedByHook
		}
		return agent.Denial{Kind: kind, By: by, Reason: "the approval changed the arguments: " + err.Error()}
	}
	c.call.Args = slices.Clone(args)
	ask, asker, denied := c.vote()
	if ask == nil {
		return denied
	}
	answer, hook, denied := c.beforeAsk(c.question(*ask, asker))
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.call.Args) {
		return agent.Denial{Kind: agent.DeniedByHook, By: hook, Reason: "the approved arguments were changed once more"}
	}
	return denied
}

// A toolTable is the list of a server's tools for hooks, for example for one that permits only tools that change
// nothing.
type toolTable struct {
	session *sdk.ServerSession
	next    sdk.MethodHandler
}

// Add fails: the server decides which tools it has.
func (toolTable) Add(agent.Tool) error {
	return errors.New("a hook cannot add a tool to an MCP server; add it with the server's AddTool")
}

// Lookup returns the schema of a tool.
func (t toolTable) Lookup(name string) (agent.ToolSchema, bool) {
	for _, tool := range t.list() {
		if tool.Name == name {
			return schemaOf(tool), true
		}
	}
	return agent.ToolSchema{}, false
}

// Schemas returns the schemas of all tools.
func (t toolTable) Schemas() (all []agent.ToolSchema) {
	for _, tool := range t.list() {
		all = append(all, schemaOf(tool))
	}
	return all
}

func (t toolTable) list() (all []*sdk.Tool) {
	params := &sdk.ListToolsParams{}
	for range maxPages {
		result, err := t.next(context.Background(), "tools/list", &sdk.ListToolsRequest{Session: t.session, Params: params})
		list, ok := result.(*sdk.ListToolsResult)
		if err != nil || !ok {
			break
		}
		all = append(all, list.Tools...)
		if list.NextCursor == "" {
			break
		}
		params = &sdk.ListToolsParams{Cursor: list.NextCursor}
	}
	return all
}

func schemaOf(t *sdk.Tool) agent.ToolSchema {
	schema := agent.ToolSchema{
		Name: t.Name, Description: t.Description, ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint,
	}
	if text, err := json.Marshal(t.InputSchema); err == nil {
		schema.Parameters = text
	}
	return schema
}
