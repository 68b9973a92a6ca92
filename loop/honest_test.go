package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestP12_HonestEnds: Do, Stream and RunAs return a nil error exactly if there is an answer or the reply of a hook.
func TestP12_HonestEnds(t *testing.T) {
	type answer struct {
		City string `json:"city"`
	}
	city := looptest.Reply(`{"city":"Bern"}`)
	stop := func(cause agent.Cause) agent.Hook {
		return agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
			return []agent.EndRun{{Cause: cause, Message: "enough"}}, nil
		})
	}
	reject := agent.CheckDoneFunc(func(
		context.Context, *agent.Run, agent.DoneRequest,
	) (agent.CheckDoneOutcome, error) {
		return agent.RejectDone{Feedback: "no"}, nil
	})
	ask := permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return agent.Ask{}, nil })
	cut := looptest.Reply(`{"city":"Be`).Finish("length")
	work := looptest.Call("work", nil)
	for _, c := range []struct {
		name  string
		turns []looptest.Turn
		agent *loop.Agent
		hooks []agent.Hook
		want  any  // nil, a *loop.StoppedError, or an error to match
		typed bool // whether RunAs has an answer
	}{
		{"Completed", turns(city), &loop.Agent{}, nil, nil, true},
		{"FinishReason", nil, &loop.Agent{}, hooks(stop(agent.CauseFinishReason)), nil, false},
		{"EndTurn", nil, &loop.Agent{}, hooks(onStart(agent.EndTurn{Reply: "later"}, nil)), nil, false},
		{"EndTurnWithoutText", nil, &loop.Agent{}, hooks(onStart(agent.EndTurn{}, nil)), nil, false},
		{"Handoff", turns(looptest.Call("transfer_to_expert", nil)),
			&loop.Agent{Handoffs: []*loop.Agent{{Name: "expert", Model: looptest.NewScript(city, city, city)}}}, nil, nil, true},
		{"Steps", turns(work, work), &loop.Agent{Limits: loop.Limits{Steps: 1}}, nil, new(loop.StoppedError), false},
		{"StepsOfATarget", turns(looptest.Call("transfer_to_expert", nil)), &loop.Agent{Handoffs: []*loop.Agent{
			{Name: "expert", Model: looptest.NewScript(work, work, work), Limits: loop.Limits{Steps: 1}},
		}}, nil, new(loop.StoppedError), false},
		{"Rejections", turns(city, city, city), &loop.Agent{}, hooks(reject), new(loop.StoppedError), false},
		{"EmptyReplies", turns(looptest.Reply(" \n"), looptest.Reply(""), looptest.Reply("\t")), &loop.Agent{}, nil,
			new(loop.StoppedError), false},
		{"Hook", nil, &loop.Agent{}, hooks(stop(agent.CauseStopRequested)), new(loop.StoppedError), false},
		{"Person", nil, &loop.Agent{}, hooks(stop(agent.CauseUserRequested)), new(loop.StoppedError), false},
		{"NoCause", nil, &loop.Agent{}, hooks(stop("")), new(loop.StoppedError), false},
		{"Cut", turns(cut), &loop.Agent{}, nil, new(loop.StoppedError), false},
		{"Suspended", turns(work), &loop.Agent{Approver: later()}, hooks(ask), loop.ErrSuspended, false},
		{"Failed", turns(looptest.Error(errBoom)), &loop.Agent{}, nil, errBoom, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, err error) {
				t.Helper()
				stopped, target := new(loop.StoppedError), error(nil)
				switch want := c.want.(type) {
				case nil:
					if err != nil {
						t.Errorf("%s: got %v, want no error", how, err)
					}
					return
				case *loop.StoppedError:
					if !errors.As(err, &stopped) || stopped.Stop.Message == "" && c.name != "NoCause" ||
						!strings.Contains(err.Error(), stopped.Stop.Message) || errors.Is(err, loop.ErrSuspended) {
						t.Errorf("%s: got %v, want a StoppedError", how, err)
					}
					return
				case error:
					target = want
				}
				if !errors.Is(err, target) || errors.As(err, &stopped) {
					t.Errorf("%s: got %v, want %v", how, err, target)
				}
			}
			made := func() *loop.Agent {
				a := &loop.Agent{
					Model: looptest.NewScript(c.turns...), Tools: tools(&looptest.Tool{Name: "work"}), Limits: c.agent.Limits,
					Approver: c.agent.Approver, Handoffs: c.agent.Handoffs, Hooks: new(agent.Hooks),
				}
				for _, h := range c.hooks {
					a.Hooks.Use(h)
				}
				return a
			}
			result, err := made().Run(t.Context(), "x")
			check("Do", err)
			if (err == nil) != (!result.Forced() || result.EndedBy != "") {
				t.Errorf("the cause is %s, and the error %v", result.Stop.Cause, err)
			}
			for _, err = range made().Stream(t.Context(), loop.Request{Task: "x"}) {
			}
			check("Stream", err)
			got, _, err := loop.RunAs[answer](t.Context(), made(), loop.Request{Task: "x"})
			none := new(loop.NoAnswerError)
			switch {
			case c.typed && (err != nil || got.City != "Bern"), !c.typed && !errors.As(err, &none):
				t.Errorf("RunAs: got %+v, %v", got, err)
			case c.want != nil:
				check("RunAs", err)
			}
		})
	}
}

// TestP12_ACancelledRunMatchesItsContext: also if the context has a cause of its own.
func TestP12_ACancelledRunMatchesItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	_, err := (&loop.Agent{Model: looptest.NewScript()}).Run(ctx, "x")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
	late, cancel2 := context.WithTimeout(t.Context(), 0)
	defer cancel2()
	_, err = (&loop.Agent{Model: looptest.NewScript()}).Run(late, "x")
	if !errors.Is(err, context.DeadlineExceeded) || strings.Count(err.Error(), "deadline") != 1 {
		t.Errorf("got %v", err)
	}
}

// TestP12_ACutReplyIsNoAnswer: the text is the reply of the stopped run, and the next model learns that it is
// incomplete. The gates do not judge it.
func TestP12_ACutReplyIsNoAnswer(t *testing.T) {
	for _, reason := range []string{"length", "max_tokens", "MAX_TOKENS", "model_context_window_exceeded"} {
		ran := looptest.Harness{Turns: turns(looptest.Reply("Once upon a").Finish(reason))}.Run(t, "tell a story")
		stopped := new(loop.StoppedError)
		if !errors.As(ran.Returned, &stopped) || stopped.Stop.Cause != agent.CauseTokenLimit || ran.Reply != "Once upon a" ||
			ran.FinishReason != reason {
			t.Errorf("%s: got %+v, %v", reason, ran.AgentResult, ran.Returned)
		}
		ran.Recorder.Times(t, "CheckDone", 0)
		n := len(ran.Messages)
		if n < 2 || ran.Messages[n-2].Content != "Once upon a" || ran.Messages[n-1].Name != agent.InterruptionName ||
			!strings.Contains(ran.Messages[n-1].Content, "cut") {
			t.Errorf("the conversation is %+v", ran.Messages)
		}
	}
	ran := looptest.Harness{Turns: turns(looptest.Reply("").Finish("length"))}.Run(t, "think")
	if ran.Reply != loop.DefaultFallback || len(ran.Script.Calls()) != 1 || ran.Returned == nil {
		t.Errorf("a reply without text: got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

// TestP12_ACutCallIsNotRun: only the last call of the reply can be incomplete, and no hook may complete it.
func TestP12_ACutCallIsNotRun(t *testing.T) {
	complete := atTool("work", agent.ReplaceBeforeTool(agent.ToolCallRequest{Name: "work", Args: json.RawMessage(`{}`)},
		"completed"), nil)
	for _, args := range []string{`{"text":"rm -r /tm`, ``} {
		work := &looptest.Tool{Name: "work"}
		cut := looptest.Calls(looptest.Call("work", nil).ID("1"), looptest.Call("work", args).ID("2")).Finish("length")
		ran := looptest.Harness{
			Turns: turns(cut, looptest.Reply("ok")), Tools: tools(work), Hooks: hooks(complete),
		}.Run(t, "x")
		r := result(t, ran.Calls, "2")
		if len(work.Calls()) != 1 || r.Kind != agent.FailArguments || !strings.Contains(r.Err, "cut") || ran.Failed != nil {
			t.Errorf("%q: %d calls, got %+v, %v", args, len(work.Calls()), r, ran.Failed)
		}
		checkAnswered(t, ran.Messages)
		checkPaired(t, ran.Recorder)
	}
}

// A dawdler streams some text and then waits.
type dawdler struct{ text string }

func (s dawdler) Generate(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
	<-ctx.Done()
	return agent.LLMResponse{}, ctx.Err()
}

func (s dawdler) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	emit(agent.Delta{Content: s.text})
	return s.Generate(ctx, req)
}

// TestP12_AnInterruptedReplyStays: a person presses Ctrl-C in the middle of a reply. The next model knows what the
// person has read, after the hooks of AfterLLM have redacted it.
func TestP12_AnInterruptedReplyStays(t *testing.T) {
	hide := agent.AfterLLMFunc(func(
		_ context.Context, _ *agent.Run, reply agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		if reply.FinishReason != agent.FinishInterrupted {
			return nil, errors.New("not the interrupted reply")
		}
		reply.Content = strings.ReplaceAll(reply.Content, "secret", "[hidden]")
		return agent.ReplaceAfterLLM(reply, "hidden"), nil
	})
	broken := agent.AfterLLMFunc(func(
		context.Context, *agent.Run, agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		return nil, errBoom
	})
	for _, c := range []struct {
		name string
		hook agent.Hook
		want int // messages
	}{{"Redacted", hide, 3}, {"AHookFails", broken, 2}} {
		t.Run(c.name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			hooks.Use(c.hook)
			hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
			a := &loop.Agent{Model: dawdler{"The secret is"}, Hooks: hooks}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for e, err := range a.Stream(ctx, loop.Request{Task: "tell"}) {
				if e.Kind == loop.EventChunk {
					cancel()
				}
				if e.Kind != loop.EventEnd {
					continue
				}
				m := e.End.Messages
				if !errors.Is(err, context.Canceled) || len(m) != c.want || m[len(m)-1].Name != agent.InterruptionName ||
					c.want == 3 && m[1].Content != "The [hidden] is" {
					t.Errorf("got %+v, %v", m, err)
				}
			}
		})
	}
}

// TestP12_AReplyInterruptedInAHookStays: a person presses Ctrl-C when the reply is complete, and a hook that asks a
// service is cancelled.
func TestP12_AReplyInterruptedInAHookStays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("The answer is 42.")), Hooks: loop.Hooks(
		agent.AfterLLMFunc(func(ctx context.Context, _ *agent.Run, _ agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			cancel()
			return nil, ctx.Err()
		}))}
	a.Hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
	result, err := a.Do(ctx, loop.Request{Task: "x", Events: func(loop.Event) {}})
	m := result.Messages
	if !errors.Is(err, context.Canceled) || len(m) != 3 || m[1].Content != "The answer is 42." ||
		m[2].Name != agent.InterruptionName {
		t.Errorf("got %+v, %v", m, err)
	}
}

// TestP12_AnInterruptedSubagentKeepsItsText: the person has read the words of a sub-agent, so the outer conversation
// has them too.
func TestP12_AnInterruptedSubagentKeepsItsText(t *testing.T) {
	outer := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("helper", `{"task":"t"}`)),
		Tools: tools(loop.Subagent(&loop.Agent{Name: "helper", Model: dawdler{"The answer is"}})),
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result, err := outer.Do(ctx, loop.Request{Task: "x", Events: func(e loop.Event) {
		if e.Kind == loop.EventChunk && e.Agent == "helper" {
			cancel()
		}
	}})
	m := result.Messages
	if !errors.Is(err, context.Canceled) || len(m) != 4 || m[2].Content != "The answer is" || !m[2].IsError {
		t.Errorf("got %+v, %v", m, err)
	}
	checkAnswered(t, m)
}
