package loop_test

import (
	"context"
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

// compactor keeps the last message and prepends a summary. If ask is set, the model writes the summary.
type compactor struct {
	calls int
	ask   string
	f     func(c agent.Compaction) (agent.Compacted, error)
}

func (k *compactor) Compact(ctx context.Context, env *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	k.calls++
	if k.f != nil {
		return k.f(c)
	}
	done := agent.Compacted{
		Summary: "earlier talk", Messages: []agent.Message{
			{Role: agent.RoleUser, Content: "summary"}, c.Messages[len(c.Messages)-1],
		},
	}
	if k.ask != "" {
		reply, err := env.Model.Generate(ctx, agent.LLMRequest{
			Messages: []agent.Message{{Role: agent.RoleUser, Content: k.ask}},
		})
		if err != nil {
			return done, err
		}
		done.Summary, done.ModelCalls = reply.Content, 1
	}
	return done, nil
}

func long(n int) []agent.Message {
	var out []agent.Message
	for i := range n {
		out = append(out, agent.Message{
			Role: agent.RoleUser, Content: fmt.Sprintf("message %d %s", i, strings.Repeat("x", 100)),
		})
	}
	return out
}

// compactWhen votes for a compaction when the conversation has at least n messages.
func compactWhen(n int) agent.Hook {
	return agent.ShouldCompactFunc(func(
		_ context.Context, _ *agent.Run, use agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		if len(use.Messages) >= n {
			return agent.Compact{Reason: "long"}, nil
		}
		return nil, nil
	})
}

func compacting(t *testing.T, k agent.Compactor, more ...agent.Hook) *looptest.Ran {
	t.Helper()
	l := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: append(hooks(compactWhen(5)), more...),
		Agent: &loop.Agent{Compactor: k},
	}
	return l.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
}

func TestOutcome_ShouldCompact_Compact(t *testing.T) {
	k := &compactor{}
	ran := compacting(t, k)
	if got := ran.Script.Requests()[0].Messages; k.calls != 1 || len(got) != 2 || got[0].Content != "summary" ||
		got[1].Content != "now" {
		t.Errorf("compacted %d times, the model got %+v", k.calls, got)
	}
	before := hooktest.PayloadsOf[agent.Compaction](ran.Recorder, "BeforeCompact")
	if len(before) != 1 || before[0].Reason != agent.CompactProactive || before[0].Detail != "long" ||
		before[0].By == "" || len(before[0].Messages) != 9 {
		t.Errorf("BeforeCompact was told %+v", before)
	}
	after := hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact")
	if len(after) != 1 || after[0].Before.Messages != 9 || after[0].After.Messages != 2 || after[0].Err != "" ||
		after[0].Summary == "" || !after[0].Effective() {
		t.Errorf("AfterCompact was told %+v", after)
	}
	if len(ran.Messages) != 3 {
		t.Errorf("the conversation is %+v", ran.Messages)
	}
}

func TestOutcome_ShouldCompact_Failure(t *testing.T) {
	k := &compactor{}
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(agent.ShouldCompactFunc(func(
			context.Context, *agent.Run, agent.ContextUse,
		) (agent.ShouldCompactOutcome, error) {
			return nil, errBoom
		}), compactWhen(1)),
		Agent: &loop.Agent{Compactor: k},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
	if k.calls != 1 || ran.Reply != "ok" {
		t.Errorf("a failing hook kept the others from deciding: %+v", ran.AgentResult)
	}
}

func TestOutcome_BeforeCompact(t *testing.T) {
	for name, hook := range map[string]agent.BeforeCompactFunc{
		"SkipCompaction": func(context.Context, *agent.Run, agent.Compaction) (agent.BeforeCompactOutcome, error) {
			return agent.SkipCompaction{Reason: "in a chain"}, nil
		},
		"Failure": func(context.Context, *agent.Run, agent.Compaction) (agent.BeforeCompactOutcome, error) {
			return nil, errBoom
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := &compactor{}
			ran := compacting(t, k, hook)
			if k.calls != 0 || len(ran.Script.Requests()[0].Messages) != 9 || ran.Reply != "ok" {
				t.Errorf("compacted %d times: %+v", k.calls, ran.AgentResult)
			}
			ran.Recorder.Times(t, "AfterCompact", 0)
			if name == "Failure" && len(ran.Warnings) != 1 {
				t.Errorf("the failure is lost: %v", ran.Warnings)
			}
		})
	}
}

func TestOutcome_AfterCompact_Replace(t *testing.T) {
	add := func(messages ...agent.Message) agent.Hook {
		return agent.AfterCompactFunc(func(
			_ context.Context, _ *agent.Run, c agent.Compacted,
		) (agent.AfterCompactOutcome, error) {
			c.Messages = append(slices.Clone(messages), c.Messages...)
			return agent.ReplaceAfterCompact(c, "must stay"), nil
		})
	}
	ran := compacting(t, &compactor{}, add(agent.Message{Role: agent.RoleUser, Content: "the rules"}))
	if got := ran.Script.Requests()[0].Messages; len(got) != 3 || got[0].Content != "the rules" {
		t.Errorf("the model got %+v", got)
	}
	ran = compacting(t, &compactor{}, add(agent.Message{Role: agent.RoleTool, ToolCallID: "orphan"}))
	if got := ran.Script.Requests()[0].Messages; len(got) != 2 || len(ran.Warnings) != 1 {
		t.Errorf("an orphaned result was used: %+v, warnings %v", got, ran.Warnings)
	}
}

func TestAFailedCompactionIsUndoneAndReported(t *testing.T) {
	orphan := agent.Message{Role: agent.RoleTool, ToolCallID: "lost"}
	for name, k := range map[string]agent.Compactor{
		"None":  nil,
		"Error": &compactor{f: func(agent.Compaction) (agent.Compacted, error) { return agent.Compacted{}, errBoom }},
		"Panic": &compactor{f: func(agent.Compaction) (agent.Compacted, error) { panic("compactor") }},
		"Empty": &compactor{f: func(agent.Compaction) (agent.Compacted, error) { return agent.Compacted{}, nil }},
		"Orphan": &compactor{f: func(agent.Compaction) (agent.Compacted, error) {
			return agent.Compacted{Messages: []agent.Message{orphan}}, nil
		}},
		"NotSmaller": &compactor{
			f: func(c agent.Compaction) (agent.Compacted, error) { return agent.Compacted{Messages: c.Messages}, nil },
		},
		"ModelFailure": &compactor{ask: "summarise"},
	} {
		t.Run(name, func(t *testing.T) {
			l := looptest.Harness{
				Turns: turns(looptest.Reply("ok")),
				Hooks: hooks(compactWhen(5)),
				Agent: &loop.Agent{Compactor: k},
			}
			if name == "ModelFailure" {
				l.Turns = turns(looptest.Error(errBoom), looptest.Reply("ok"))
			}
			ran := l.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
			requests := ran.Script.Requests()
			if got := requests[len(requests)-1].Messages; len(got) != 9 || ran.Reply != "ok" {
				t.Errorf("the model got %d messages: %+v", len(got), ran.AgentResult)
			}
			after := hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact")
			if len(after) != 1 || after[0].Err == "" || len(after[0].Messages) != 9 || after[0].Effective() ||
				len(ran.Warnings) == 0 {
				t.Errorf("AfterCompact was told %+v, warnings %v", after, ran.Warnings)
			}
		})
	}
}

func TestTooLongPromptIsCompactedAndResent(t *testing.T) {
	tooLong := &agent.PromptTooLong{Tokens: 900, Window: 100}
	k := &compactor{ask: "summarise"}
	ran := looptest.Harness{
		Turns: turns(looptest.Error(fmt.Errorf("provider: %w", tooLong)), looptest.Reply("summary text"),
			looptest.Reply("ok")),
		Agent: &loop.Agent{Compactor: k},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
	if ran.Reply != "ok" || k.calls != 1 || ran.ModelCalls != 3 || ran.Steps != 1 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	before := hooktest.PayloadsOf[agent.Compaction](ran.Recorder, "BeforeCompact")
	if len(before) != 1 || before[0].Reason != agent.CompactTooLong {
		t.Errorf("BeforeCompact was told %+v", before)
	}
	ran.Recorder.Times(t, "BeforeLLM", 2)
	ran.Recorder.Times(t, "Briefing", 2)

	ran = looptest.Harness{
		Turns: turns(looptest.Error(tooLong), looptest.Error(tooLong)),
		Agent: &loop.Agent{Compactor: &compactor{}},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
	if ran.Failed == nil || len(ran.Script.Calls()) != 2 {
		t.Errorf("a prompt that stays too long: %v after %d calls", ran.Failed, len(ran.Script.Calls()))
	}
}

func TestCompactionsOfTooLongPromptAreBounded(t *testing.T) {
	drops := func(n int) func(agent.Compaction) (agent.Compacted, error) {
		return func(c agent.Compaction) (agent.Compacted, error) {
			return agent.Compacted{Messages: c.Messages[min(n, len(c.Messages)-1):]}, nil
		}
	}
	for _, c := range []struct {
		name        string
		limit       int
		drop        int // messages of each compaction
		compactions int
	}{{"Default", 0, 2, 1}, {"Two", 2, 2, 2}, {"NoLimit", -1, 2, 4}, {"WithoutEffect", -1, 0, 1}} {
		t.Run(c.name, func(t *testing.T) {
			k := &compactor{f: drops(c.drop)}
			ran := looptest.Harness{Agent: &loop.Agent{
				Model: model(func(agent.LLMRequest) (agent.LLMResponse, error) {
					return agent.LLMResponse{}, &agent.PromptTooLong{}
				}),
				Compactor: k, Limits: loop.Limits{Compactions: c.limit},
			}}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
			if n := ran.Recorder.Count("AfterCompact"); ran.Failed == nil || n < c.compactions || n > c.compactions+1 {
				t.Errorf("%d compactions, want %d: %v", n, c.compactions, ran.Failed)
			}
		})
	}
}

func TestACompactionCanBeRequested(t *testing.T) {
	k := &compactor{}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Call("work", nil), looptest.Call("work", nil),
			looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work", Result: strings.Repeat("x", 1000)}),
		Hooks: hooks(agent.AfterStepFunc(func(_ context.Context, run *agent.Run, s agent.StepResult) error {
			if s.Step.Number == 2 {
				run.Env.RequestCompaction("by hand")
			}
			return nil
		})),
		Agent: &loop.Agent{Compactor: &compactor{f: func(c agent.Compaction) (agent.Compacted, error) {
			k.calls++
			return agent.Compacted{Messages: c.Messages[len(c.Messages)-2:]}, nil
		}}},
	}.Run(t, "x")
	before := hooktest.PayloadsOf[agent.Compaction](ran.Recorder, "BeforeCompact")
	if k.calls != 1 || len(before) != 1 || before[0].Reason != agent.CompactRequested || before[0].Detail != "by hand" ||
		before[0].Step != 3 {
		t.Errorf("BeforeCompact was told %+v", before)
	}
	if got := len(ran.Script.Requests()[2].Messages); got != 2 {
		t.Errorf("the third prompt has %d messages", got)
	}
}

func TestAHookCanSetTheCompactor(t *testing.T) {
	for name, given := range map[string]agent.Compactor{
		"ReplacesTheCompactorOfTheAgent": &compactor{}, "AgentWithoutCompactor": nil,
	} {
		t.Run(name, func(t *testing.T) {
			brought := &compactor{}
			ran := compacting(t, given, agent.OnRunStartFunc(func(
				_ context.Context, run *agent.Run, _ agent.RunStart,
			) (agent.OnRunStartOutcome, error) {
				run.Env.UseCompactor(brought)
				return nil, nil
			}))
			if brought.calls != 1 {
				t.Errorf("the hook's compactor was called %d times", brought.calls)
			}
			if own, ok := given.(*compactor); ok && own.calls != 0 {
				t.Errorf("the agent's compactor was called %d times", own.calls)
			}
			if len(ran.Warnings) != 0 {
				t.Errorf("warnings: %v", ran.Warnings)
			}
		})
	}
}

func TestAHookRewritesTheConversation(t *testing.T) {
	withdraw := func(messages []agent.Message) []agent.Message {
		for i, m := range messages {
			messages[i].Content = strings.ReplaceAll(m.Content, "secret.txt", "(the user has withdrawn this file)")
		}
		return messages
	}
	asks := func(f func([]agent.Message) []agent.Message) agent.Hook {
		return agent.OnRunStartFunc(func(
			_ context.Context, run *agent.Run, _ agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			run.Env.RewriteConversation("withdrawn", f)
			return nil, nil
		})
	}
	skip := agent.BeforeCompactFunc(func(
		context.Context, *agent.Run, agent.Compaction,
	) (agent.BeforeCompactOutcome, error) {
		return agent.SkipCompaction{}, nil
	})
	for _, c := range []struct {
		name    string
		hooks   []agent.Hook
		undone  string // the warning of a rewrite that was undone
		applied bool
	}{
		{"Longer", hooks(asks(withdraw)), "", true},
		{"Twice", hooks(asks(withdraw), asks(withdraw)), "", true},
		{"Skipped", hooks(asks(withdraw), skip), "", false},
		{"Nil", hooks(asks(nil)), "", false},
		{"Panics", hooks(asks(func([]agent.Message) []agent.Message { panic("no") })), "panicked: no", false},
		{"Empties", hooks(asks(func([]agent.Message) []agent.Message { return nil })), "returned no message", false},
		{"Orphans", hooks(asks(func(m []agent.Message) []agent.Message {
			return append(m, agent.Message{Role: agent.RoleTool, ToolCallID: "none"})
		})), "invalid conversation", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			past := []agent.Message{{Role: agent.RoleUser, Content: "read secret.txt"}}
			ran := looptest.Harness{Turns: turns(looptest.Reply("ok")), Hooks: c.hooks}.
				Do(t, t.Context(), loop.Request{Task: "and now?", Messages: past})
			sent := ran.Script.Requests()[0].Messages
			if applied := strings.Contains(sent[0].Content, "withdrawn this file"); applied != c.applied || len(sent) != 2 ||
				ran.Messages[0].Content != sent[0].Content || past[0].Content != "read secret.txt" {
				t.Errorf("the model got %+v", sent)
			}
			warned := strings.Join(ran.Warnings, "\n")
			if (c.undone != "") != (warned != "") || !strings.Contains(warned, c.undone) {
				t.Errorf("warnings %q, want %q", ran.Warnings, c.undone)
			}
			for _, after := range hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact") {
				if after.Reason != agent.CompactRewrite || (after.Err == "") != c.applied {
					t.Errorf("AfterCompact got %+v", after)
				}
			}
		})
	}
}

func TestRequiredHooksOfCompactions(t *testing.T) {
	for _, c := range []struct {
		name      string
		add       func(h *agent.Hooks)
		want      string
		compacted bool
	}{
		{"ShouldCompact", func(h *agent.Hooks) {
			h.ShouldCompact.AddFunc(func(
				context.Context, *agent.Run, agent.ContextUse,
			) (agent.ShouldCompactOutcome, error) {
				return nil, errBoom
			}, hookkit.FailClosed())
		}, "ShouldCompact: ", false},
		{"AfterCompact", func(h *agent.Hooks) {
			h.AfterCompact.AddFunc(func(
				context.Context, *agent.Run, agent.Compacted,
			) (agent.AfterCompactOutcome, error) {
				return nil, errBoom
			}, hookkit.FailClosed())
		}, "; the compaction was undone", false},
		{"None", func(*agent.Hooks) {}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(agent.Hooks)
			h.Use(compactWhen(5))
			c.add(h)
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("ok")), Agent: &loop.Agent{Compactor: &compactor{}, Hooks: h},
			}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
			if all := strings.Join(ran.Warnings, " "); !strings.Contains(all, c.want) || (all == "") != (c.want == "") {
				t.Errorf("warnings %q", all)
			}
			if compacted := len(ran.Script.Requests()[0].Messages) == 2; compacted != c.compacted || ran.Reply != "ok" {
				t.Errorf("compacted: %t, %q", compacted, ran.Reply)
			}
		})
	}
}

func TestACompactionThatAHookUndidDoesNotHelp(t *testing.T) {
	for _, c := range []struct {
		name string
		keep int // messages that the hook restores
		want string
	}{
		{"All", 9, ""}, {"Fewer", 8, "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before []agent.Message
			restore := hooks(
				agent.BeforeCompactFunc(func(
					_ context.Context, _ *agent.Run, k agent.Compaction,
				) (agent.BeforeCompactOutcome, error) {
					before = k.Messages
					return nil, nil
				}),
				agent.AfterCompactFunc(func(
					_ context.Context, _ *agent.Run, done agent.Compacted,
				) (agent.AfterCompactOutcome, error) {
					done.Messages = before[len(before)-c.keep:]
					return agent.ReplaceAfterCompact(done, "restored"), nil
				}))
			ran := looptest.Harness{
				Turns: turns(looptest.Error(&agent.PromptTooLong{}), looptest.Reply("ok")), Hooks: restore,
				Agent: &loop.Agent{Compactor: &compactor{}},
			}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
			if ran.Reply != c.want || (ran.Failed != nil) != (c.want == "") {
				t.Errorf("replied %q, %v", ran.Reply, ran.Failed)
			}
		})
	}
}
