package observe

import (
	"context"
	"errors"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// RequestTap hands what goes to the model and what comes back to a debugger.
//
// It observes BeforeLLM, AfterLLM and OnRunEnd, after all other observers (priority −100), and has no state. The
// messages are those that went out, after every hook; the raw reply is the model's, before any hook; the final reply is
// the caller's. Its events share memory with the run: look, and do not change.
type RequestTap struct {
	Sink    func(context.Context, RequestTapEvent) // required; it must be safe for concurrent use and quick
	Enabled func() bool                            // asked for each event; nil: always
}

// A TapKind says what a [RequestTapEvent] holds.
type TapKind string

// The kinds of events of a Tap.
const (
	TapMessages   TapKind = "messages"
	TapRawReply   TapKind = "raw_reply"
	TapFinalReply TapKind = "final_reply"
)

// A RequestTapEvent is one look at a run.
type RequestTapEvent struct {
	Kind     TapKind
	Run      string             // the run's ID
	Messages []agent.Message    // of TapMessages
	Reply    *agent.LLMResponse // of TapRawReply
	Final    string             // of TapFinalReply
}

// Bind adds the observers. A nil Sink panics.
func (t *RequestTap) Bind(h *agent.Hooks) {
	if t.Sink == nil {
		kit.MustConfig("observe.RequestTap", errors.New("Sink is nil, so nobody would look; give a function"))
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
		e.Run = run.ID()
		t.Sink(ctx, e)
	}
}
