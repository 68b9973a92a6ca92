package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestFinishedCallIsNeverMadeAgain: a worker makes a call, and is stopped while another call of the same step hangs.
// The next worker gives the result to the same hooks, whatever they do with calls.
func TestFinishedCallIsNeverMadeAgain(t *testing.T) {
	written := func(args string) agent.Hook {
		return agent.BeforeToolFunc(func(
			_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			if call.Name == "pay" {
				call.Args = json.RawMessage(args)
			}
			return agent.ReplaceBeforeTool(call, ""), nil
		})
	}
	for name, c := range map[string]struct {
		args  string
		hook  agent.Hook
		fails int // attempts before the one that succeeds
	}{
		"Plain":            {args: `{"to":"ann"}`},
		"SpacesFromModel":  {args: ` { "to" : "a<b" } `},
		"SpacesFromHook":   {hook: written(`{ "to": "a<b&c" }`)},
		"NotUTF8FromHook":  {hook: written("{\"to\":\"\xff\"}")},
		"RepeatedByHook":   {hook: repeats(3), fails: 1},
		"RepeatedTwice":    {hook: repeats(3), fails: 2},
		"GivenUpByHook":    {hook: repeats(3), fails: 9},
		"RepeatedAlways":   {hook: twice()},
		"AnsweredByAHook":  {hook: answering(`{ "to": "a<b" }`)},
		"NumbersAndQuotes": {args: `{"to":1e40, "of":"\u00e9\/"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				effects, attempts := 0, 0
				pay := &looptest.Tool{Name: "pay", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
					if attempts++; attempts <= c.fails {
						return "", errBusy
					}
					effects++
					return "paid", nil
				}}
				hang := &looptest.Tool{Name: "hang", Hang: true}
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				calls := looptest.Calls(looptest.Call("pay", c.args), looptest.Call("hang", nil))
				agents := clerk(looptest.NewScript(calls), pay, loop.ReadOnly(hang))
				if c.hook != nil {
					agents["clerk"].Hooks = loop.Hooks(c.hook)
				}
				work(t, &Worker{Store: store, Logger: quiet, Grace: time.Second, Agents: agents}, func(context.Context) {
					time.Sleep(time.Second)
				})
				before, attempted := effects, attempts
				read := ""
				end := looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
					read = req.Messages[len(req.Messages)-2].Content
					return agent.LLMResponse{Content: "done"}, nil
				})
				agents = clerk(looptest.NewScript(end), pay, loop.ReadOnly(&looptest.Tool{Name: "hang"}))
				if c.hook != nil {
					agents["clerk"].Hooks = loop.Hooks(c.hook)
				}
				work(t, &Worker{Store: store, Logger: quiet, Agents: agents}, func(ctx context.Context) {
					r, err := client.Wait(ctx, "a")
					if err != nil || r.State != Done || r.Reply != "done" {
						t.Errorf("%+v, %v", r, err)
					}
				})
				if effects != before || attempts != attempted || attempts == 0 {
					t.Errorf("%d effects and %d attempts, then %d and %d", before, attempted, effects, attempts)
				}
				read, said, _ := strings.Cut(read, "\n\n[The arguments of this call were changed")
				if c.fails < 3 && (read != "paid" || (said != "") != strings.HasSuffix(name, "FromHook")) {
					t.Errorf("the model reads %q", read)
				}
			})
		})
	}
}

// TestRewrittenConversationsContinue: each step is of another worker. A hook changes the conversation before the fourth
// one, and the model reads what it would read in one process. Nothing but a change stores the conversation anew.
func TestRewrittenConversationsContinue(t *testing.T) {
	for name, change := range map[string]func([]agent.Message) []agent.Message{
		"Nothing": func(all []agent.Message) []agent.Message { return all },
		"Shorter": func(all []agent.Message) []agent.Message { return all[:1] },
		"Content": func(all []agent.Message) []agent.Message { all[2].Content = "gone"; return all },
		"Args":    func(all []agent.Message) []agent.Message { all[1].ToolCalls[0].Args = []byte(`{}`); return all },
		"Part":    func(all []agent.Message) []agent.Message { all[0].Parts = []agent.Part{{URL: "x"}}; return all },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rewrite := agent.BeforeStepFunc(func(_ context.Context, run *agent.Run, step agent.Step) error {
					if step.Number == 4 {
						run.Env.RewriteConversation("a test", change)
					}
					return nil
				})
				var prompts []string
				stop := func() {} // the worker
				model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
					prompt, _ := json.Marshal(req.Messages) // messages can always be encoded
					prompts = append(prompts, string(prompt))
					stop()
					if req.Step == 6 {
						return agent.LLMResponse{Content: "done"}
					}
					return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
						{ID: fmt.Sprint(req.Step), Name: "look", Args: []byte(`{ "of": "a<b" }`)},
					}}
				})
				agents := clerk(model, loop.ReadOnly(&looptest.Tool{Name: "look", Result: "sun"}))
				agents["clerk"].Hooks = loop.Hooks(rewrite)
				if _, err := agents["clerk"].Run(t.Context(), "work"); err != nil {
					t.Fatal(err)
				}
				want := prompts
				prompts = nil
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				for range 6 {
					var ctx context.Context
					ctx, stop = context.WithCancel(t.Context())
					if err := (&Worker{Store: store, Logger: quiet, Agents: agents, Slots: 1}).Run(ctx); err != nil {
						t.Error(err)
					}
					stop()
				}
				if s, err := client.Status(t.Context(), "a"); err != nil || s.State != Done || s.Claims != 6 {
					t.Errorf("%+v, %v", s, err)
				}
				if !slices.Equal(prompts, want) {
					t.Errorf("the model reads\n%s\nwant\n%s", strings.Join(prompts, "\n"), strings.Join(want, "\n"))
				}
				entries, err := store.Log.Read(t.Context(), "a", 0)
				whole := slices.ContainsFunc(entries, func(e Entry) bool {
					return strings.Contains(string(e.Event), `"whole":true`)
				})
				if err != nil || whole != (name != "Nothing") {
					t.Errorf("stored anew: %v, %v", whole, err)
				}
			})
		})
	}
}

// TestNothingFollowsTheEnd: a hook does not wait for the call that it makes. The call is given up when the run ends,
// and its record comes after the end.
func TestNothingFollowsTheEnd(t *testing.T) {
	for _, name := range []string{"Acknowledged", "AnswerLost"} {
		t.Run(name, func(t *testing.T) {
			store := newMemory(simLifetime).store()
			client := NewClient(store)
			if err := client.Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			rec, err := client.record(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			w := newWriter(store.Log, agent.SystemClock{}, rec, "w")
			if name == "AnswerLost" {
				w.log = lostAnswers{store.Log}
			}
			for _, e := range []event{
				{Kind: claimed, Claim: &Token{Message: 1, Try: 1}}, {Kind: ended, Result: &Result{State: Done}},
			} {
				if err := w.append(t.Context(), e); err != nil {
					t.Fatal(err)
				}
			}
			err = w.append(t.Context(), event{Kind: finished, Outcome: &outcome{Key: "1.a"}})
			s, failed := client.Status(t.Context(), "a")
			if !errors.Is(err, errLost) || failed != nil || s.State != Done {
				t.Errorf("%v; %+v, %v", err, s, failed)
			}
		})
	}
}

// lostAnswers is a log that adds each event and then fails.
type lostAnswers struct{ Log }

func (l lostAnswers) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	if _, err := l.Log.Append(ctx, run, data, last); err != nil {
		return 0, err
	}
	return 0, errFault
}

var errBusy = errors.New("busy")

// repeats calls a tool again that was busy. The error that another worker has recorded does not look so.
func repeats(most int) agent.Hook {
	return agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (answer hookkit.Answer[agent.ToolCallResult], err error) {
		for range most {
			if answer, err = next.Call(ctx, call); !errors.Is(err, errBusy) {
				break
			}
		}
		return answer, err
	})
}

// twice makes each call twice.
func twice() agent.Hook {
	return agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		if _, err := next.Call(ctx, call); err != nil {
			return hookkit.Answer[agent.ToolCallResult]{}, err
		}
		return next.Call(ctx, call)
	})
}

// answering answers the first step instead of the model.
func answering(args string) agent.Hook {
	return agent.BeforeLLMFunc(func(
		_ context.Context, _ *agent.Run, req agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		if req.Step > 1 {
			return nil, nil
		}
		var reply agent.LLMResponse
		for i, name := range []string{"pay", "hang"} {
			reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{
				ID: fmt.Sprint("h", i), Name: name, Args: json.RawMessage(args),
			})
		}
		return agent.UseReply{Response: reply}, nil
	})
}

// TestCallDoesNotStartAfterAnotherClaim: a worker has recorded that a call begins, but not learned it. Before it looks
// again, another worker claims the run and asks a person, who may have the call made again.
func TestCallDoesNotStartAfterAnotherClaim(t *testing.T) {
	store := newMemory(simLifetime).store()
	if err := NewClient(store).Submit(t.Context(), Task{ID: "r", Agent: "clerk", Text: "pay"}); err != nil {
		t.Fatal(err)
	}
	entries, err := store.Log.Read(t.Context(), "r", 0)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recordOf("r", entries)
	if err != nil {
		t.Fatal(err)
	}
	log := &forgetfulLog{Log: store.Log}
	first := newWriter(log, agent.SystemClock{}, rec, "first")
	log.after = func(last uint64) {
		other := newWriter(store.Log, agent.SystemClock{}, rec, "second")
		other.last = last
		if err := other.append(t.Context(), event{Kind: claimed, Claim: new(Token)}); err != nil {
			t.Error(err)
		}
	}
	if err := first.append(t.Context(), event{Kind: begun, Call: new(call)}); !errors.Is(err, errLost) {
		t.Errorf("the call may start although another worker has claimed the run: %v", err)
	}
}

// A forgetfulLog adds an event, and does not tell its number.
type forgetfulLog struct {
	Log
	after func(last uint64)
}

func (l *forgetfulLog) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	number, err := l.Log.Append(ctx, run, data, last)
	if err != nil {
		return 0, err
	}
	l.after(number)
	return 0, errors.New("no answer")
}
