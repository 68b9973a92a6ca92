package systems

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestContextWindowBlanksResultsBeforeMessages(t *testing.T) {
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
