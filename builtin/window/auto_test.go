package window_test

import (
	"context"
	"encoding/json"
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
				if s.Step != i+1 || s.EstimatedTokens != c.tokens[i] {
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
	got.Samples[0].EstimatedTokens = 0
	if one.Telemetry(first).Samples[0].EstimatedTokens != 170_000 {
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
		fmt.Sprintf("context compact: %d of 1000 tokens", seen.Samples[0].EstimatedTokens))
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

func TestPressureIsReportedOncePerLevel(t *testing.T) {
	for _, c := range []struct {
		name   string
		window int
		w      *window.Auto
		tokens []int
		want   string
	}{
		{"at the borders", 128_000, &window.Auto{}, []int{0, 76_799, 76_800, 102_399, 102_400, 115_199, 115_200, 50},
			"ok@0 warning@76800 compact@102400 block@115200 ok@0"},
		{"the first level", 128_000, &window.Auto{}, []int{110_000, 111_000}, "compact@102400"},
		{"an unknown window", 0, &window.Auto{}, []int{98_000}, "warning@76800"},
		{"a small window", 8000, &window.Auto{}, []int{4799, 4800, 6400, 7200}, "ok@0 warning@4800 compact@6400 block@7200"},
		{"own numbers", 0, &window.Auto{Window: 1000, WarnAt: 700, CompactAt: 800, Reserve: 100}, []int{699, 700, 800, 900},
			"ok@0 warning@700 compact@800 block@900"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			c.w.OnPressure = func(_ context.Context, _ *agent.Run, p window.Pressure) {
				got = append(got, fmt.Sprintf("%s@%d", p.Level, p.Threshold))
				if p.EstimatedTokens < p.Threshold || p.PercentUsed != 100*float64(p.EstimatedTokens)/float64(p.ContextWindow) {
					t.Errorf("got %+v", p)
				}
			}
			var hooks agent.Hooks
			c.w.Compactor = window.Truncate{}
			hooks.Use(c.w)
			fixture.Votes(&hooks, agent.NewRun(nil), c.window, c.tokens...)
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
			fixture.Votes(&hooks, agent.NewRun(nil), c.window, c.tokens[0])
			if !strings.HasPrefix(c.want, got[len(got)-1]) {
				t.Error("another run did not hear of its first level")
			}
		})
	}
	data, _ := json.Marshal(window.Pressure{Step: 3, Level: window.PressureBlock})
	want := `{"step":3,"level":"block","estimated_tokens":0,"threshold":0,"context_window":0,"percent_used":0}`
	if string(data) != want {
		t.Errorf("got %s", data)
	}
}

func TestNextPromptListsNamesHiddenByCompaction(t *testing.T) {
	args := func(names ...string) string {
		data, _ := json.Marshal(map[string]any{"paths": names, "n": 7, "note": "two words"})
		return string(data)
	}
	for name, c := range map[string]struct {
		turns []string
		want  string
	}{
		"many": {[]string{args("a.go", "b.go", "c.go", "d.go", "e.go"), args("f.go", "g.go", "h.go", "i.go", "a.go")},
			"a.go, b.go, c.go, d.go, e.go, f.go, g.go, h.go and 1 more"},
		"three":   {[]string{args("a.go", "b.go", "c.go", "kept.go", "12345", "no")}, "a.go, b.go, c.go"},
		"too few": {[]string{args("a.go", "b.go", "kept.go")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var turns []looptest.Turn
			for _, a := range c.turns {
				turns = append(turns, looptest.Call("work", a))
			}
			turns = append(turns, looptest.Call("work", args("kept.go")), looptest.Call("work", nil), looptest.Reply("ok"))
			at := len(c.turns) + 2
			compactAt := agent.ShouldCompactFunc(func(_ context.Context, _ *agent.Run,
				use agent.ContextUse) (agent.ShouldCompactOutcome, error) {
				if use.Step == at {
					return agent.Compact{}, nil
				}
				return nil, nil
			})
			ran := looptest.Harness{
				Turns: turns, Tools: fixture.Worker(),
				Hooks: []agent.Hook{&window.Auto{Compactor: window.Truncate{Keep: 1}}, compactAt},
			}.Run(t, "the task")
			for i, req := range ran.Script.Requests() {
				want := ""
				if i == at-1 && c.want != "" {
					want = "[after compaction] You have worked with these before, though they are no longer shown: " + c.want
				}
				if got := fixture.Briefing(req); got != want {
					t.Errorf("prompt %d is briefed %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

func TestOnlyAnEffectiveCompactionHidesNames(t *testing.T) {
	named := agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{
		{ID: "1", Name: "read", Args: []byte(`["a.go","b.go","c.go"]`)},
	}}
	smaller := agent.Compacted{Before: agent.Size{Tokens: 9}, After: agent.Size{Tokens: 1}}
	undone, equal := smaller, agent.Compacted{Before: agent.Size{Tokens: 9}, After: agent.Size{Tokens: 9}}
	undone.Err = "undone"
	for name, c := range map[string]struct {
		done agent.Compacted
		want int // notes
	}{"effective": {smaller, 1}, "undone": {undone, 0}, "without effect": {equal, 0}} {
		t.Run(name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&window.Auto{Compactor: window.Truncate{}})
			run := agent.NewRun(new(agent.Env))
			if _, err := hooks.BeforeCompact.Fire(t.Context(), run, agent.Compaction{
				Messages: []agent.Message{named},
			}); err != nil {
				t.Fatal(err)
			}
			if err := hooks.AfterCompact.Fire(t.Context(), run, &c.done); err != nil {
				t.Fatal(err)
			}
			if texts := hooks.Briefing.Fire(t.Context(), run, agent.Step{Number: 1}); len(texts) != c.want {
				t.Errorf("the notes are %q", texts)
			}
		})
	}
}

func TestTheModelLearnsOfAFullWindow(t *testing.T) {
	const note = "Answer now with what you have"
	for _, c := range []struct {
		name      string
		tokens    []int // of the conversation, per step
		compacted bool  // a compaction makes room in the first step
		told      []bool
	}{
		{"Full", []int{90_000, 126_000, 127_000, 90_000}, false, []bool{false, true, true, false}},
		{"AtTheBorder", []int{115_199, 115_200}, false, []bool{false, true}},
		{"Compacted", []int{126_000, 126_000}, true, []bool{false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&window.Auto{Compactor: window.Truncate{}})
			run := agent.NewRun(new(agent.Env))
			for i, tokens := range c.tokens {
				if _, err := hooks.ShouldCompact.Fire(t.Context(), run, agent.ContextUse{
					Tokens: tokens, Window: 128_000,
				}); err != nil {
					t.Fatal(err)
				}
				if c.compacted && i == 0 {
					done := agent.Compacted{Before: agent.Size{Tokens: 90_000}, After: agent.Size{Tokens: 1000}}
					if err := hooks.AfterCompact.Fire(t.Context(), run, &done); err != nil {
						t.Fatal(err)
					}
				}
				texts := hooks.Briefing.Fire(t.Context(), run, agent.Step{Number: i + 1})
				if told := strings.Contains(strings.Join(texts, ""), note); told != c.told[i] {
					t.Errorf("step %d with %d tokens: %q", i+1, tokens, texts)
				}
			}
		})
	}
}
