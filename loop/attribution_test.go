package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// named registers a hook under a name.
func named(name string, h agent.Hook) agent.Hook {
	return bind(func(hooks *agent.Hooks) { hooks.Use(h, hookkit.Named(name)) })
}

func signals(s ...agent.EndRun) ([]agent.EndRun, error) { return s, nil }

func TestSignalsNameTheirHook(t *testing.T) {
	end := agent.EndTurn{Reply: "end", Reason: "enough"}
	one := turns(looptest.Call("work", nil), looptest.Reply("ok"))
	for _, c := range []struct {
		name  string
		hook  agent.Hook
		turns []looptest.Turn
	}{
		{"OnRunStart", onStart(end, nil), nil},
		{"OnRunStartFails", onStart(nil, errBoom), nil},
		{"ShouldStop", agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
			return signals(agent.EndRun{Cause: agent.CauseTimeLimit, By: "another name"})
		}), nil},
		{"ShouldStopFails", agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
			return nil, errBoom
		}), nil},
		{"BeforeLLM", beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return end, nil }), nil},
		{"BeforeLLMFails", beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return nil, errBoom }), nil},
		{"AroundLLMFails", agent.AroundLLMFunc(func(
			context.Context, *agent.Run, agent.LLMRequest, agent.AroundLLMNext,
		) (hookkit.Answer[agent.LLMResponse], error) {
			return hookkit.Answer[agent.LLMResponse]{}, errBoom
		}), nil},
		{"AfterLLM", afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { return end, nil }), one},
		{"AfterLLMFails", afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { panic("x") }), one},
		{"BeforeTool", atTool("work", end, nil), one},
		{"AfterTool", afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return end, nil }), one},
		{"OnRunError",
			agent.OnRunErrorFunc(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
				return end, nil
			}),
			turns(looptest.Error(errBoom))},
		{"BeforeRunEndFails", agent.BeforeRunEndFunc(func(
			context.Context, *agent.Run, agent.AgentResult,
		) (agent.BeforeRunEndOutcome, error) {
			return nil, errBoom
		}), turns(looptest.Reply("ok"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{Turns: c.turns, Tools: tools(work()), Hooks: hooks(named("warden", c.hook))}.Run(t, "x")
			if ran.Stop.By != "warden" {
				t.Errorf("stopped by %+v of %+v", ran.Stop, ran.Signals)
			}
			if ended := ran.Stop.Cause == agent.CauseStopRequested; ended != (ran.EndedBy == "warden") {
				t.Errorf("ended by %q: %+v", ran.EndedBy, ran.Stop)
			}
		})
	}
}

func TestEachContributionNamesItsHook(t *testing.T) {
	stopping := func(name string) agent.Hook {
		return named(name, agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
			return signals(agent.EndRun{Message: name}, agent.EndRun{Message: name, By: "forged"})
		}))
	}
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")), Hooks: hooks(stopping("first"), stopping("second")),
	}.Run(t, "x")
	if len(ran.Signals) != 5 || ran.Signals[0].By != "" {
		t.Fatalf("got %+v", ran.Signals)
	}
	for _, s := range ran.Signals[1:] {
		if s.By != s.Message {
			t.Errorf("%+v", s)
		}
	}
}

func TestSkippedCallsNameTheHook(t *testing.T) {
	answered := agent.AroundToolFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		return hookkit.Answered(agent.ToolCallResult{Output: "mine"}), nil
	})
	permits := func(o agent.OnPermissionOutcome, err error) agent.Hook {
		return permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return o, err })
	}
	for _, c := range []struct {
		name   string
		hook   agent.Hook
		reason string
	}{
		{"Skipped", atTool("work", agent.SkipTool{Reason: "cache"}, nil), "cache"},
		{"Refused", atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Err: "no"}, Reason: "policy"}, nil), "policy"},
		{"BeforeToolFails", atTool("work", nil, errBoom), "boom"},
		{"Denied", permits(agent.Deny{Reason: "never"}, nil), "never"},
		{"OnPermissionFails", permits(nil, errBoom), "boom"},
		{"NobodyToAsk", permits(agent.Ask{Reason: "risky"}, nil), "nobody"},
		{"Answered", answered, ""},
		{"AroundToolPanics", agent.AroundToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			panic("boom")
		}), "boom"},
		{"AfterToolFails", afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return nil, errBoom
		}), "boom"},
		{"AfterToolRejects", afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Err = "too large"
			return agent.ReplaceAfterTool(r, "validator"), nil
		}), "validator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()),
				Hooks: hooks(named("warden", c.hook)),
			}.Run(t, "x")
			if r := ran.Calls[0]; r.By != "warden" || !strings.Contains(r.Reason, c.reason) || r.Status == agent.CallSucceeded {
				t.Errorf("recorded %+v", r)
			}
			for _, d := range hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied") {
				if d.By != "warden" {
					t.Errorf("denied %+v", d)
				}
			}
		})
	}
}

func TestARejectedAnswerNamesTheHook(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("done", `{"answer":"42"}`)),
		Hooks: hooks(named("gate", rejectFirst(9))),
		Agent: &loop.Agent{Done: doneTool, Limits: loop.Limits{Rejections: 1}},
	}.Run(t, "x")
	if ran.Calls[0].By != "gate" || ran.Stop.Detail["rejectedBy"] != "gate" {
		t.Errorf("recorded %+v, stopped by %+v", ran.Calls[0], ran.Stop)
	}
}

func TestTheLastRejectedAnswerIsTheReply(t *testing.T) {
	fails := checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) { return nil, errBoom })
	for _, c := range []struct {
		name  string
		turn  looptest.Turn
		hook  agent.Hook
		reply string
	}{
		{"OfAReply", looptest.Reply("42"), rejectFirst(9), "42"},
		{"OfACall", looptest.Call("done", `{"answer":"42"}`), rejectFirst(9), "42"},
		{"ThatWasNotChecked", looptest.Reply("42"), fails, loop.DefaultFallback},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("first"), c.turn), Hooks: hooks(c.hook),
				Agent: &loop.Agent{Done: doneTool, Limits: loop.Limits{Rejections: 2}},
			}.Run(t, "x")
			last := ran.Messages[len(ran.Messages)-1]
			if ran.Reply != c.reply || !ran.Forced() || last.Role != agent.RoleAssistant || last.Content != c.reply {
				t.Errorf("replied %q, stopped by %+v, the conversation ends with %+v", ran.Reply, ran.Stop, last)
			}
			checkAnswered(t, ran.Messages)
		})
	}
}

func beforeEnd(f func(agent.AgentResult) agent.AgentResult) agent.Hook {
	return agent.BeforeRunEndFunc(func(
		_ context.Context, _ *agent.Run, r agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		return agent.ReplaceBeforeRunEnd(f(r), "x"), nil
	})
}

func TestChangesOfOwnedFieldsAreUndone(t *testing.T) {
	for _, c := range []struct {
		name string
		hook agent.Hook
		want []string // expected in the warning; nil: no warning
	}{
		{"AfterTool", afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Call.ID, r.Status, r.Attempts = "forged", agent.CallRefused, 9
			return agent.ReplaceAfterTool(r, "x"), nil
		}), []string{"AfterTool", "warden", "Call.ID, Status, Attempts"}},
		{"AfterToolMadeAnew", afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return agent.ReplaceAfterTool(agent.ToolCallResult{
				Call: agent.ToolCallRequest{Name: r.Call.Name}, Output: "new",
			}, "x"), nil
		}), nil},
		{"AfterToolOutput", afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output = "new"
			return agent.ReplaceAfterTool(r, "x"), nil
		}), nil},
		{"BeforeTool", beforeTool(func(r agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			r.ID = "forged"
			return agent.ReplaceBeforeTool(r, "x"), nil
		}), []string{"BeforeTool", "warden", "ID"}},
		{"BeforeLLM", beforeLLM(func(r agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			r.Step = 99
			return agent.ReplaceBeforeLLM(r, "x"), nil
		}), []string{"BeforeLLM", "warden", "Step"}},
		{"AfterLLM", afterLLM(func(r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			r.Usage.Input, r.Elapsed = 99, 99
			return agent.ReplaceAfterLLM(r, "x"), nil
		}), []string{"AfterLLM", "warden", "Usage, Elapsed"}},
		{"AfterLLMMadeAnew", afterLLM(func(r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			return agent.ReplaceAfterLLM(agent.LLMResponse{Content: r.Content, ToolCalls: r.ToolCalls}, "x"), nil
		}), nil},
		{"CheckDone", checkDone(func(d agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			d.Rejections, d.Call = 7, &agent.ToolCallRequest{ID: "forged"}
			return agent.ReplaceCheckDone(d, "x"), nil
		}), []string{"CheckDone", "warden", "Rejections, Call"}},
		{"AfterCompact", bind(func(h *agent.Hooks) {
			h.Use(compactWhen(1))
			h.AfterCompact.AddFunc(func(
				_ context.Context, _ *agent.Run, c agent.Compacted,
			) (agent.AfterCompactOutcome, error) {
				c.Err, c.Reason, c.Messages = "", agent.CompactRequested, long(1)
				return agent.ReplaceAfterCompact(c, "x"), nil
			}, hookkit.Named("warden"))
		}), []string{"AfterCompact", "warden", "Reason, Messages of a compaction that was undone"}},
		{"BeforeRunEnd", beforeEnd(func(r agent.AgentResult) agent.AgentResult {
			r.Steps, r.Stop.Cause, r.Signals, r.Err = 99, agent.CauseError, []agent.EndRun{{}}, "forged"
			return r
		}), []string{"BeforeRunEnd", "warden", "Steps, Stop, Signals, Err"}},
		{"BeforeRunEndUsage", beforeEnd(func(r agent.AgentResult) agent.AgentResult {
			r.UsageByModel = map[string]agent.Usage{"forged": {Input: 1}}
			r.Unread = []agent.Message{{Role: agent.RoleUser, Content: "forged"}}
			return r
		}), []string{"BeforeRunEnd", "warden", "UsageByModel, Unread"}},
		{"BeforeRunEndMadeAnew", beforeEnd(func(agent.AgentResult) agent.AgentResult {
			return agent.AgentResult{Reply: "new"}
		}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(named("warden", c.hook)),
			}.Run(t, "x")
			if c.want == nil {
				if len(ran.Warnings) != 0 {
					t.Errorf("warned %q", ran.Warnings)
				}
				return
			}
			if ran.Err != "" || ran.Stop.Cause != agent.CauseCompleted || len(ran.Signals) != 1 {
				t.Errorf("got %+v", ran.AgentResult)
			}
			undone := slices.DeleteFunc(ran.Warnings, func(w string) bool { return strings.HasPrefix(w, "a compaction") })
			if len(undone) != 1 {
				t.Fatalf("warned %q, want one warning", ran.Warnings)
			}
			for _, want := range c.want {
				if !strings.Contains(undone[0], want) {
					t.Errorf("warned %q, want %q", undone[0], want)
				}
			}
		})
	}
}

func TestSeedsFollowFromTheSeedOfRun(t *testing.T) {
	type seeds struct{ env, request map[string]uint64 }
	run := func(seed uint64) (string, seeds) {
		s := seeds{make(map[string]uint64), make(map[string]uint64)}
		l, _, _ := calling(work(), looptest.Reply("inner"))
		l.Hooks = hooks(agent.BeforeLLMFunc(func(
			_ context.Context, run *agent.Run, req agent.LLMRequest,
		) (agent.BeforeLLMOutcome, error) {
			s.env[run.Env.Agent], s.request[run.Env.Agent] = run.Env.Seed, *req.Seed
			return nil, nil
		}))
		l.Do(t, t.Context(), loop.Request{Task: "x", Seed: seed})
		text, err := json.Marshal([]any{s.env, s.request})
		if err != nil {
			t.Fatal(err)
		}
		return string(text), s
	}
	first, s := run(7)
	again, _ := run(7)
	other, _ := run(8)
	if first != again || first == other {
		t.Errorf("seeds %s, again %s, of another seed %s", first, again, other)
	}
	if len(s.env) != 2 || fmt.Sprint(s.env) != fmt.Sprint(s.request) {
		t.Errorf("the runs have %v, their requests %v", s.env, s.request)
	}
	for name, seed := range s.env {
		if (seed == 7) != (name == "boss") || seed == 0 {
			t.Errorf("the run of %s has the seed %d", name, seed)
		}
	}
}

func TestASeedOfTheHostIsKept(t *testing.T) {
	five := uint64(5)
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")), Agent: &loop.Agent{Request: agent.LLMRequest{Seed: &five}},
	}.Do(t, t.Context(), loop.Request{Task: "x", Seed: 7})
	if got := ran.Script.Requests()[0].Seed; got == nil || *got != 5 {
		t.Errorf("the request has %v", got)
	}
}
