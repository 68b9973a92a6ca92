package observe

import (
	"context"
	"errors"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// RequestTap passes each request and reply to a debugger.
//
// It reports the messages as they are sent, after all hooks have changed them. The raw reply is the model's, before any
// hook; the final reply is the one that the caller of the run receives.
//
// RequestTap observes BeforeLLM, AfterLLM and OnRunEnd after all other observers. It has no state and is safe for
// concurrent use. Events share memory with the run and must not be modified. Bind panics if OnEvent is nil.
type RequestTap struct {
	OnEvent func(context.Context, RequestTapEvent) // required; called concurrently and during the run, so it must be fast
	Enabled func() bool                            // called before each event; nil: always enabled
}

// A TapKind is the kind of a [RequestTapEvent].
type TapKind string

// The kinds of events.
const (
	TapMessages   TapKind = "messages"
	TapRawReply   TapKind = "raw_reply"
	TapFinalReply TapKind = "final_reply"
)

// RequestTapEvent is a request or reply.
type RequestTapEvent struct {
	Kind TapKind
	Run  string // ID of the run
	agent.Identity
	Messages []agent.Message    // for TapMessages
	Reply    *agent.LLMResponse // for TapRawReply
	Final    string             // for TapFinalReply
}

// Bind adds the observers.
func (t *RequestTap) Bind(h *agent.Hooks) {
	if t.OnEvent == nil {
		kit.MustConfig("observe.RequestTap",
			errors.New("OnEvent is nil, so nothing would receive the events; give a function"))
	}
	last := hookkit.Priority(kit.LastPriority)
	name := hookkit.Named("observe.RequestTap")
	h.BeforeLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest]) {
		if fired.Exit == nil && fired.Err == nil {
			t.send(ctx, run, RequestTapEvent{Kind: TapMessages, Messages: fired.Final.Messages})
		}
	}, name, last)
	h.AfterLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
		t.send(ctx, run, RequestTapEvent{Kind: TapRawReply, Reply: &fired.Payload})
	}, name, last)
	h.OnRunEnd.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
		t.send(ctx, run, RequestTapEvent{Kind: TapFinalReply, Final: fired.Payload.Reply})
	}, name, last)
}

func (t *RequestTap) send(ctx context.Context, run *agent.Run, e RequestTapEvent) {
	if t.Enabled == nil || t.Enabled() {
		e.Run, e.Identity = run.ID(), kit.Owner(run)
		t.OnEvent(ctx, e)
	}
}
