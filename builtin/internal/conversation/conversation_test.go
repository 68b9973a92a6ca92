package conversation

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

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
		messages := fixture.Conversations().Draw(t, "messages")
		keepLast := rapid.IntRange(-1, 6).Draw(t, "keep last")
		limit := rapid.IntRange(0, 120).Draw(t, "limit")
		if err := agentspec.CheckPairs(messages, false); err != nil {
			t.Fatalf("the test is wrong: %v", err)
		}
		count := 0
		fits := func(m []agent.Message) bool { count++; return agentspec.EstimateTokens(m) <= limit }
		left, ok := Fit(messages, keepLast, fits)

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
		head := Split(messages).Head
		if len(left) < head || !subsequence(messages[:head], left) {
			t.Errorf("a system message is gone")
		}
		newest := slices.IndexFunc(fixture.Reversed(messages), func(m agent.Message) bool { return m.Role == agent.RoleUser })
		kept := slices.IndexFunc(fixture.Reversed(left), func(m agent.Message) bool { return m.Role == agent.RoleUser })
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

func longestTurn(messages []agent.Message) int {
	longest := 0
	for _, n := range Split(messages).Turns {
		longest = max(longest, n.To-n.From)
	}
	return longest
}
