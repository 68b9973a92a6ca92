package window_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleAuto() {
	var hooks agent.Hooks
	hooks.Use(&window.Auto{Compactor: &window.Default{}})
	run := agent.NewRun(nil)
	for step, tokens := range []int{60_000, 80_000, 110_000} {
		use := agent.ContextUse{Step: step + 1, Tokens: tokens}
		exit, _ := hooks.ShouldCompact.Fire(context.Background(), run, use)
		fmt.Println(exit)
		for _, text := range hooks.Briefing.Fire(context.Background(), run, agent.Step{Number: step + 1}) {
			warning, _, _ := strings.Cut(text, ". ")
			fmt.Println(warning)
		}
	}
	// Output:
	// <nil>
	// <nil>
	// [context warning] About 62% of the context window is used (80000 of 128000 tokens)
	// {context compact: 110000 of 128000 tokens}
	// [context compact] About 85% of the context window is used (110000 of 128000 tokens)
}

func ExampleSummarize() {
	var messages []agent.Message
	for i := range 6 {
		messages = append(messages, agent.Message{Role: agent.RoleUser, Content: fmt.Sprintf("question %d", i+1)},
			agent.Message{Role: agent.RoleAssistant, Content: fmt.Sprintf("answer %d", i+1)})
	}
	env := &agent.Env{Model: looptest.NewScript(looptest.Reply("The user asked four questions."))}
	k := &window.Summarize{Trigger: 50}
	done, err := k.Compact(context.Background(), env, agent.Compaction{Messages: messages})
	for _, m := range done.Messages {
		fmt.Println(m.Content)
	}
	fmt.Println(err)
	// Output:
	// (summary of earlier conversation)
	// The user asked four questions.
	// question 5
	// answer 5
	// question 6
	// answer 6
	// <nil>
}

func TestAutoClassifiesAtThresholds(t *testing.T) {
	k := window.Truncate{}
	for _, c := range []struct {
		name   string
		hook   *window.Auto
		window int
		tokens []int
		want   string
		fired  []int
	}{
		{"defaults", &window.Auto{}, 0, []int{0, 76_799, 76_800, 102_399, 102_400, 115_199, 115_200},
			"ok ok warning warning compact compact block", []int{5, 6}},
		{"a long window", &window.Auto{}, 200_000, []int{0, 119_999, 120_000, 159_999, 160_000, 186_999, 187_000},
			"ok ok warning warning compact compact block", []int{5, 6}},
		{"at warning", &window.Auto{FireAt: window.PressureWarning}, 0, []int{76_799, 76_800}, "ok warning", []int{2}},
		{"own numbers", &window.Auto{Window: 100, WarnAt: 10, CompactAt: 20, Reserve: 70}, 1_000_000,
			[]int{9, 10, 19, 20, 29, 30}, "ok warning warning compact compact block", []int{4, 5}},
		{"the model's window", &window.Auto{}, 8000, []int{4799, 4800, 6399, 6400, 7199, 7200},
			"ok warning warning compact compact block", []int{4, 5}},
		{"only at the start", &window.Auto{OnlyAtStart: true}, 0, []int{110_000, 110_000, 127_000}, "compact compact block",
			[]int{1}},
		{"only at the start, too late", &window.Auto{OnlyAtStart: true}, 0, []int{1, 110_000}, "ok compact", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.hook.Compactor = k
			var hooks agent.Hooks
			hooks.Use(c.hook)
			run := agent.NewRun(nil)
			if fired := fixture.Votes(&hooks, run, c.window, c.tokens...); !slices.Equal(fired, c.fired) {
				t.Errorf("voted in %v, want %v", fired, c.fired)
			}
			seen := c.hook.Telemetry(run)
			var tiers []string
			for i, s := range seen.Samples {
				tiers = append(tiers, string(s.Level))
				if s.Step != i+1 || s.Tokens != c.tokens[i] {
					t.Errorf("sample %d is %+v", i, s)
				}
			}
			if got := strings.Join(tiers, " "); got != c.want || !strings.HasSuffix(c.want, string(seen.Peak)) ||
				!slices.Equal(seen.Fired, c.fired) {
				t.Errorf("got %s, peak %s, fired %v; want %s", got, seen.Peak, seen.Fired, c.want)
			}
		})
	}
}

func TestTelemetryKeepsTheLastThousandSteps(t *testing.T) {
	hook := &window.Auto{Compactor: window.Truncate{}}
	var hooks agent.Hooks
	hooks.Use(hook)
	run := agent.NewRun(nil)
	fixture.Votes(&hooks, run, 0, make([]int, 1001)...)
	seen := hook.Telemetry(run)
	if n := len(seen.Samples); n != 1000 || seen.Samples[0].Step != 2 || seen.Samples[n-1].Step != 1001 {
		t.Errorf("%d samples, from %+v", n, seen.Samples[0])
	}
}

func TestAutoSeparatesRunsAndInstances(t *testing.T) {
	one, two := &window.Auto{Compactor: window.Truncate{}, Window: 200_000},
		&window.Auto{Compactor: window.Truncate{}, Window: 200_000, FireAt: window.PressureWarning}
	var hooks, other agent.Hooks
	hooks.Use(one)
	other.Use(two)
	first, second := agent.NewRun(nil), agent.NewRun(nil)
	fixture.Votes(&hooks, first, 0, 170_000)
	if seen := one.Telemetry(second); len(seen.Samples) != 0 || seen.Peak != window.PressureOK {
		t.Errorf("another run saw %+v", seen)
	}
	if seen := two.Telemetry(first); len(seen.Samples) != 0 {
		t.Errorf("another instance saw %+v", seen)
	}
	if text := hooks.Briefing.Fire(t.Context(), second, agent.Step{}); len(text) != 0 {
		t.Errorf("another run was warned: %q", text)
	}
	got := one.Telemetry(first)
	got.Samples[0].Tokens = 0
	if one.Telemetry(first).Samples[0].Tokens != 170_000 {
		t.Error("Telemetry is no copy")
	}
}

func TestAutoVotesAgainAfterGrowth(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&window.Auto{Compactor: window.Truncate{}, Window: 200_000})
	run := agent.NewRun(nil)
	after := func(done agent.Compacted) {
		if err := hooks.AfterCompact.Fire(t.Context(), run, &done); err != nil {
			t.Fatal(err)
		}
	}
	size := func(n int) agent.Size { return agent.Size{Messages: 10, Tokens: n} }
	for i, c := range []struct {
		tokens int
		vote   bool
		done   *agent.Compacted
	}{
		{160_000, true, &agent.Compacted{Before: size(9), After: size(9)}},
		{165_000, false, nil},
		{175_999, false, nil},
		{176_000, true, &agent.Compacted{Before: size(9), After: size(5), Err: "undone"}},
		{180_000, false, nil},
		{193_600, true, &agent.Compacted{Before: size(193_600), After: size(170_000)}},
		{170_000, false, nil},
		{186_999, false, nil},
		{187_000, true, nil},
	} {
		if voted := fixture.Votes(&hooks, run, 0, c.tokens) != nil; voted != c.vote {
			t.Errorf("%d: with %d tokens it voted %v", i, c.tokens, voted)
		}
		if c.done != nil {
			after(*c.done)
		}
	}
}

func TestWarningIsUpdatedAfterCompaction(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&window.Auto{Compactor: window.Truncate{}, Window: 200_000})
	run := agent.NewRun(nil)
	fixture.Votes(&hooks, run, 0, 170_000)
	done := agent.Compacted{Before: agent.Size{Messages: 9, Tokens: 150_000},
		After: agent.Size{Messages: 2, Tokens: 105_000}}
	_ = hooks.AfterCompact.Fire(t.Context(), run, &done)
	if text := hooks.Briefing.Fire(t.Context(), run, agent.Step{}); len(text) != 1 ||
		!strings.HasPrefix(text[0], "[context warning] About 62% ") {
		t.Errorf("got %q", text)
	}
	done = agent.Compacted{Before: agent.Size{Messages: 2, Tokens: 105_000}, After: agent.Size{Messages: 1, Tokens: 5000}}
	failed := done
	failed.Err = "no memory"
	_ = hooks.AfterCompact.Fire(t.Context(), run, &failed)
	if text := hooks.Briefing.Fire(t.Context(), run, agent.Step{}); len(text) != 1 {
		t.Errorf("after a failed compaction: got %q", text)
	}
	_ = hooks.AfterCompact.Fire(t.Context(), run, &done)
	if text := hooks.Briefing.Fire(t.Context(), run, agent.Step{}); len(text) != 0 {
		t.Errorf("got %q", text)
	}
}

func TestAutoCompactsWithItsOwnCompactor(t *testing.T) {
	hook := &window.Auto{Compactor: &window.Summarize{Trigger: 100}, Window: 1000, WarnAt: 200, CompactAt: 400,
		Reserve: 100}
	var seen window.Telemetry
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("- goal: 7"), looptest.Call("work", nil), looptest.Reply("done")},
		Tools: fixture.Worker(),
		Hooks: []agent.Hook{hook, agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
			seen = hook.Telemetry(run)
			return nil
		})},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: fixture.Chat(10)})
	requests := ran.Script.Requests()
	if ran.Failed != nil || len(ran.Warnings) != 0 || len(requests) != 3 {
		t.Fatalf("%v, %v, %d prompts", ran.Failed, ran.Warnings, len(requests))
	}
	if got := requests[1].Messages; len(got) != 5 || got[0].Content != "(summary of earlier conversation)\n- goal: 7" ||
		got[4].Content != "now" {
		t.Errorf("after the compaction the prompt is %+v", got)
	}
	if len(ran.Messages) != 8 || ran.ModelCalls != 3 {
		t.Errorf("%d messages are stored, %d calls counted", len(ran.Messages), ran.ModelCalls)
	}
	if !slices.Equal(seen.Fired, []int{1}) || seen.Peak != window.PressureCompact || len(seen.Samples) != 2 {
		t.Errorf("seen: %+v", seen)
	}
	ran.Recorder.Decided(t, "ShouldCompact", "window.Auto", "Compact",
		fmt.Sprintf("context compact: %d of 1000 tokens", seen.Samples[0].Tokens))
	done := hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact")
	if len(done) != 1 || done[0].Summary != "- goal: 7" || done[0].ModelCalls != 1 || done[0].Before.Messages != 21 ||
		done[0].After.Messages != 5 || done[0].Reason != agent.CompactProactive {
		t.Errorf("recorded: %+v", done)
	}
}

func TestCompactedRunKeepsCallsWithResults(t *testing.T) {
	var calls []looptest.Turn
	for range 30 {
		calls = append(calls, looptest.Calls(looptest.Call("work", nil), looptest.Call("fail", nil)))
	}
	for name, k := range map[string]agent.Compactor{
		"Summarize": &window.Summarize{Trigger: 100, OnError: func(error) {}}, "Truncate": &window.Truncate{},
		"Default":     &window.Default{Summarize: window.Summarize{Trigger: 400}},
		"Incremental": &window.Incremental{Keep: 200, Buffer: 200},
		"Chain":       &window.Chain{Stages: []agent.Compactor{window.Prune{}, window.Truncate{}}},
	} {
		t.Run(name, func(t *testing.T) {
			model := &summarising{steps: looptest.NewScript(append(slices.Clone(calls), looptest.Reply("done"))...)}
			ran := looptest.Harness{
				Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: strings.Repeat("x", 200)},
					&looptest.Tool{Name: "fail", Err: errors.New("no")}},
				Hooks: []agent.Hook{&window.Auto{Compactor: k, Window: 2000, WarnAt: 300, CompactAt: 600, Reserve: 100}},
				Agent: &loop.Agent{Model: model, Limits: loop.Limits{Steps: 40}},
			}.Run(t, "the task")
			if ran.Failed != nil || ran.Reply != "done" {
				t.Fatalf("got %v, %q, %v", ran.Failed, ran.Reply, ran.Stop)
			}
			if err := agentspec.CheckPairs(ran.Messages, false); err != nil {
				t.Error(err)
			}
			if n := agentspec.EstimateTokens(ran.Messages); n > 1000 {
				t.Errorf("%d tokens are stored", n)
			}
			if !slices.ContainsFunc(ran.Messages, func(m agent.Message) bool { return m.Content == "the task" }) {
				t.Error("the task is gone")
			}
		})
	}
}

// summarising is a model that answers requests for a summary itself and otherwise replies from a script.
type summarising struct {
	steps *looptest.Script
}

func (m *summarising) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if strings.HasPrefix(req.Messages[0].Content, "You summarise") {
		return agent.LLMResponse{Content: "so far so good"}, nil
	}
	return m.steps.Generate(ctx, req)
}

func TestConversationStaysBoundedOverFiftyRuns(t *testing.T) {
	var turns []looptest.Turn
	for range 50 {
		turns = append(turns, looptest.Call("work", nil), looptest.Reply(strings.Repeat("y", 300)))
	}
	a := &loop.Agent{
		Model: &summarising{steps: looptest.NewScript(turns...)},
		Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: strings.Repeat("x", 300)}},
		Hooks: loop.Hooks(&window.Auto{Compactor: &window.Summarize{Trigger: 1000}, Window: 3000, WarnAt: 900,
			CompactAt: 1000, Reserve: 100, OnlyAtStart: true}),
	}
	var messages []agent.Message
	for i := range 50 {
		result, err := a.Do(t.Context(), loop.Request{Task: fmt.Sprint("task ", i), Messages: messages})
		if err != nil {
			t.Fatal(err)
		}
		messages = result.Messages
		if n := agentspec.EstimateTokens(messages); n > 1400 {
			t.Fatalf("after run %d there are %d tokens", i, n)
		}
	}
	if messages[0].Name != "summary" {
		t.Errorf("the conversation begins with %+v", messages[0])
	}
}

func TestInvalidAutoPanicsInBind(t *testing.T) {
	k := window.Truncate{}
	for want, c := range map[string]*window.Auto{
		"window.Auto: Compactor is nil, so nothing could be compacted": {},
		"WarnAt is 60000, CompactAt 80000 and Window - Reserve 80000; let each be less": {
			Compactor: k, Window: 100_000, Reserve: 20_000,
		},
		"WarnAt is 102400, CompactAt 102400": {Compactor: k, WarnAt: 102_400},
		"a number is negative":               {Compactor: k, Reserve: -1},
		`FireAt is "block"`: {Compactor: k,
			FireAt: window.PressureBlock},
		"Compactor: there are no Stages": {Compactor: &window.Chain{}},
		"Compactor: Stages[0]: Summarize: MaxSummary is -1; give a number of tokens": {Compactor: &window.Chain{
			Stages: []agent.Compactor{&window.Default{Summarize: window.Summarize{MaxSummary: -1}}},
		}},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(c) })
		})
	}
}

func TestAutoRefusesNegativeNumbers(t *testing.T) {
	for name, hook := range map[string]*window.Auto{
		"Window": {Window: -1}, "WarnAt": {WarnAt: -1}, "CompactAt": {CompactAt: -1}, "Reserve": {Reserve: -1},
	} {
		t.Run(name, func(t *testing.T) {
			hook.Compactor = window.Truncate{}
			fixture.MustPanic(t, "a number is negative", func() { new(agent.Hooks).Use(hook) })
		})
	}
}

func TestAutoWorksWithoutHostSupport(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&window.Auto{Compactor: window.Truncate{}}, hookkit.Named("c"))
	start := agent.RunStart{Task: "x"}
	if exit, err := hooks.OnRunStart.Fire(t.Context(), agent.NewRun(nil), &start); exit != nil || err != nil {
		t.Errorf("got %v, %v", exit, err)
	}
}

// Each compaction works, and the conversation is too long all the same.
func TestEffectiveCompactionsDoNotThrash(t *testing.T) {
	dropsOne := fixture.CompactorFunc(func(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
		return agent.Compacted{Messages: append(slices.Clone(c.Messages[:1]), c.Messages[2:]...)}, nil
	})
	before := append([]agent.Message{fixture.User("short")}, fixture.User(strings.Repeat("long ", 4000)))
	ran := looptest.Harness{
		Turns: fixture.Work(19), Tools: fixture.Worker(),
		Hooks: []agent.Hook{&window.Auto{Compactor: dropsOne, Window: 10_000, WarnAt: 1000, CompactAt: 2000}},
		Agent: &loop.Agent{Limits: loop.Limits{Window: 10_000, Steps: 40}},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: append(before, before...)})
	n := len(hooktest.PayloadsOf[agent.Compacted](ran.Recorder, "AfterCompact"))
	if ran.Failed != nil || ran.Steps != 20 || n == 0 || n > 3 {
		t.Errorf("%d compactions in %d steps, %v", n, ran.Steps, ran.Failed)
	}
}
