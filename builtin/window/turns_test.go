package window

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// subsequence reports whether all contains the messages some in the same order.
func subsequence(some, all []agent.Message) bool {
	for _, m := range all {
		if len(some) > 0 && some[0].Content == m.Content && some[0].Role == m.Role && some[0].ToolCallID == m.ToolCallID &&
			len(some[0].ToolCalls) == len(m.ToolCalls) {
			some = some[1:]
		}
	}
	return len(some) == 0
}

func TestFitKeepsCallsAndRequiredMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := fixture.Conversations().Draw(t, "messages")
		keepLast := rapid.IntRange(-1, 6).Draw(t, "keep last")
		limit := rapid.IntRange(0, 120).Draw(t, "limit")
		if err := agentspec.CheckPairs(messages, false); err != nil {
			t.Fatalf("the test is wrong: %v", err)
		}
		count := 0
		fits := func(m []agent.Message) bool { count++; return agentspec.EstimateTokens(m) <= limit }
		shorter, ok := new(cut).Fit(messages, keepLast, fits)

		if err := agentspec.CheckPairs(shorter, false); err != nil {
			t.Errorf("a call and its result were separated: %v", err)
		}
		if !subsequence(shorter, messages) {
			t.Errorf("not a subsequence of the messages: %+v", shorter)
		}
		if ok != (agentspec.EstimateTokens(shorter) <= limit) {
			t.Errorf("reported %v, but the result has %d tokens of %d", ok, agentspec.EstimateTokens(shorter), limit)
		}
		if agentspec.EstimateTokens(messages) <= limit && len(shorter) != len(messages) {
			t.Errorf("%d of %d messages were dropped needlessly", len(messages)-len(shorter), len(messages))
		}
		head := split(messages).Head
		if len(shorter) < head || !subsequence(messages[:head], shorter) {
			t.Errorf("a system message was dropped")
		}
		isUser := func(m agent.Message) bool { return m.Role == agent.RoleUser }
		if slices.ContainsFunc(messages, isUser) != slices.ContainsFunc(shorter, isUser) {
			t.Errorf("the newest user message was dropped")
		}
		if !ok && len(shorter) > head+max(1, longestTurn(messages)) {
			t.Errorf("more than the minimum remains: %+v", shorter)
		}
		if count > 20 {
			t.Errorf("fits was called %d times", count)
		}
	})
}

func longestTurn(messages []agent.Message) int {
	longest := 0
	for _, n := range split(messages).Turns {
		longest = max(longest, n.To-n.From)
	}
	return longest
}

func TestPlacesAreFoundInTheirConversation(t *testing.T) {
	a, b, c := fixture.User("a"), fixture.User("b"), fixture.User("c")
	called := agent.Message{Role: agent.RoleUser, Content: "b", ToolCalls: make([]agent.ToolCallRequest, 1)}
	all := []agent.Message{a, b}
	for _, tt := range []struct {
		name  string
		place place
		in    []agent.Message
		want  int
	}{
		{"Zero", place{}, all, -1},
		{"Same", placeOf(all, 1), all, 1},
		{"First", placeOf(all, 0), all, 0},
		{"Grown", placeOf(all, 1), []agent.Message{a, b, c}, 1},
		{"Shorter", placeOf(all, 1), []agent.Message{b}, -1},
		{"OtherText", placeOf(all, 1), []agent.Message{a, c}, -1},
		{"OtherRole", placeOf(all, 1), []agent.Message{a, {Role: agent.RoleAssistant, Content: "b"}}, -1},
		{"OtherCall", placeOf(all, 1), []agent.Message{a, {Role: agent.RoleUser, Content: "b", ToolCallID: "1"}}, -1},
		{"WithCalls", placeOf(all, 1), []agent.Message{a, called}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.place.Index(tt.in); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// A long conversation of users grows, and every request keeps at most a few messages.
func TestACutMovesRarely(t *testing.T) {
	var c cut
	var all []agent.Message
	moved, first := 0, ""
	for i := range 100 {
		all = append(all, fixture.User(string(rune('a'+i))))
		kept, ok := c.Fit(all, 4, func(m []agent.Message) bool { return len(m) <= 20 })
		if !ok || len(kept) > 20 || kept[len(kept)-1].Content != all[i].Content {
			t.Fatalf("of %d messages %d are left, %v", i+1, len(kept), ok)
		}
		if kept[0].Content != first {
			moved, first = moved+1, kept[0].Content
		}
	}
	if moved < 2 || moved > 8 {
		t.Errorf("the beginning changed %d times", moved)
	}
	other, ok := c.Fit([]agent.Message{fixture.User("another"), fixture.User("conversation")}, 4,
		func(m []agent.Message) bool { return len(m) <= 20 })
	if !ok || len(other) != 2 {
		t.Errorf("%d messages of another conversation are left", len(other))
	}
}
