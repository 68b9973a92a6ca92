package observe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleCacheWatch() {
	var hooks agent.Hooks
	hooks.Use(&observe.CacheWatch{OnBreak: func(_ context.Context, _ *agent.Run, b observe.CacheBreak) {
		fmt.Printf("step %d changed the section %s\n", b.Step, b.Section)
	}})
	run := agent.NewRun(nil)
	for step, now := range []string{"It is 9:00.", "It is 9:01."} {
		_, _ = hooks.BeforeLLM.Fire(context.Background(), run, &agent.LLMRequest{Step: step + 1, Messages: []agent.Message{
			{Role: agent.RoleSystem, Content: now}, {Role: agent.RoleUser, Content: "go"},
		}})
	}
	// Output: step 2 changed the section system
}

func TestChangedSectionsBreakTheCache(t *testing.T) {
	message := func(role agent.Role, text string) agent.Message { return agent.Message{Role: role, Content: text} }
	briefing := func(text string) agent.Message {
		return agent.Message{Role: agent.RoleSystem, Name: agent.BriefingName, Content: text}
	}
	system, user, reply := message(agent.RoleSystem, "Be brief."), message(agent.RoleUser, "go"),
		message(agent.RoleAssistant, "ok")
	base := agent.LLMRequest{
		Step: 1, Model: "m", Tools: []agent.ToolSchema{{Name: "a"}}, Messages: []agent.Message{system, user, briefing("1")},
	}
	with := func(change func(r *agent.LLMRequest)) agent.LLMRequest {
		r := base.Clone()
		r.Step = 2
		change(&r)
		return r
	}
	for _, c := range []struct {
		name   string
		second agent.LLMRequest
		want   []string
	}{
		{"same", with(func(*agent.LLMRequest) {}), nil},
		{"grown", with(func(r *agent.LLMRequest) { r.Messages = []agent.Message{system, user, reply, briefing("2")} }), nil},
		{"without briefing", with(func(r *agent.LLMRequest) { r.Messages = r.Messages[:2] }), nil},
		{"system", with(func(r *agent.LLMRequest) { r.Messages[0].Content = "Be long." }), []string{"system"}},
		{"another system message", with(func(r *agent.LLMRequest) {
			r.Messages = slices.Insert(r.Messages, 1, message(agent.RoleSystem, "Now."))
		}), []string{"system"}},
		{"tools", with(func(r *agent.LLMRequest) { r.Tools = nil }), []string{"tools"}},
		{"model", with(func(r *agent.LLMRequest) { r.Model = "n" }), []string{"model"}},
		{"rewritten", with(func(r *agent.LLMRequest) { r.Messages[1].Content = "stop" }), []string{"conversation"}},
		{"shorter", with(func(r *agent.LLMRequest) { r.Messages = r.Messages[:1] }), []string{"conversation"}},
		{"all", with(func(r *agent.LLMRequest) {
			*r = agent.LLMRequest{Step: 2, Messages: []agent.Message{reply}}
		}), []string{"model", "tools", "system", "conversation"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			hook := &observe.CacheWatch{Log: slog.New(slog.NewTextHandler(&log, nil))}
			var hooks agent.Hooks
			hooks.Use(hook)
			run := agent.NewRun(nil)
			for _, req := range []agent.LLMRequest{base, c.second} {
				if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, b := range hook.Breaks(run) {
				got = append(got, b.Section)
				if b.Step != 2 || len(b.Old) != 16 || len(b.New) != 16 || b.Old == b.New {
					t.Errorf("%+v", b)
				}
			}
			if !slices.Equal(got, c.want) || strings.Count(log.String(), "prompt cache broken") != len(c.want) {
				t.Errorf("found %v, want %v; the log: %s", got, c.want, &log)
			}
		})
	}
}

func TestRequestsThatAreNotSentBreakNothing(t *testing.T) {
	for name, hook := range map[string]agent.BeforeLLMFunc{
		"answered": func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			return agent.UseReply{Response: agent.LLMResponse{Content: "cached"}}, nil
		},
		"failed": func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			return nil, errors.New("down")
		},
	} {
		t.Run(name, func(t *testing.T) {
			watch := &observe.CacheWatch{OnBreak: func(context.Context, *agent.Run, observe.CacheBreak) {}}
			var sent []string
			tap := &observe.RequestTap{OnEvent: func(_ context.Context, e observe.RequestTapEvent) {
				sent = append(sent, string(e.Kind))
			}}
			var hooks agent.Hooks
			for _, h := range []agent.Hook{watch, tap, agent.BeforeLLMFunc(func(
				ctx context.Context, run *agent.Run, req agent.LLMRequest,
			) (agent.BeforeLLMOutcome, error) {
				if req.Step == 2 {
					return hook(ctx, run, req)
				}
				return nil, nil
			})} {
				hooks.Use(h)
			}
			run := agent.NewRun(nil)
			for step, model := range []string{"a", "b", "a"} {
				_, _ = hooks.BeforeLLM.Fire(t.Context(), run, &agent.LLMRequest{Step: step + 1, Model: model})
			}
			if breaks := watch.Breaks(run); len(breaks) != 0 {
				t.Errorf("breaks: %+v", breaks)
			}
			if len(sent) != 2 {
				t.Errorf("the tap has %v", sent)
			}
		})
	}
}

func TestCacheWatchKeepsLastBreaks(t *testing.T) {
	hook := &observe.CacheWatch{OnBreak: func(context.Context, *agent.Run, observe.CacheBreak) {}}
	var hooks agent.Hooks
	hooks.Use(hook)
	run := agent.NewRun(nil)
	for step := range 300 {
		req := agent.LLMRequest{Step: step, Model: fmt.Sprint(step)}
		if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil {
			t.Fatal(err)
		}
	}
	got := hook.Breaks(run)
	if len(got) != 100 || got[99].Step != 299 {
		t.Errorf("%d breaks, the last one %+v", len(got), got[len(got)-1])
	}
	if other := hook.Breaks(agent.NewRun(nil)); len(other) != 0 {
		t.Errorf("another run has %+v", other)
	}
}

func TestPlainRunKeepsItsCache(t *testing.T) {
	hook := &observe.CacheWatch{OnBreak: func(_ context.Context, _ *agent.Run, b observe.CacheBreak) {
		t.Errorf("the cache is broken: %+v", b)
	}}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Call("work", nil), looptest.Reply("ok")},
		Tools: []agent.Tool{&looptest.Tool{Name: "work"}}, Hooks: []agent.Hook{hook},
	}.Run(t, "go")
	if ran.Failed != nil {
		t.Error(ran.Failed)
	}
}

func TestABriefingAloneBreaksNothing(t *testing.T) {
	watch := &observe.CacheWatch{OnBreak: func(context.Context, *agent.Run, observe.CacheBreak) {}}
	var hooks agent.Hooks
	hooks.Use(watch)
	run := agent.NewRun(nil)
	for _, text := range []string{"1", "2"} {
		req := agent.LLMRequest{Messages: []agent.Message{
			{Role: agent.RoleSystem, Name: agent.BriefingName, Content: text},
		}}
		_, _ = hooks.BeforeLLM.Fire(t.Context(), run, &req)
	}
	if breaks := watch.Breaks(run); len(breaks) != 0 {
		t.Errorf("breaks: %+v", breaks)
	}
}
