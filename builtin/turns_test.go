package builtin

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// conversations draws legal conversations: system messages, then users, answers, and calls with their results.
func conversations() *rapid.Generator[[]agent.Message] {
	return rapid.Custom(func(t *rapid.T) []agent.Message {
		var out []agent.Message
		text := func() string { return strings.Repeat("x", rapid.IntRange(0, 60).Draw(t, "length")) }
		for range rapid.IntRange(0, 2).Draw(t, "system messages") {
			out = append(out, agent.Message{Role: agent.RoleSystem, Content: text()})
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "turns") {
			switch rapid.SampledFrom([]string{"user", "answer", "calls", "system"}).Draw(t, "turn") {
			case "user":
				out = append(out, agent.Message{Role: agent.RoleUser, Content: text()})
			case "answer":
				out = append(out, agent.Message{Role: agent.RoleAssistant, Content: text()})
			case "system":
				if i > 0 {
					out = append(out, agent.Message{Role: agent.RoleSystem, Content: text()})
				}
			default:
				m := agent.Message{Role: agent.RoleAssistant}
				for c := range rapid.IntRange(1, 3).Draw(t, "calls") {
					m.ToolCalls = append(m.ToolCalls, agent.ToolCallRequest{ID: fmt.Sprint(i, c), Name: "t", Args: []byte(`{}`), Step: i + 1})
				}
				out = append(out, m)
				for _, c := range m.ToolCalls {
					out = append(out, agent.Message{Role: agent.RoleTool, ToolCallID: c.ID, Name: "t", Content: text()})
				}
			}
		}
		return out
	})
}

// subsequence reports whether some stands in all, in order.
func subsequence(some, all []agent.Message) bool {
	for _, m := range all {
		if len(some) > 0 && some[0].Content == m.Content && some[0].Role == m.Role && some[0].ToolCallID == m.ToolCallID && len(some[0].ToolCalls) == len(m.ToolCalls) {
			some = some[1:]
		}
	}
	return len(some) == 0
}

func TestWhatIsShortenedIsLegalAndKeepsWhatMustStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := conversations().Draw(t, "messages")
		keepLast := rapid.IntRange(-1, 6).Draw(t, "keep last")
		limit := rapid.IntRange(0, 120).Draw(t, "limit")
		if err := agentspec.CheckPairs(messages, false); err != nil {
			t.Fatalf("the test is wrong: %v", err)
		}
		count := 0
		fits := func(m []agent.Message) bool { count++; return agentspec.EstimateTokens(m) <= limit }
		left, ok := fit(messages, keepLast, fits)

		if err := agentspec.CheckPairs(left, false); err != nil {
			t.Errorf("a call and its result were parted: %v", err)
		}
		if !subsequence(left, messages) {
			t.Errorf("got what was not there: %+v", left)
		}
		if ok != (agentspec.EstimateTokens(left) <= limit) {
			t.Errorf("it fits: %v, but there are %d tokens of %d", ok, agentspec.EstimateTokens(left), limit)
		}
		if agentspec.EstimateTokens(messages) <= limit && len(left) != len(messages) {
			t.Errorf("%d of %d messages were left out for nothing", len(messages)-len(left), len(messages))
		}
		head := split(messages).head
		if len(left) < head || !subsequence(messages[:head], left) {
			t.Errorf("a system message is gone")
		}
		newest := slices.IndexFunc(reversed(messages), func(m agent.Message) bool { return m.Role == agent.RoleUser })
		kept := slices.IndexFunc(reversed(left), func(m agent.Message) bool { return m.Role == agent.RoleUser })
		if (newest < 0) != (kept < 0) {
			t.Errorf("the newest user message is gone")
		}
		if !ok && len(left) > head+max(1, longestTurn(messages)) {
			t.Errorf("more than the least is left: %+v", left)
		}
		if count > 20 {
			t.Errorf("counted %d times", count)
		}
	})
}

func reversed(messages []agent.Message) []agent.Message {
	out := slices.Clone(messages)
	slices.Reverse(out)
	return out
}

func longestTurn(messages []agent.Message) int {
	longest := 0
	for _, n := range split(messages).turns {
		longest = max(longest, n.to-n.from)
	}
	return longest
}
