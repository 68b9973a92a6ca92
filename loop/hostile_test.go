package loop_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// refusing returns a harness whose run fires the points that eventful does not: a call without tools, and a failure.
func refusing() looptest.Harness {
	return looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Error(errBoom)), Tools: tools(work()),
		Agent: &loop.Agent{ToolsDisabled: func() bool { return true }},
	}
}

// scenarioOf returns a harness whose run fires a point.
func scenarioOf(t testing.TB, point string) looptest.Harness {
	t.Helper()
	for _, scenario := range []func() looptest.Harness{eventful, refusing} {
		if scenario().Run(t, "x").Recorder.Count(point) > 0 {
			return scenario()
		}
	}
	t.Fatalf("no run of this test fires %s; extend one of them", point)
	return looptest.Harness{}
}

// replies returns a model that always replies with the text.
func replies(text string) agent.Model {
	return model(func(agent.LLMRequest) (agent.LLMResponse, error) { return agent.LLMResponse{Content: text}, nil })
}

// A misbehaviour is an action of a hostile part of an agent. It may return, panic, or end its goroutine.
type misbehaviour struct {
	name string
	act  func(ctx context.Context, cancel func()) error // cancel cancels the context of the caller
}

// failures are the misbehaviours that cancel nothing.
func failures() []misbehaviour {
	returns := func(name string, err error) misbehaviour {
		return misbehaviour{name, func(context.Context, func()) error { return err }}
	}
	panics := func(name string, v any) misbehaviour {
		return misbehaviour{name, func(context.Context, func()) error { panic(v) }}
	}
	return []misbehaviour{
		returns("Error", errBoom), returns("NilError", unusable()), returns("Liar", liar{}), returns("Ring", ring{}),
		returns("NoFailure", (*hookkit.Failure)(nil)), returns("NoToolError", (*agent.ToolError)(nil)),
		panics("Panic", "boom"), panics("PanicWithNilError", unusable()), panics("PanicWithLiar", liar{}),
		{"Goexit", func(context.Context, func()) error { runtime.Goexit(); return nil }},
	}
}

func misbehaviours() []misbehaviour {
	return append(failures(),
		misbehaviour{"Cancel", func(_ context.Context, cancel func()) error { cancel(); return nil }},
		misbehaviour{"CancelAndFail", func(_ context.Context, cancel func()) error { cancel(); return context.Canceled }},
		misbehaviour{"CancelAndPanic", func(_ context.Context, cancel func()) error { cancel(); panic("late") }},
		misbehaviour{"BlockUntilCancelled", func(ctx context.Context, cancel func()) error {
			cancel()
			if ctx.Done() == nil { // at a point that fires while the run ends
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}},
	)
}

// misbehave adds a hook to a point that does what act does.
func misbehave(
	ran *looptest.Ran, point string, act func(context.Context) error, opts ...hookkit.GateOption,
) {
	for _, info := range ran.Agent.Hooks.Points() {
		if info.Name == point {
			info.AddAny(func(ctx context.Context, _ hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
				err := act(ctx)
				if c.Next != nil && err == nil {
					return c.Next(ctx, c.Payload)
				}
				return hookkit.AnyReply{}, err
			}, opts...)
		}
	}
}

// finish runs the agent and returns its result. A hook may end the goroutine of the run, so that it returns nothing;
// then the result is that of OnRunEnd. finish fails the test unless everything that began has ended.
func finish(t *testing.T, ctx context.Context, ran *looptest.Ran, stream bool) (result agent.AgentResult, err error) {
	t.Helper()
	ran.Agent.Hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
	returned := false
	if stream {
		for e, failed := range ran.Agent.Stream(ctx, loop.Request{Task: "x"}) {
			if e.Kind == loop.EventEnd {
				result, err = looptest.Ended(*e.End, failed)
				returned = true
			}
		}
	} else {
		done := make(chan struct{})
		go func() {
			defer close(done)
			result, err = looptest.Ended(ran.Agent.Do(ctx, loop.Request{Task: "x"}))
			returned = true
		}()
		<-done
	}
	root := ran.Recorder.Fires("OnRunStart")[0].Run
	ends := slices.DeleteFunc(ran.Recorder.Fires("OnRunEnd"), func(f hooktest.Fire) bool { return f.Run != root })
	if len(ends) != 1 {
		t.Fatalf("OnRunEnd fired %d times", len(ends))
	}
	if !returned {
		result = ends[0].Payload.(agent.AgentResult)
	} else if (err != nil) != (result.Err != "") && ctx.Err() == nil {
		t.Errorf("returned %v, the result has %q", err, result.Err)
	}
	if err != nil {
		_ = errors.Is(err, errBoom) // must not panic or hang for the caller
		_ = err.Error()
	}
	if len(result.Signals) == 0 || result.Agent == "" {
		t.Errorf("got %+v", result)
	}
	checkPaired(t, ran.Recorder)
	checkAnswered(t, result.Messages)
	return result, err
}

func TestHostileHooksCannotBreakARun(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		for _, m := range misbehaviours() {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", p.Name, m.name, stream), func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					ran, called := scenarioOf(t, p.Name).Make(), new(atomic.Bool)
					misbehave(ran, p.Name, func(ctx context.Context) error {
						called.Store(true)
						return m.act(ctx, cancel)
					})
					if _, err := finish(t, ctx, ran, stream); !called.Load() {
						t.Errorf("the hook was not called, %v", err)
					}
				})
			}
		}
	}
}

// cleanup are the points whose context is not cancelled with the run.
var cleanup = []string{
	"AfterCompact", "OnToolError", "AfterTool", "OnSubagentStop", "AfterStep", "OnRunError", "OnStop", "BeforeRunEnd",
	"OnRunEnd",
}

// A hook that waits for its context returns if the run is cancelled, or else at its own time limit. A deaf hook, which
// ignores its context, is abandoned then.
func TestHooksThatHangAreBounded(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/deaf=%v", p.Name, deaf), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ran, release := scenarioOf(t, p.Name).Make(), make(chan struct{})
					misbehave(ran, p.Name, func(ctx context.Context) error {
						if deaf {
							<-release
							return nil
						}
						<-ctx.Done()
						return ctx.Err()
					}, hookkit.Timeout(time.Minute))
					finish(t, t.Context(), ran, false)
					close(release)
				})
			})
		}
	}
}

func TestCleanupIsNotCancelledWithItsRun(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			ran, cancellable := scenarioOf(t, p.Name).Make(), new(atomic.Bool)
			misbehave(ran, p.Name, func(ctx context.Context) error {
				cancellable.Store(ctx.Done() != nil)
				return nil
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			finish(t, ctx, ran, false)
			if cancellable.Load() == slices.Contains(cleanup, p.Name) {
				t.Errorf("its context is cancelled with the run: %t", cancellable.Load())
			}
		})
	}
}

func TestHostileObserversChangeNoResult(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		for _, m := range failures() {
			t.Run(p.Name+"/"+m.name, func(t *testing.T) {
				h := scenarioOf(t, p.Name)
				want := scenarioOf(t, p.Name).Run(t, "x")
				ran, called := h.Make(), new(atomic.Bool)
				for _, info := range ran.Agent.Hooks.Points() {
					if info.Name == p.Name {
						info.ObserveAny(func(ctx context.Context, _ hookkit.AnyRun, _ hookkit.AnyFired) {
							called.Store(true)
							_ = m.act(ctx, nil)
						})
					}
				}
				result, _ := finish(t, t.Context(), ran, false)
				if !called.Load() {
					t.Error("the observer was not called")
				}
				if m.name != "Goexit" && (result.Reply != want.Reply || result.Err != want.Err || result.Steps != want.Steps) {
					t.Errorf("got %+v, want %+v", result, want.AgentResult)
				}
			})
		}
	}
}

// refusals checks for each FailClosed point that nothing happened that its hooks guard.
var refusals = map[string]func(ran *looptest.Ran, result agent.AgentResult) bool{
	"OnRunStart":    never("BeforeStep"),
	"ShouldStop":    never("BeforeStep"),
	"BeforeCompact": never("AfterCompact"),
	"BeforeLLM":     never("AroundLLM"),
	"AfterLLM": func(ran *looptest.Ran, result agent.AgentResult) bool {
		return ran.Recorder.Count("BeforeTool") == 0 && !has(result, agent.RoleAssistant, "")
	},
	"BeforeTool":   never("AroundTool"),
	"BeforeAsk":    never("OnPermissionGranted"),
	"OnPermission": never("AroundTool", "OnHandoff"),
	"OnHandoff": func(ran *looptest.Ran, _ agent.AgentResult) bool {
		return !slices.ContainsFunc(hooktest.PayloadsOf[agent.Subagent](ran.Recorder, "OnSubagentStart"),
			func(s agent.Subagent) bool { return s.Handoff })
	},
	"AfterTool": func(_ *looptest.Ran, result agent.AgentResult) bool {
		return !has(result, agent.RoleTool, "done") && !slices.ContainsFunc(result.Calls, agent.ToolCallResult.OK)
	},
	"CheckDone": never("OnDoneAccepted"),
	"BeforeRunEnd": func(_ *looptest.Ran, result agent.AgentResult) bool {
		return result.Err != "" && result.Reply == "" && len(result.Calls) == 0 && len(result.Messages) == 0
	},
}

// never reports whether none of the points fired.
func never(points ...string) func(*looptest.Ran, agent.AgentResult) bool {
	return func(ran *looptest.Ran, _ agent.AgentResult) bool { return len(ran.Recorder.Fires(points...)) == 0 }
}

// has reports whether a message of the result has the role and contains the text.
func has(result agent.AgentResult, role agent.Role, text string) bool {
	return slices.ContainsFunc(result.Messages, func(m agent.Message) bool {
		return m.Role == role && strings.Contains(m.Content, text)
	})
}

func TestFailingHookRefusesAtFailClosedPoint(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		refused := refusals[p.Name]
		if closed := strings.Contains(p.Results, "FailClosed"); closed != (refused != nil) {
			t.Errorf("%s is FailClosed: %t; add it to the list or remove it", p.Name, closed)
		}
		if refused == nil {
			continue
		}
		if ran := eventful().Run(t, "x"); refused(ran, ran.AgentResult) {
			t.Errorf("%s: the run does nothing that a hook could refuse", p.Name)
		}
		for _, m := range failures() {
			t.Run(p.Name+"/"+m.name, func(t *testing.T) {
				ran := eventful().Make()
				misbehave(ran, p.Name, func(ctx context.Context) error { return m.act(ctx, nil) })
				if result, _ := finish(t, t.Context(), ran, false); !refused(ran, result) {
					t.Errorf("not refused: %+v", result)
				}
			})
		}
	}
}

// A hostileApprover answers as act does.
type hostileApprover struct{ act func(context.Context) error }

func (h hostileApprover) Approve(ctx context.Context, _ agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true}, h.act(ctx)
}

func TestHostilePartsCannotBreakARun(t *testing.T) {
	for part, use := range map[string]func(h *looptest.Harness, act func(context.Context) error){
		"Model": func(h *looptest.Harness, act func(context.Context) error) {
			h.Agent.Model = looptest.NewScript(looptest.Func(
				func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
					return agent.LLMResponse{Content: "done"}, act(ctx)
				}))
		},
		"Tool": func(h *looptest.Harness, act func(context.Context) error) {
			h.Tools[0] = &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
				return "done", act(ctx)
			}}
		},
		"Approver": func(h *looptest.Harness, act func(context.Context) error) {
			h.Hooks = append(h.Hooks, votes(agent.Ask{}))
			h.Agent.Approver = hostileApprover{act}
		},
		"Compactor": func(h *looptest.Harness, act func(context.Context) error) {
			h.Agent.Compactor = hostileCompactor(act)
		},
		"ToolsDisabled": func(h *looptest.Harness, act func(context.Context) error) {
			h.Agent.ToolsDisabled = func() bool { return act(context.Background()) != nil }
		},
	} {
		for _, m := range misbehaviours() {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", part, m.name, stream), func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					h, called := eventful(), new(atomic.Bool)
					use(&h, func(ctx context.Context) error {
						called.Store(true)
						return m.act(ctx, cancel)
					})
					if _, err := finish(t, ctx, h.Make(), stream); !called.Load() {
						t.Errorf("%s was not called, %v", part, err)
					}
				})
			}
		}
	}
}

// A hostileCompactor compacts as act does.
type hostileCompactor func(context.Context) error

func (f hostileCompactor) Compact(ctx context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: c.Messages[len(c.Messages)-1:]}, f(ctx)
}

func TestRunsOfThisTestFireEveryPoint(t *testing.T) {
	for _, p := range new(agent.Hooks).Points() {
		scenarioOf(t, p.Name)
	}
	ran := eventful().Run(t, "x")
	checkPaired(t, ran.Recorder)
	checkAnswered(t, ran.Messages)
	if ran.Reply != "from the expert" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}
