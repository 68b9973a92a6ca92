package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// eventful returns a harness whose run fires nearly every point: calls that succeed, fail, report progress, are denied,
// unknown and answered by a sub-agent, a compaction, a rejected answer, and a handoff.
func eventful() looptest.Harness {
	reports := &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		agentspec.Progress(ctx, "half", 1)
		return "done", nil
	}}
	helper := &loop.Agent{Name: "helper", Model: replies("from the helper"), Tools: tools(reports)}
	expert := &loop.Agent{Name: "expert", Model: replies("from the expert"), Tools: tools(reports)}
	script := looptest.NewScript(
		looptest.Calls(looptest.Call("work", nil), looptest.Call("fails", nil), looptest.Call("denied", nil),
			looptest.Call("asked", nil), looptest.Call("unknown", nil), looptest.Call("helper", `{"task":"t"}`)),
		looptest.Reply("rejected"), looptest.Call("transfer_to_expert", `{"task":"t"}`), looptest.Reply("over"))
	return looptest.Harness{
		Tools: tools(reports, &looptest.Tool{Name: "fails", Err: errBoom}, &looptest.Tool{Name: "denied"},
			&looptest.Tool{Name: "asked"}, loop.Subagent(helper)),
		Agent: &loop.Agent{
			Model: script, Handoffs: []*loop.Agent{expert}, Compactor: &compactor{}, Limits: loop.Limits{Briefing: 1, Steps: 6},
			Approver: says(true),
		},
		Hooks: hooks(rejectFirst(1), compactWhen(6), permission(
			func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				switch c.Name {
				case "denied":
					return agent.Deny{}, nil
				case "asked":
					return agent.Ask{}, nil
				}
				return nil, nil
			}), agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) {
			return []string{"longer than one token"}, nil
		})),
	}
}

// replies returns a model that always replies with the text.
func replies(text string) agent.Model {
	return model(func(agent.LLMRequest) (agent.LLMResponse, error) { return agent.LLMResponse{Content: text}, nil })
}

// checkEnded fails the test unless everything that began in the record has ended.
func checkEnded(t *testing.T, recorder *hooktest.Recorder, messages []agent.Message) {
	t.Helper()
	checkPaired(t, recorder)
	checkAnswered(t, messages)
}

// A misbehaviour is what a hostile hook does at a point. It may return, panic, or end its goroutine.
type misbehaviour struct {
	name string
	act  func(cancel func()) error
}

func misbehaviours() []misbehaviour {
	returns := func(name string, err error) misbehaviour {
		return misbehaviour{name, func(func()) error { return err }}
	}
	panics := func(name string, v any) misbehaviour { return misbehaviour{name, func(func()) error { panic(v) }} }
	return []misbehaviour{
		returns("Error", errBoom), returns("NilError", unusable()), returns("Liar", liar{}),
		returns("NoFailure", (*hookkit.Failure)(nil)), returns("NoToolError", (*agent.ToolError)(nil)),
		panics("Panic", "boom"), panics("PanicWithNilError", unusable()), panics("PanicWithLiar", liar{}),
		{"Goexit", func(func()) error { runtime.Goexit(); return nil }},
		{"Cancel", func(cancel func()) error { cancel(); return nil }},
		{"CancelAndFail", func(cancel func()) error { cancel(); return context.Canceled }},
		{"CancelAndPanic", func(cancel func()) error { cancel(); panic("late") }},
	}
}

func TestHostileHooksCannotBreakARun(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		for _, m := range misbehaviours() {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", p.Name, m.name, stream), func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					ran := eventful().Make()
					ran.Agent.Hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
					for _, info := range ran.Agent.Hooks.Points() {
						if info.Name == p.Name {
							info.AddAny(func(ctx context.Context, _ hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
								if c.Next != nil && m.name == "Cancel" {
									cancel()
									return c.Next(ctx, c.Payload)
								}
								return hookkit.AnyReply{}, m.act(cancel)
							})
						}
					}
					var result agent.AgentResult
					var err error
					if stream {
						for e, failed := range ran.Agent.Stream(ctx, loop.Request{Task: "x"}) {
							if e.End != nil && e.Kind == loop.EventEnd {
								result, err = *e.End, failed
							}
						}
					} else {
						done := make(chan struct{})
						go func() { // a hook may end this goroutine
							defer close(done)
							result, err = ran.Agent.Do(ctx, loop.Request{Task: "x"})
						}()
						<-done
					}
					if result.Agent == "" {
						ends := hooktest.PayloadsOf[agent.AgentResult](ran.Recorder, "OnRunEnd")
						result = ends[len(ends)-1]
					}
					checkEnded(t, ran.Recorder, result.Messages)
					if (err != nil) != (result.Err != "") && ctx.Err() == nil && m.name != "Goexit" {
						t.Errorf("returned %v, the result has %q", err, result.Err)
					}
					if err != nil {
						_ = errors.Is(err, errBoom) // must not panic or hang for the caller
						_ = err.Error()
					}
					if len(result.Signals) == 0 || result.Agent == "" {
						t.Errorf("got %+v", result)
					}
				})
			}
		}
	}
}

func TestTheEventfulRunFiresNearlyEveryPoint(t *testing.T) {
	ran := eventful().Run(t, "x")
	checkEnded(t, ran.Recorder, ran.Messages)
	rare := map[string]bool{"OnToolsDisabled": true, "OnRunError": true, "OnDoneAccepted": true}
	for _, p := range new(agent.Hooks).Points() {
		if n := ran.Recorder.Count(p.Name); n == 0 && !rare[p.Name] {
			t.Errorf("%s did not fire", p.Name)
		}
	}
	if ran.Reply != "from the expert" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}
