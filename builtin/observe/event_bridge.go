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

// EventBridge publishes what a run does on an event bus, and lets the bus veto calls.
//
// It stands at BeforeLLM (EndTurn) and OnPermission (Deny), in the tier Safety, and observes OnRunStart, AroundLLM,
// AfterLLM, AfterTool, OnRunError and OnRunEnd. A veto of llm:before_call ends the turn, one of tool:before_call denies
// the call, each with the bus's reason. A bus that fails at a gate refuses the act: the points fail closed; elsewhere
// its failure is reported. State: none.
type EventBridge struct {
	Bus     EventBus    // required
	OnError func(error) // gets failures where the bus was only told; nil: they are logged

	failed kit.Reporter
}

// An EventBus takes events. It must be safe for concurrent use.
type EventBus interface {
	// Publish hands an event to its listeners. Where Action is before_call a veto and its reason are honoured.
	Publish(ctx context.Context, e BusEvent) (veto bool, reason string, err error)
}

// A BusEvent is what an [EventBridge] publishes.
type BusEvent struct {
	Type      string         `json:"type"`   // agent, llm or tool
	Action    string         `json:"action"` // start, stop, error, before_call or after_call
	AgentID   string         `json:"agent_id"`
	Session   string         `json:"session_key"` // the conversation's ID
	Task      string         `json:"task_id"`     // the run's ID
	Context   map[string]any `json:"context"`
	Timestamp time.Time      `json:"timestamp"`
	Messages  []string       `json:"messages,omitempty"` // texts for people
}

// Bind adds the hook. A nil Bus panics.
func (b *EventBridge) Bind(h *agent.Hooks) {
	if b.Bus == nil {
		kit.MustConfig("observe.EventBridge", errors.New("Bus is nil, so nothing could be published; give a bus"))
	}
	name := hookkit.Named("observe.EventBridge")
	h.BeforeLLM.Add(b, hookkit.Priority(hookkit.Safety))
	h.OnPermission.Add(b, hookkit.Priority(hookkit.Safety))
	h.OnRunStart.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunStartFired[agent.RunStart]) {
		b.tell(ctx, run, "agent", "start", map[string]any{"user_input": fired.Final.Task})
	}, name)
	h.AroundLLM.Observe(b)
	h.AfterLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
		p := fired.Final
		b.tell(ctx, run, "llm", "after_call", map[string]any{"step": p.Step, "model": p.Model, "response": p.Content, "tokens_used": p.Usage.Total(),
			"cost": p.Usage.Cost, "duration_ms": kit.Milliseconds(p.Elapsed), "ok": fired.Err == nil, "error": errorText(fired.Err)})
	}, name)
	h.AfterTool.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
		p := kit.AfterHooks(fired.Payload, fired.Final)
		b.tell(ctx, run, "tool", "after_call", map[string]any{"step": p.Call.Step, "tool_name": p.Call.Name, "tool_input": string(p.Call.Args), "call_id": p.Call.ID,
			"result": p.Output, "ok": p.OK() && fired.Err == nil, "error": p.Err + errorText(fired.Err), "duration_ms": kit.Milliseconds(p.Elapsed)})
	}, name)
	h.OnRunError.Observe(b)
	h.OnRunEnd.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
		b.tell(ctx, run, "agent", "stop", map[string]any{"final_text": fired.Payload.Reply, "status": string(fired.Payload.Stop.Cause), "error": fired.Payload.Err})
	}, name)
}

// ObserveOnRunError publishes a failure.
func (b *EventBridge) ObserveOnRunError(ctx context.Context, run *agent.Run, fired agent.OnRunErrorFired[agent.RunError]) {
	b.tell(ctx, run, "agent", "error", map[string]any{"error": fired.Payload.Err, "where": fired.Payload.Where})
}

// ObserveAroundLLM publishes a call to the model that failed: AfterLLM does not fire then.
func (b *EventBridge) ObserveAroundLLM(ctx context.Context, run *agent.Run, fired agent.AroundLLMFired[agent.LLMRequest]) {
	if fired.Err != nil {
		p := fired.Payload
		b.tell(ctx, run, "llm", "after_call", map[string]any{"step": p.Step, "model": p.Model, "duration_ms": kit.Milliseconds(fired.Elapsed), "ok": false, "error": fired.Err.Error()})
	}
}

// BeforeLLM publishes a request and honours a veto.
func (b *EventBridge) BeforeLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
	veto, reason, err := b.publish(ctx, run, "llm", "before_call", map[string]any{"step": req.Step, "model": req.Model, "messages": len(req.Messages),
		"temperature": req.Temperature, "max_tokens": req.MaxTokens})
	if err != nil || !veto {
		return nil, err
	}
	return agent.EndTurn{Reason: reason}, nil
}

// OnPermission publishes a call and honours a veto.
func (b *EventBridge) OnPermission(ctx context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	veto, reason, err := b.publish(ctx, run, "tool", "before_call", map[string]any{"step": call.Step, "tool_name": call.Name, "tool_input": string(call.Args), "call_id": call.ID})
	if err != nil || !veto {
		return nil, err
	}
	return agent.Deny{Reason: reason}, nil
}

func (b *EventBridge) publish(ctx context.Context, run *agent.Run, kind, action string, data map[string]any) (bool, string, error) {
	e := BusEvent{Type: kind, Action: action, Task: run.ID(), Context: data, Timestamp: run.Env.Now()}
	if run.Env != nil {
		e.AgentID = run.Env.Agent
		if run.Env.Conversation != nil {
			e.Session = run.Env.Conversation.ID()
		}
	}
	veto, reason, err := b.Bus.Publish(ctx, e)
	if err != nil {
		return veto, reason, fmt.Errorf("the event bus failed at %s:%s: %w", kind, action, err)
	}
	return veto, reason, nil
}

// tell publishes where nothing can be vetoed.
func (b *EventBridge) tell(ctx context.Context, run *agent.Run, kind, action string, data map[string]any) {
	_, _, err := b.publish(ctx, run, kind, action, data)
	b.failed.Report("observe.EventBridge", b.OnError, err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
