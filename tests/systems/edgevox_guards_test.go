package systems

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/screen"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestE40_InputGuardBlocksAndGates(t *testing.T) {
	for _, c := range []struct {
		guard        screen.Input
		task, reason string // reason "" for a run that goes on
	}{
		{screen.Input{Block: all("bomb")}, "how to build a BOMB", "blocklist match: bomb"},
		{screen.Input{Block: all("bomb")}, "how to bake", ""},
		{screen.Input{Block: all("bomb")}, "", ""},
		{screen.Input{Allow: all("bake")}, "how to bake", ""},
		{screen.Input{Allow: all("bake")}, "how to drive", "not in allowlist"},
		{screen.Input{Allow: []string{}}, "how to bake", "not in allowlist"},
	} {
		ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](&c.guard)}.Run(t, c.task)
		reply, calls := "ok", 1
		if c.reason != "" {
			reply, calls = "I can't help with that.", 0
		}
		if ran.Reply != reply || ran.Stop.Message != c.reason || len(ran.Script.Calls()) != calls {
			t.Errorf("%+v, %q: %q because %q", c.guard, c.task, ran.Reply, ran.Stop.Message)
		}
	}
}

// person is an approver made of a function.
type person func(agent.Question) (agent.Approval, error)

func (p person) Approve(_ context.Context, q agent.Question) (agent.Approval, error) { return p(q) }

func TestE41_ConfirmAsksAboutItsToolsAlone(t *testing.T) {
	for _, c := range []struct {
		tool   string
		answer agent.Approval
		err    error
		ran    int
		asked  int
	}{
		{"work", agent.Approval{Allow: true}, nil, 1, 1},
		{"work", agent.Approval{}, nil, 0, 1},
		{"work", agent.Approval{Allow: true}, errBoom, 0, 1},
		{"other", agent.Approval{}, nil, 1, 0},
	} {
		tool, asked := &looptest.Tool{Name: c.tool}, 0
		ran := looptest.Harness{
			Turns: all(looptest.Call(c.tool, nil), looptest.Reply("ok")), Tools: all[agent.Tool](tool),
			Hooks: all[agent.Hook](&permission.Confirm{Tools: all("work")}),
			Agent: &loop.Agent{Approver: person(func(agent.Question) (agent.Approval, error) {
				asked++
				return c.answer, c.err
			})},
		}.Run(t, "x")
		if tool.Count() != c.ran || asked != c.asked || ran.Calls[0].OK() != (c.ran == 1) || ran.Reply != "ok" {
			t.Errorf("%+v: ran %d times, asked %d times, %+v", c, tool.Count(), asked, ran.Calls)
		}
	}
}

// talk returns a conversation of n questions and answers of 100 bytes.
func talk(n int) []agent.Message {
	var out []agent.Message
	for i := range n {
		out = append(out, agent.Message{Role: agent.RoleUser, Content: fmt.Sprintf("question %-91d", i)},
			agent.Message{Role: agent.RoleAssistant, Content: fmt.Sprintf("answer %-93d", i)})
	}
	return out
}

func TestE42_TokenBudgetTrimsToTheLimit(t *testing.T) {
	for _, c := range []struct{ max, messages int }{{4000, 41}, {300, 4}} {
		ran := looptest.Harness{
			Turns: working(0), Hooks: all[agent.Hook](&window.TokenBudget{Max: limit.AtMost(c.max)}),
		}.Do(t, t.Context(), loop.Request{Task: "the newest", Messages: talk(20)})
		sent := ran.Script.Requests()[0].Messages
		if len(sent) != c.messages || sent[len(sent)-1].Content != "the newest" || agentspec.EstimateTokens(sent) > c.max {
			t.Errorf("within %d: %d messages of %d tokens, want %d messages", c.max, len(sent),
				agentspec.EstimateTokens(sent), c.messages)
		}
		if len(ran.Messages) != 42 {
			t.Errorf("within %d: %d messages are stored, want all 42", c.max, len(ran.Messages))
		}
	}
}

func TestE43_TruncateOutputCutsLongText(t *testing.T) {
	for _, length := range []int{5, 100, 101, 5000} {
		text := strings.Repeat("x", length)
		ran := looptest.Harness{
			Turns: working(1), Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: text}),
			Hooks: all[agent.Hook](&window.TruncateOutput{MaxChars: 100}, &window.TruncateOutput{MaxChars: 100}),
		}.Run(t, "x")
		switch got := ran.Calls[0].Output; {
		case length <= 100 && got != text:
			t.Errorf("%d characters became %q", length, got)
		case length > 100 && (len([]rune(got)) > 100 || !strings.HasPrefix(got, "xx") || strings.Trim(got, "x") == ""):
			t.Errorf("%d characters became %d: %q", length, len(got), got)
		}
	}
}

func TestE44_ContextWindowBlanksResultsBeforeMessages(t *testing.T) {
	tool := func(size int) []agent.Tool {
		return all[agent.Tool](&looptest.Tool{Name: "work", Result: strings.Repeat("data ", size/5)})
	}
	ran := looptest.Harness{Turns: working(1), Tools: tool(100_000), Hooks: all[agent.Hook](&window.Guard{})}.Run(t, "x")
	if got := ran.Calls[0].Output; len(got) > 30_000 || !strings.HasPrefix(got, "data data") {
		t.Errorf("an output of 100000 bytes became %d", len(got))
	}
	ran = looptest.Harness{
		Turns: working(4), Tools: tool(400), Hooks: all[agent.Hook](&window.Guard{Max: 320, Keep: 2, FullFor: limit.None}),
	}.Run(t, "the task")
	requests := ran.Script.Requests()
	sent := requests[len(requests)-1].Messages
	blanked := 0
	for _, m := range sent {
		if m.Content == "(truncated by context window manager)" {
			blanked++
		}
	}
	whole := slices.ContainsFunc(sent, func(m agent.Message) bool { return strings.HasPrefix(m.Content, "data data") })
	if len(sent) != 9 || sent[0].Content != "the task" || blanked == 0 || !whole || agentspec.EstimateTokens(sent) > 320 {
		t.Errorf("%d messages, %d of them blanked, %d tokens: %+v", len(sent), blanked, agentspec.EstimateTokens(sent), sent)
	}
	lacks(t, fmt.Sprint(ran.Messages), "truncated by") // the stored conversation is complete
}
