package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// EventBridge publishes the events of a run on an event bus and lets the bus veto model and tool calls.
//
// For example, a policy service listens for tool:before_call and vetoes deletions. A veto of llm:before_call ends the
// turn, and a veto of tool:before_call denies the call, both with the reason from the bus. If the bus fails for one of
// these two events, the model call or tool call is refused. For other events a failure is only reported.
//
// EventBridge adds to BeforeLLM and OnPermission, with the priority Safety, and observes OnRunStart, AroundLLM,
// AfterLLM, AfterTool, OnRunError and OnRunEnd. It has no state and is safe for concurrent use. Bind panics if Bus is
// nil.
type EventBridge struct {
	Bus     EventBus    // required
	OnError func(error) // receives failures for events that cannot be vetoed; nil: they are logged

	failed kit.Reporter
}

// An EventBus delivers events. Implementations must be safe for concurrent use.
type EventBus interface {
	// Publish delivers an event. The veto and its reason only have an effect if the action is before_call.
	Publish(ctx context.Context, e BusEvent) (veto bool, reason string, err error)
}

// BusEvent is an event of an [EventBridge].
type BusEvent struct {
	Type    string         `json:"type"`   // agent, llm or tool
	Action  string         `json:"action"` // start, stop, error, before_call or after_call
	AgentID string         `json:"agent_id"`
	Session string         `json:"session_key"` // name of the conversation
	User    string         `json:"user,omitempty"`
	Tenant  string         `json:"tenant,omitempty"`
	Task    string         `json:"task_id"` // ID of the run
	Context map[string]any `json:"context"`
	Time    time.Time      `json:"time"`
}

// Bind adds the hook to its points.
func (b *EventBridge) Bind(h *agent.Hooks) {
	if b.Bus == nil {
		kit.MustConfig("observe.EventBridge", errors.New("Bus is nil, so nothing could be published; give a bus"))
	}
	name := hookkit.Named("observe.EventBridge")
	h.BeforeLLM.Add(b, hookkit.Priority(hookkit.Safety))
	h.OnPermission.Add(b, hookkit.Priority(hookkit.Safety))
	h.OnRunStart.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunStartFired[agent.RunStart]) {
		b.notify(ctx, run, "agent", "start", map[string]any{"user_input": fired.Final.Task})
	}, name)
	// AfterLLM does not fire for a failed model call.
	h.AroundLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AroundLLMFired[agent.LLMRequest]) {
		if p := fired.Payload; fired.Err != nil {
			b.notify(ctx, run, "llm", "after_call", map[string]any{
				"step": p.Step, "model": p.Model, "duration_ns": fired.Elapsed, "ok": false, "error": fired.Err.Error(),
			})
		}
	}, name)
	h.AfterLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
		p := fired.Final
		b.notify(ctx, run, "llm", "after_call", map[string]any{
			"step": p.Step, "model": p.Model, "response": p.Content, "tokens_used": p.Usage.Total(), "cost": p.Usage.Cost,
			"duration_ns": p.Elapsed, "ok": fired.Err == nil, "error": errorText(fired.Err),
		})
	}, name)
	h.AfterTool.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
		p := kit.AfterHooks(fired.Payload, fired.Final)
		b.notify(ctx, run, "tool", "after_call", map[string]any{
			"step": p.Call.Step, "tool_name": p.Call.Name, "tool_input": string(p.Call.Args), "call_id": p.Call.ID,
			"result": p.Output, "ok": p.OK() && fired.Err == nil, "error": p.Err + errorText(fired.Err),
			"duration_ns": p.Elapsed,
		})
	}, name)
	h.OnRunError.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunErrorFired[agent.RunError]) {
		b.notify(ctx, run, "agent", "error", map[string]any{"error": fired.Payload.Err, "where": fired.Payload.Where})
	}, name)
	h.OnRunEnd.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
		p := fired.Payload
		b.notify(ctx, run, "agent", "stop", map[string]any{
			"final_text": p.Reply, "status": string(p.Stop.Cause), "error": p.Err,
		})
	}, name)
}

// BeforeLLM publishes a request and applies a veto.
func (b *EventBridge) BeforeLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest,
) (agent.BeforeLLMOutcome, error) {
	veto, reason, err := b.publish(ctx, run, "llm", "before_call", map[string]any{
		"step": req.Step, "model": req.Model, "messages": len(req.Messages),
		"temperature": req.Temperature, "max_tokens": req.MaxTokens,
	})
	if err != nil || !veto {
		return nil, err
	}
	return agent.EndTurn{Reason: reason}, nil
}

// OnPermission publishes a call and applies a veto.
func (b *EventBridge) OnPermission(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	veto, reason, err := b.publish(ctx, run, "tool", "before_call", map[string]any{
		"step": call.Step, "tool_name": call.Name, "tool_input": string(call.Args), "call_id": call.ID,
	})
	if err != nil || !veto {
		return nil, err
	}
	return agent.Deny{Reason: reason}, nil
}

func (b *EventBridge) publish(
	ctx context.Context, run *agent.Run, kind, action string, data map[string]any,
) (bool, string, error) {
	owner := kit.Owner(run)
	e := BusEvent{
		Type: kind, Action: action, Session: owner.Conversation, User: owner.User, Tenant: owner.Tenant, Task: run.ID(),
		AgentID: kit.Agent(run), Context: data, Time: kit.Env(run).Now(),
	}
	veto, reason, err := b.Bus.Publish(ctx, e)
	if err != nil {
		return veto, reason, fmt.Errorf("the event bus failed at %s:%s: %w", kind, action, err)
	}
	return veto, reason, nil
}

// notify publishes an event that cannot be vetoed.
func (b *EventBridge) notify(ctx context.Context, run *agent.Run, kind, action string, data map[string]any) {
	_, _, err := b.publish(ctx, run, kind, action, data)
	b.failed.Report("observe.EventBridge", b.OnError, err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
