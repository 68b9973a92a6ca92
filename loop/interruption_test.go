package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTheNextRunHearsOfAnInterruption(t *testing.T) {
	const note = "[The task was interrupted before it was done: the user pressed Escape]"
	for _, c := range []struct {
		name  string
		turns []looptest.Turn // the turn or tool that interrupts calls stop
		hook  func(stop func()) agent.Hook
		last  string // the last message of the conversation
	}{
		{"InAModelCall", nil, nil, note},
		{"InATool", turns(looptest.Call("stop", nil), looptest.Reply("never")), nil, note},
		{"AfterAHandoff", turns(looptest.Call("transfer_to_expert", nil)), nil, note},
		{"AfterTheReply", turns(looptest.Reply("done")), func(stop func()) agent.Hook {
			return agent.OnDoneAcceptedFunc(func(context.Context, *agent.Run, agent.DoneAccepted) error { stop(); return nil })
		}, "done"},
		{"Never", turns(looptest.Reply("done")), nil, "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := func() { cancel(errors.New("the user pressed Escape")) }
			stops := looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
				stop()
				return agent.LLMResponse{}, ctx.Err()
			})
			if c.turns == nil {
				c.turns = turns(stops)
			}
			var more []agent.Hook
			if c.hook != nil {
				more = hooks(c.hook(stop))
			}
			l := looptest.Harness{
				Turns: c.turns, Hooks: more,
				Tools: tools(&looptest.Tool{Name: "stop", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					stop()
					return "stopped", nil
				}}),
				Agent: &loop.Agent{Handoffs: []*loop.Agent{{Name: "expert", Model: looptest.NewScript(stops)}}},
			}
			ran := l.Do(t, ctx, loop.Request{Task: "first"})
			notes := 0
			for _, m := range ran.Messages {
				if m.Name == agent.InterruptionName {
					notes++
				}
			}
			last := ran.Messages[len(ran.Messages)-1]
			if last.Content != c.last || (notes == 1) != (c.last == note) || notes > 1 {
				t.Errorf("the conversation ends with %+v and has %d notes", last, notes)
			}
			next := looptest.Harness{Turns: turns(looptest.Reply("ok"))}.
				Do(t, t.Context(), loop.Request{Task: "second", Messages: ran.Messages})
			sent := next.Script.Requests()[0].Messages
			if before := sent[len(sent)-2]; before.Content != c.last || sent[len(sent)-1].Content != "second" {
				t.Errorf("the next model got %+v", sent)
			}
			checkAnswered(t, ran.Messages)
		})
	}
}
