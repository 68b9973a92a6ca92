package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// DebugLog prints a line for every fire, for debugging a program under development.
//
// For example, the line
//
//	[hook:BeforeTool] {"id":"1","name":"read"} run=5f3a9c27 user=ann conversation=ticket-7
//
// has the point, the payload after all hooks, the run and its owner. The payload is JSON, redacted and truncated to 120
// characters. Control characters are escaped, so a payload cannot control the terminal.
//
// DebugLog observes all points. The zero value is ready to use. It is safe for concurrent use and writes each line in
// one piece; it must not be copied.
type DebugLog struct {
	Writer  io.Writer // nil: standard error
	Redact  redact.Redactor
	OnError func(error) // receives errors of Writer; nil: they are logged

	mu     sync.Mutex
	failed kit.Reporter
}

// Bind adds the observer to all points.
func (e *DebugLog) Bind(h *agent.Hooks) { h.ObserveAny(e) }

// Observe prints a fire.
func (e *DebugLog) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	text, err := json.Marshal(fired.Final)
	if err != nil {
		text = []byte(err.Error())
	}
	e.mu.Lock()
	_, err = fmt.Fprintf(cmp.Or[io.Writer](e.Writer, os.Stderr), "[hook:%s] %s%s\n", fired.Point,
		shorten.Line(e.Redact.CutText(string(text), 120), 120), ownerText(run))
	e.mu.Unlock()
	e.failed.Report("observe.DebugLog", e.OnError, err)
}

// ownerText returns the run and its owner for a line of text.
func ownerText(run *agent.Run) string {
	var b strings.Builder
	for _, name := range append([][2]string{{"run", run.ID()}}, kit.OwnerNames(kit.Owner(run))...) {
		if text := shorten.Line(name[1], 120); strings.ContainsAny(text, " =\"") {
			fmt.Fprintf(&b, " %s=%q", name[0], text)
		} else {
			fmt.Fprintf(&b, " %s=%s", name[0], text)
		}
	}
	return b.String()
}

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
