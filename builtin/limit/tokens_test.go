package limit_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestConversationHasATokenLimit(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(&limit.Tokens{Max: limit.None, Conversation: limit.AtMost(20)})
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(
		looptest.Reply("helped").Uses(agent.Usage{Input: 3})).ForEachRun()}
	run := func(conversation string) agent.AgentResult {
		t.Helper()
		result, err := looptest.Ended((&loop.Agent{
			Hooks: hooks, Tools: []agent.Tool{loop.Subagent(helper)},
			Model: looptest.NewScript(
				looptest.Call("helper", `{"task":"x"}`).Uses(agent.Usage{Input: 4}),
				looptest.Reply("done").Uses(agent.Usage{Output: 3})),
		}).Do(t.Context(), loop.Request{Task: "go", Conversation: conversation}))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	for _, c := range []struct {
		name, conversation string
		cause              agent.Cause
		message            string
	}{
		{"the first run", "a", agent.CauseCompleted, ""},                                           // 10 tokens
		{"the last within the limit", "a", agent.CauseCompleted, ""},                               // 20
		{"one more", "a", agent.CauseTokenLimit, "Token limit of the conversation reached: 20/20"}, // none
		{"another conversation", "b", agent.CauseCompleted, ""},
		{"without a conversation", "", agent.CauseCompleted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := run(c.conversation).Stop; got.Cause != c.cause || c.message != "" && got.Message != c.message {
				t.Errorf("stopped with %+v", got)
			}
		})
	}
}
