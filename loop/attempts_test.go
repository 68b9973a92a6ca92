package loop_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestAnAbandonedAroundHookLeavesNothingRunning(t *testing.T) {
	for _, c := range []struct {
		name string
		deaf bool // the tool ignores its context
	}{{"Cancelled", false}, {"Deaf", true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				deaf := c.deaf
				release := make(chan struct{})
				var returned atomic.Bool
				wait := func(ctx context.Context) {
					if deaf {
						<-release
					} else {
						<-ctx.Done()
					}
					returned.Store(true)
				}
				timed := bind(func(h *agent.Hooks) {
					h.AroundTool.Add(agent.AroundToolFunc(func(
						ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
					) (hookkit.Answer[agent.ToolCallResult], error) {
						return next.Call(ctx, call)
					}), hookkit.Timeout(time.Minute))
				})
				begun := time.Now()
				ran := looptest.Harness{
					Turns: turns(looptest.Call("hang", nil), looptest.Reply("ok")),
					Tools: tools(&looptest.Tool{Name: "hang", Func: func(
						ctx context.Context, _ agent.ToolCallRequest,
					) (string, error) {
						wait(ctx)
						return "late", nil
					}}),
					Hooks: hooks(timed, afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
						if returned.Load() == deaf {
							t.Errorf("at AfterTool the tool has returned: %t", !deaf)
						}
						return nil, nil
					})),
				}.Run(t, "x")
				took := time.Minute
				if deaf {
					took += time.Second // the grace period
				}
				if r := ran.Calls[0]; r.Status != agent.CallFailed || r.Kind != agent.FailTimeout || r.Output != "" ||
					r.Attempts != 1 || ran.Reply != "ok" {
					t.Errorf("recorded %+v", r)
				}
				if got := time.Since(begun); got != took {
					t.Errorf("it took %v, want %v", got, took)
				}
				ran.Recorder.InOrder(t, "AroundTool", "AfterTool")
				close(release)
			})
		})
	}
}

func TestAnAbandonedSubagentEndsBeforeItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := calling(&looptest.Tool{Name: "search", Hang: true}, looptest.Call("search", nil))
		l.Hooks = hooks(bind(func(h *agent.Hooks) {
			h.AroundTool.Add(agent.AroundToolFunc(func(
				ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
			) (hookkit.Answer[agent.ToolCallResult], error) {
				return next.Call(ctx, call)
			}), hookkit.Timeout(time.Minute))
		}))
		ran := l.Run(t, "x")
		checkPaired(t, ran.Recorder)
		ran.Recorder.InOrder(t, "OnSubagentStart", "OnSubagentStop", "AfterTool")
		if ran.Reply != "done" {
			t.Errorf("got %+v", ran.AgentResult)
		}
	})
}
