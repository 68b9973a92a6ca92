package main

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// demonstration returns a model that repairs greeting.txt, whatever the task is.
func demonstration() agent.Model {
	type args = map[string]string
	use := agent.Usage{Input: 900, Output: 40}
	call := func(tool string, a args) looptest.Turn { return looptest.Call(tool, a).Uses(use).ID("call_" + tool) }
	return turns{
		call("search", args{"pattern": "Helo"}).Says("I look for it."),
		call("edit", args{"path": "greeting.txt", "old": "Helo", "new": "Hello"}),
		call("shell", args{"command": "rm -rf .git"}).Says("I clean up."),
		call("shell", args{"command": "cat greeting.txt"}).Says("That is not allowed. I check the file."),
		looptest.Reply("The greeting is spelt correctly now.").Uses(use),
		looptest.Reply("The demonstration ends here."),
	}
}

// turns is a model. Its reply depends on the number of replies in the conversation.
type turns []looptest.Turn

// Generate returns the next turn, or the last one.
func (t turns) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return t.next(req).Generate(ctx, req)
}

// Stream is like Generate and emits the words of the reply.
func (t turns) Stream(ctx context.Context, req agent.LLMRequest, emit func(agent.Delta)) (agent.LLMResponse, error) {
	return t.next(req).Stream(ctx, req, emit)
}

func (t turns) next(req agent.LLMRequest) *looptest.Script {
	given := 0
	for _, m := range req.Messages {
		if m.Role == agent.RoleAssistant {
			given++
		}
	}
	return looptest.NewScript(t[min(given, len(t)-1)])
}
