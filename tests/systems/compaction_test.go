package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// perMessage counts a fixed number of tokens per message.
type perMessage int

func (n perMessage) CountTokens(messages []agent.Message) int { return int(n) * len(messages) }

// past returns a conversation of a task and n steps, each with one call of work and a long result.
func past(n int) []agent.Message {
	out := []agent.Message{{Role: agent.RoleUser, Content: "the task"}}
	for i := range n {
		call := agent.ToolCallRequest{ID: fmt.Sprint("c", i+1), Name: "work", Args: json.RawMessage(`{}`), Step: i + 1}
		out = append(out, agent.Message{Role: agent.RoleAssistant, ToolCalls: all(call)},
			agent.Message{
				Role: agent.RoleTool, Name: "work", ToolCallID: call.ID, Content: fmt.Sprintf("result %d %s", i+1,
					strings.Repeat("x", 400)),
			})
	}
	return out
}

// always requests a compaction before every prompt.
var always = agent.ShouldCompactFunc(func(
	context.Context, *agent.Run, agent.ContextUse,
) (agent.ShouldCompactOutcome, error) {
	return agent.Compact{Reason: "always"}, nil
})

// compacted runs an agent that compacts its conversation, and returns the compaction.
func compacted(
	t testing.TB, k agent.Compactor, messages []agent.Message, turns ...looptest.Turn,
) (agent.Compacted, *looptest.Ran) {
	t.Helper()
	ran := looptest.Harness{
		Turns: append(turns, looptest.Reply("ok")), Hooks: all[agent.Hook](always), Agent: &loop.Agent{Compactor: k},
	}.
		Do(t, t.Context(), loop.Request{Messages: messages})
	done := hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact")
	if len(done) != 1 || ran.Failed != nil {
		t.Fatalf("%T: %d compactions, %v", k, len(done), ran.Failed)
	}
	if err := agentspec.CheckPairs(done[0].Messages, false); err != nil {
		t.Errorf("%T: %v", k, err)
	}
	return done[0], ran
}

// compactors returns one of each kind, with the model turns that it needs before the run's own.
func compactors() map[agent.Compactor][]looptest.Turn {
	summary := all(looptest.Reply("the goal is 7"))
	return map[agent.Compactor][]looptest.Turn{
		&window.Summarize{Trigger: 100}: summary, &window.Truncate{}: nil, &window.Prune{}: nil,
		&window.Default{}: nil, &window.Incremental{Keep: 200, Buffer: 200}: summary,
		&window.Chain{Stages: all[agent.Compactor](window.Prune{}, window.Truncate{})}: nil,
	}
}

func TestAWindowFillsUpTierByTier(t *testing.T) {
	for _, c := range []struct {
		messages int
		want     window.PressureLevel
	}{
		{4, window.PressureOK},
		{5, window.PressureWarning},
		{7, window.PressureWarning},
		{8, window.PressureCompact},
		{9, window.PressureBlock},
	} {
		hook := &window.Auto{Compactor: window.Truncate{}, Window: 1000, WarnAt: 500, CompactAt: 800, Reserve: 100}
		var seen window.Telemetry
		ends := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
			seen = hook.Telemetry(run)
			return nil
		})
		looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](hook, ends), Agent: &loop.Agent{Tokens: perMessage(100)}}.
			Do(t, t.Context(), loop.Request{Task: "x", Messages: chat(c.messages - 1)})
		if len(seen.Samples) != 1 || seen.Samples[0].Step != 1 || seen.Samples[0].Level != c.want ||
			seen.Samples[0].EstimatedTokens != 100*c.messages || seen.Peak != c.want {
			t.Errorf("with %d messages: %+v, want %s", c.messages, seen, c.want)
		}
	}
	notUsable(t, &window.Auto{Compactor: window.Truncate{}, WarnAt: 160_000}, "let each be less")
}

// chat is a conversation of n messages without calls.
func chat(n int) []agent.Message {
	var out []agent.Message
	for i := range n {
		out = append(out, agent.Message{
			Role: []agent.Role{agent.RoleUser, agent.RoleAssistant}[i%2], Content: fmt.Sprint("message ", i+1),
		})
	}
	return out
}

func TestAFullWindowRequestsACompaction(t *testing.T) {
	for _, c := range []struct {
		at       window.PressureLevel
		messages int
		fired    bool
	}{
		{"", 4, false}, {"", 7, false}, {"", 8, true}, {window.PressureWarning, 4, false},
		{window.PressureWarning, 5, true},
	} {
		hook := &window.Auto{
			Compactor: window.Truncate{},
			Window:    1000,
			WarnAt:    500,
			CompactAt: 800,
			Reserve:   100,
			FireAt:    c.at,
		}
		ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](hook), Agent: &loop.Agent{Tokens: perMessage(100)}}.
			Do(t, t.Context(), loop.Request{Task: "now", Messages: chat(c.messages - 1)})
		if fired := ran.Recorder.Count("AfterCompact") == 1; fired != c.fired {
			t.Errorf("with %d messages, at %q: compacted %v", c.messages, c.at, fired)
		}
		if !c.fired {
			continue
		}
		ran.Recorder.InOrder(t, "ShouldCompact", "BeforeCompact", "AfterCompact", "Briefing", "BeforeLLM")
		contains(t, requestText(t, ran, 0), "now")
		lacks(t, requestText(t, ran, 0), "message 1")
	}
	k := &window.Truncate{} // the agent has one, and nobody asks
	ran := looptest.Harness{
		Turns: working(0),
		Agent: &loop.Agent{Compactor: k},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: chat(50)})
	ran.Recorder.Times(t, "ShouldCompact", 1)
	ran.Recorder.Times(t, "BeforeCompact", 0)
}

func TestACompactionReportsItsResult(t *testing.T) {
	for k, turns := range compactors() {
		done, ran := compacted(t, k, past(20), turns...)
		if done.Err != "" || done.Reason != agent.CompactProactive || done.Before.Messages != 41 ||
			done.After.Messages != len(done.Messages) || done.After.Tokens >= done.Before.Tokens || !done.Effective() {
			t.Errorf("%T: %+v, %q", k, done.Before, done.Err)
		}
		ran.Recorder.Times(t, "BeforeCompact", 1)
		if before := hooktest.PayloadsOf[agent.Compaction](ran.Recorder,
			"BeforeCompact")[0]; before.Tokens != done.Before.Tokens || before.Detail != "always" {
			t.Errorf("%T: before it %+v", k, before)
		}
	}

	abort := agent.BeforeCompactFunc(func(
		context.Context, *agent.Run, agent.Compaction,
	) (agent.BeforeCompactOutcome, error) {
		return agent.SkipCompaction{Reason: "in a chain"}, nil
	})
	ran := looptest.Harness{
		Turns: working(0),
		Hooks: all[agent.Hook](always, abort),
		Agent: &loop.Agent{Compactor: window.Truncate{}},
	}.Do(t, t.Context(), loop.Request{Messages: past(9)})
	if got := len(ran.Script.Requests()[0].Messages); got != 19 || ran.Recorder.Count("AfterCompact") != 0 {
		t.Errorf("an aborted compaction left %d messages", got)
	}

	custom := &window.Auto{Compactor: window.Truncate{Keep: 1}, Window: 1000, WarnAt: 10, CompactAt: 20, Reserve: 10}
	adds := agent.AfterCompactFunc(func(_ context.Context, _ *agent.Run,
		done agent.Compacted) (agent.AfterCompactOutcome, error) {
		done.Messages = append(all(agent.Message{
			Role:    agent.RoleSystem,
			Content: fmt.Sprint("the rules, after ", len(done.Messages)),
		}), done.Messages...)
		return agent.ReplaceAfterCompact(done, "must stay"), nil
	})
	ran = looptest.Harness{
		Turns: working(0),
		Hooks: all[agent.Hook](custom, adds),
		Agent: &loop.Agent{Compactor: &window.Summarize{}},
	}.Do(t, t.Context(), loop.Request{Messages: past(9)})
	if got := ran.Script.Requests(); len(got) != 1 ||
		!strings.HasPrefix(got[0].Messages[0].Content, "the rules, after 3") {
		t.Errorf("%d model calls; the first prompt: %s", len(got), requestText(t, ran, 0))
	}
}

func TestPruneClearsOldResults(t *testing.T) {
	cleared := func(messages []agent.Message) (n []string) {
		for _, m := range messages {
			if m.Content == "(old tool result cleared)" {
				n = append(n, m.ToolCallID)
			}
		}
		return n
	}
	done, _ := compacted(t, window.Prune{}, past(8))
	if got := cleared(done.Messages); !slices.Equal(got, all("c1", "c2", "c3")) || done.Cleared != 3 ||
		len(done.Messages) != 17 {
		t.Errorf("cleared %v: %+v", got, done.After)
	}
	if again, _ := compacted(t, window.Prune{}, done.Messages); again.Cleared != 0 || len(cleared(again.Messages)) != 3 {
		t.Errorf("pruned again: %d", again.Cleared)
	}
	if few, _ := compacted(t, window.Prune{}, past(5)); cleared(few.Messages) != nil {
		t.Error("few results were cleared")
	}
	mixed := past(4)
	mixed[2].Name, mixed[6].Name = "other", "other"
	if some, _ := compacted(t, window.Prune{
		Keep:  1,
		Tools: all("other"),
	}, mixed); !slices.Equal(cleared(some.Messages), all("c1")) {
		t.Errorf("of the tool named, cleared %v", cleared(some.Messages))
	}
}

// stage is a compactor made of a function.
type stage func(agent.Compaction) (agent.Compacted, error)

func (s stage) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return s(c)
}

func TestTheFirstEffectiveStageWins(t *testing.T) {
	var d diary
	idle := stage(func(c agent.Compaction) (agent.Compacted, error) {
		d.note("idle")
		return agent.Compacted{Messages: c.Messages}, nil
	})
	never := stage(func(agent.Compaction) (agent.Compacted, error) { d.note("never"); return agent.Compacted{}, errBoom })
	cleanup := func(fails error) func(context.Context, agent.Compacted) error {
		return func(_ context.Context, done agent.Compacted) error {
			d.note("clean %d", len(done.Messages))
			return fails
		}
	}
	clean := all(cleanup(errBoom), cleanup(nil))
	done, _ := compacted(t, &window.Chain{
		Stages:  all[agent.Compactor](idle, window.Truncate{}, never),
		Cleanup: clean,
		OnError: func(err error) { d.note("%v", err) },
	}, past(9))
	d.want(t, "idle", "clean 5", "cleanup 1: boom", "clean 5")
	if done.Err != "" || done.After.Messages != 5 {
		t.Errorf("got %+v, %q", done.After, done.Err)
	}
	done, ran := compacted(t, &window.Chain{Stages: all[agent.Compactor](idle, idle), Cleanup: clean}, past(9))
	d.want(t, "idle", "idle")
	if done.Err == "" || len(ran.Script.Requests()[0].Messages) != 19 {
		t.Errorf("without an effective stage: %q", done.Err)
	}
	notUsable(t, &window.Auto{Compactor: &window.Chain{}}, "there are no Stages")
}

func TestACompactionNeverMakesAConversationGrow(t *testing.T) {
	for k, turns := range compactors() {
		short := past(1)
		done, ran := compacted(t, k, short)
		if !slices.EqualFunc(done.Messages, short, func(a, b agent.Message) bool { return a.Content == b.Content }) ||
			len(ran.Script.Calls()) != 1 {
			t.Errorf("%T made %d messages of %d", k, len(done.Messages), len(short))
		}
		once, _ := compacted(t, k, past(20), turns...)
		twice, _ := compacted(t, k, once.Messages, looptest.Reply(strings.Repeat("a long summary ", 50)))
		if got, was := agentspec.EstimateTokens(twice.Messages), agentspec.EstimateTokens(once.Messages); got > was {
			t.Errorf("%T: %d tokens after the first time, %d after the second", k, was, got)
		}
	}
}

func TestSummaryReplacesOmittedMessages(t *testing.T) {
	done, ran := compacted(t, &window.Summarize{Trigger: 100}, past(20), looptest.Reply("the goal is 7"))
	if got := requestText(t, ran, 1); !strings.HasPrefix(got,
		"(summary of earlier conversation)\nthe goal is 7\nthe task\n") || done.Summary != "the goal is 7" ||
		done.ModelCalls != 1 {
		t.Errorf("the prompt is %q", got)
	}
	quiet := func(error) {}
	first, _ := compacted(t, &window.Summarize{Trigger: 100, OnError: quiet}, past(20), looptest.Error(errBoom))
	second, _ := compacted(t, &window.Summarize{Trigger: 100, OnError: quiet}, past(20), looptest.Error(errBoom))
	if first.Summary != second.Summary || first.Err != "" {
		t.Errorf("without the model: %q and %q, %q", first.Summary, second.Summary, first.Err)
	}
	contains(t, first.Summary, "assistant: work({})", "tool: result 15 xxx")
	ran = looptest.Harness{
		Turns: working(0),
		Hooks: all[agent.Hook](always),
		Agent: &loop.Agent{Compactor: &window.Summarize{Trigger: limit.AtMost(0)}},
	}.Run(t, "only this")
	if len(ran.Script.Calls()) != 1 || requestText(t, ran, 0) != "only this" {
		t.Errorf("for nothing the model was asked %d times", len(ran.Script.Calls()))
	}
}

func TestPressureIsReportedWhenItChanges(t *testing.T) {
	var d diary
	auto := func() *window.Auto {
		return &window.Auto{Compactor: window.Truncate{}, OnlyAtStart: true, WarnAt: 500, CompactAt: 700, Reserve: 100}
	}
	run := func(w *window.Auto) *looptest.Ran {
		return looptest.Harness{Turns: working(5), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](w),
			Agent: &loop.Agent{Tokens: perMessage(100), Limits: loop.Limits{Window: 1000}}}.Run(t, "x")
	}
	if ran := run(auto()); ran.Reply != "ok" || len(ran.Warnings) != 0 {
		t.Errorf("with nobody to tell: %+v", ran.AgentResult)
	}
	told := auto()
	told.OnPressure = func(_ context.Context, _ *agent.Run, p window.Pressure) {
		d.note("%s from %d of %d", p.Level, p.Threshold, p.ContextWindow)
		if p.PercentUsed != float64(p.EstimatedTokens)/10 {
			t.Errorf("%d tokens are %v%%", p.EstimatedTokens, p.PercentUsed)
		}
	}
	for range 2 { // the first level and each change, in every run
		run(told)
		d.want(t, "ok from 0 of 1000", "warning from 500 of 1000", "compact from 700 of 1000", "block from 900 of 1000")
	}
}
