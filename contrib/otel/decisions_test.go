package otel_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// work is a run with one call of the tool shell.
func work(t *testing.T, s *sink, content bool, hooks ...agent.Hook) *looptest.Ran {
	t.Helper()
	hook := s.hook()
	hook.Content = content
	return looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("shell", `{"command":"cat /home/ann/keys.txt"}`).ID("c1"), looptest.Reply("done"),
		},
		Tools: []agent.Tool{&looptest.Tool{Name: "shell", Result: "hunter2"}},
		Hooks: append([]agent.Hook{hook}, hooks...),
	}.Run(t, "show me the keys")
}

func TestDecisionsAreEventsOfTheRun(t *testing.T) {
	named := hookkit.Named("guard")
	for _, c := range []struct {
		name string
		hook guard
		want []string
	}{
		{"deny", func(h *agent.Hooks) {
			h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				return agent.Deny{Reason: "not on weekends"}, nil
			}, named)
		}, []string{"hookgen.decision hookgen.point=OnPermission hookgen.hook.name=guard gen_ai.tool.name=shell " +
			"gen_ai.tool.call.id=c1 hookgen.decision.name=Deny hookgen.reason=not on weekends"}},
		{"ask without an approver", func(h *agent.Hooks) {
			h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				return agent.Ask{}, nil
			}, named)
		}, []string{
			"hookgen.decision hookgen.point=OnPermission hookgen.hook.name=guard gen_ai.tool.name=shell " +
				"gen_ai.tool.call.id=c1 hookgen.decision.name=Ask",
			"hookgen.denial hookgen.denial.kind=no_approver gen_ai.tool.name=shell gen_ai.tool.call.id=c1 " +
				"hookgen.hook.name=guard " +
				"hookgen.reason=there is nobody to ask",
		}},
		{"skip", func(h *agent.Hooks) {
			h.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				return agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}, Reason: "known"}, nil
			}, named)
		}, []string{"hookgen.decision hookgen.point=BeforeTool hookgen.hook.name=guard gen_ai.tool.name=shell " +
			"gen_ai.tool.call.id=c1 hookgen.decision.name=SkipTool hookgen.reason=known"}},
		{"end", func(h *agent.Hooks) {
			h.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				return agent.EndTurn{Reason: "enough"}, nil
			}, named)
		}, []string{"hookgen.decision hookgen.point=BeforeLLM hookgen.hook.name=guard hookgen.decision.name=EndTurn " +
			"hookgen.reason=enough"}},
		{"replace", func(h *agent.Hooks) {
			h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
				r.Output = "[removed]"
				return agent.ReplaceAfterTool(r, "a secret"), nil
			}, named)
		}, []string{"hookgen.decision hookgen.point=AfterTool hookgen.hook.name=guard gen_ai.tool.name=shell " +
			"gen_ai.tool.call.id=c1 hookgen.decision.name=Replace hookgen.reason=a secret"}},
		{"answer", func(h *agent.Hooks) {
			h.AroundTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext) (
				hookkit.Answer[agent.ToolCallResult], error,
			) {
				return hookkit.Answered(agent.ToolCallResult{Output: "cached"}), nil
			}, named)
		}, []string{"hookgen.decision hookgen.point=AroundTool hookgen.hook.name=guard gen_ai.tool.name=shell " +
			"gen_ai.tool.call.id=c1 hookgen.decision.name=Answered"}},
		{"failure", func(h *agent.Hooks) {
			h.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				panic("no rules")
			}, named)
		}, []string{"hookgen.failure hookgen.point=BeforeTool hookgen.hook.name=guard gen_ai.tool.name=shell " +
			"gen_ai.tool.call.id=c1 error.type=panic hookgen.reason=panic: no rules"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSink(t)
			work(t, s, false, c.hook)
			if diff := cmp.Diff(c.want, lines(s.span(t, "invoke_agent tested"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A host may fire single points without a run.
func TestDecisionsWithoutRunAreTheCallersEvents(t *testing.T) {
	s := newSink(t)
	h := new(agent.Hooks)
	h.Use(s.hook())
	h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		return agent.Deny{}, nil
	}, hookkit.Named("guard"))
	ctx, span := s.tracer().Start(t.Context(), "request")
	if _, err := h.OnPermission.Fire(ctx, nil, agent.ToolCallRequest{Name: "shell"}); err != nil {
		t.Fatal(err)
	}
	span.End()
	want := []string{"hookgen.decision hookgen.point=OnPermission hookgen.hook.name=guard gen_ai.tool.name=shell " +
		"hookgen.decision.name=Deny"}
	if diff := cmp.Diff(want, lines(s.span(t, "request"))); diff != "" {
		t.Error(diff)
	}
}

// quoting hooks repeat the arguments in a reason and the output in an error.
var quoting = guard(func(h *agent.Hooks) {
	h.BeforeTool.AddFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.ReplaceBeforeTool(c, "will run "+string(c.Args)), nil
	})
	h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		return nil, errors.New("bad output: " + r.Output)
	})
})

// said are words of the conversation.
var said = []string{"ann", "keys", "cat", "hunter2", "show"}

func TestContentIsOffByDefault(t *testing.T) {
	s := newSink(t)
	work(t, s, false, quoting)
	all := s.everything()
	for _, word := range said {
		if strings.Contains(all, word) {
			t.Errorf("%q left the process: %s", word, all)
		}
	}
	if !strings.Contains(all, "will run") || !strings.Contains(all, "bad output") {
		t.Errorf("the reasons are missing: %s", all)
	}
}

func TestContentIsRecordedOnRequest(t *testing.T) {
	s := newSink(t)
	work(t, s, true, quoting)
	all := s.everything()
	for _, word := range said {
		if !strings.Contains(all, word) {
			t.Errorf("%q is missing", word)
		}
	}
	got := values(s.span(t, "execute_tool shell").Attributes())
	if got["gen_ai.tool.call.arguments"] != `{"command":"cat /home/ann/keys.txt"}` ||
		got["gen_ai.tool.call.result"] != "hunter2" {
		t.Error(got)
	}
	last := s.spans.Ended()[len(s.spans.Ended())-2]
	want := `[{"parts":[{"content":"show me the keys","type":"text"}],"role":"user"},` +
		`{"parts":[{"arguments":{"command":"cat /home/ann/keys.txt"},"id":"c1","name":"shell","type":"tool_call"}],` +
		`"role":"assistant"},` +
		`{"name":"shell","parts":[{"id":"c1","response":"error: the result is withheld: AfterTool: hook`
	if got := values(last.Attributes())["gen_ai.input.messages"]; !strings.HasPrefix(got, want) {
		t.Errorf("%s: %s", last.Name(), got)
	}
	if got := values(last.Attributes())["gen_ai.output.messages"]; got !=
		`[{"finish_reason":"stop","parts":[{"content":"done","type":"text"}],"role":"assistant"}]` {
		t.Error(got)
	}
}

func TestContentIsRedacted(t *testing.T) {
	const key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	s := newSink(t)
	hook := s.hook()
	hook.Content = true
	looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("shell", map[string]string{"command": "export KEY=" + key}),
			looptest.Error(errors.New("the key " + key + " is wrong")),
		},
		Tools: []agent.Tool{&looptest.Tool{Name: "shell", Result: key}}, Hooks: []agent.Hook{hook},
	}.Run(t, "use "+key)
	if all := s.everything(); strings.Contains(all, "AAAAAAAA") {
		t.Error(all)
	}
}

// Names and texts of a hostile model and of hostile hooks.
func TestAttributesAreShortAndValid(t *testing.T) {
	for _, content := range []bool{false, true} {
		s := newSink(t)
		hook := s.hook()
		hook.Content, hook.Redact.Patterns = content, []*regexp.Regexp{regexp.MustCompile(`^.`)}
		hook.Redact.Mark = func(string, string) string { return strings.Repeat("x", 1<<20) + "\xff" }
		hostile := strings.Repeat("\xff\x00é\n", 1<<16)
		looptest.Harness{
			Agent: &loop.Agent{Name: hostile, Request: agent.LLMRequest{Model: hostile}},
			Turns: []looptest.Turn{looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				return agent.LLMResponse{
					Model: hostile, ID: hostile, FinishReason: hostile, Content: hostile, Reasoning: hostile,
					ToolCalls: []agent.ToolCallRequest{{ID: hostile, Name: hostile, Args: []byte(hostile)}, {Name: "work"}},
					Usage:     agent.Usage{Input: -5, Output: 1 << 62},
				}, nil
			}), looptest.Error(errors.New(hostile))},
			Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: hostile}},
			Hooks: []agent.Hook{hook, guard(func(h *agent.Hooks) {
				h.OnPermission.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (
					agent.OnPermissionOutcome, error,
				) {
					return agent.Allow{Reason: hostile}, nil
				}, hookkit.Named(hostile))
			})},
		}.Run(t, hostile)
		s.checkEnded(t)
		check := func(where, text string, limit int) {
			if len(text) > limit || strings.ToValidUTF8(text, "") != text {
				t.Errorf("%s has %d bytes, or is not valid UTF-8", where, len(text))
			}
		}
		for _, span := range s.spans.Ended() {
			check("the name", span.Name(), 1000)
			check("the status", span.Status().Description, 1000)
			for key, value := range values(span.Attributes()) {
				check(key, value, 30_000)
			}
			for _, e := range span.Events() {
				for key, value := range values(e.Attributes) {
					check(key, value, 1000)
				}
			}
		}
	}
}
