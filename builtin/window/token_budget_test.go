package window_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func ExampleTokenBudget() {
	var hooks agent.Hooks
	hooks.Use(&window.TokenBudget{Max: 40, Keep: 2})
	req := agent.LLMRequest{Messages: []agent.Message{
		{Role: agent.RoleSystem, Content: "Be brief."},
		{Role: agent.RoleUser, Content: strings.Repeat("a long question ", 10)},
		{Role: agent.RoleAssistant, Content: strings.Repeat("a long answer ", 10)},
		{Role: agent.RoleUser, Content: "And now?"},
	}}
	_, _ = hooks.BeforeLLM.Fire(context.Background(), agent.NewRun(nil), &req)
	for _, m := range req.Messages {
		fmt.Println(m.Role, m.Content)
	}
	// Output:
	// system Be brief.
	// user And now?
}

func TestTokenBudgetKeepsRequestsThatFit(t *testing.T) {
	messages := append([]agent.Message{fixture.System("s")}, fixture.Chat(10)...)
	total := agentspec.EstimateTokens(messages)
	for most, want := range map[int]int{total: 21, total - 1: 5} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			left := fixture.Rewritten(t, &window.TokenBudget{Max: limit.AtMost(most)}, agent.LLMRequest{Messages: messages})
			if len(left.Messages) != want || left.Messages[0].Content != "s" {
				t.Errorf("with a limit of %d of %d tokens %d messages are left, want %d", most, total, len(left.Messages), want)
			}
		})
	}
}

func TestTokenBudgetCountsToolsAndToolCalls(t *testing.T) {
	tools := []agent.ToolSchema{{Name: "t", Description: strings.Repeat("x", 4000)}}
	if left := fixture.Rewritten(t, &window.TokenBudget{Max: 1000},
		agent.LLMRequest{Messages: fixture.Chat(5), Tools: tools}); len(left.Messages) != 1 {
		t.Errorf("%d messages are left beside 1000 tokens of tools", len(left.Messages))
	}
	big := agent.Message{Role: agent.RoleAssistant,
		ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "t", Args: []byte(`"` + strings.Repeat("x", 4000) + `"`)}}}
	messages := []agent.Message{fixture.User("a"), big, {Role: agent.RoleTool, ToolCallID: "1"}, fixture.User("b")}
	if left := fixture.Rewritten(t, &window.TokenBudget{Max: 1000, Keep: 9},
		agent.LLMRequest{Messages: messages}); len(left.Messages) != 1 || left.Messages[0].Content != "b" {
		t.Errorf("left: %+v", left.Messages)
	}
}

func TestTokenBudgetUsesRunCounter(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&window.TokenBudget{Max: 3, Keep: 9})
	req := agent.LLMRequest{Messages: fixture.Chat(5)}
	run := agent.NewRun(&agent.Env{Tokens: fixture.Counter(func(m []agent.Message) int { return len(m) })})
	if _, err := hooks.BeforeLLM.Fire(t.Context(), run, &req); err != nil || len(req.Messages) != 3 {
		t.Errorf("%v: %d messages are left, want 3", err, len(req.Messages))
	}
}

func TestTokenBudgetReportsTooLongSystemPrompt(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("ok")},
		Tools: fixture.Worker(),
		Hooks: []agent.Hook{&window.TokenBudget{Max: 50}},
		Agent: &loop.Agent{Instructions: strings.Repeat("x", 1000)},
	}.Run(t, "the task")
	requests := ran.Script.Requests()
	if ran.Failed != nil || len(requests) != 2 {
		t.Fatalf("%v after %d prompts", ran.Failed, len(requests))
	}
	if last := requests[1].Messages; len(last) != 2 || last[0].Role != agent.RoleSystem || last[1].Content != "the task" {
		t.Errorf("the last prompt is %+v", last)
	}
	exceeded := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
	if len(exceeded) != 2 || exceeded[1].Kind != agent.BudgetContext || exceeded[1].Limit != 50 ||
		exceeded[1].Used < 250 || !exceeded[1].Estimated || exceeded[1].By != "window.TokenBudget" ||
		exceeded[1].Detail != "the request goes out with 2 of 4 messages, the least that is legal" {
		t.Errorf("reported %+v", exceeded)
	}
}

func TestTokenBudgetKeepsStoredConversation(t *testing.T) {
	before := fixture.Chat(26)
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("ok")},
		Hooks: []agent.Hook{&window.TokenBudget{Max: 200}},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: before})
	sent := ran.Script.Requests()[0].Messages
	if len(sent) != 4 || sent[3].Content != "now" || agentspec.EstimateTokens(sent) > 200 {
		t.Errorf("%d messages of %d tokens were sent, want 4 of at most 200: %+v", len(sent),
			agentspec.EstimateTokens(sent), sent)
	}
	if len(ran.Messages) != 54 {
		t.Errorf("%d messages are stored, want 54", len(ran.Messages))
	}
	ran.Recorder.Decided(t, "BeforeLLM", "window.TokenBudget", "Replace",
		"truncated to 200 tokens: 49 of 53 messages left out")
	if n := ran.Recorder.Count("OnBudgetExceeded"); n != 0 {
		t.Errorf("%d budgets were reported", n)
	}
}

func TestTokenBudgetRunsAfterPromptHooks(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("ok")},
		Hooks: []agent.Hook{&window.TokenBudget{Max: 100}, &prompt.Config{System: strings.Repeat("s", 200)},
			&prompt.Static{Text: "b"}},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: fixture.Chat(5)})
	if got := agentspec.EstimateTokens(ran.Script.Requests()[0].Messages); got > 100 {
		t.Errorf("%d tokens were sent", got)
	}
}

func TestInvalidTokenBudgetPanicsInBind(t *testing.T) {
	fixture.MustPanic(t, "TokenBudget: Max is -1; give 0 or more", func() {
		new(agent.Hooks).Use(&window.TokenBudget{Max: -1})
	})
}
