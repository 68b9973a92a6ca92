package builtin

import (
	"github.com/hookgen/hookgen/generated/agent"
)

// envOf is the environment of a run, nil for none; the methods of Env work on nil.
func envOf(run *agent.Run) *agent.Env {
	if run == nil {
		return nil
	}
	return run.Env
}

// agentOf is the name of the agent that runs.
func agentOf(run *agent.Run) string {
	if env := envOf(run); env != nil {
		return env.Agent
	}
	return ""
}

// runOf is the identity of a run and of the one that started it.
func runOf(run *agent.Run) (id, parent string) {
	if run == nil {
		return "", ""
	}
	return run.ID(), run.Parent()
}

// conversationOf is the identity of the stored conversation of a run, "" if it has none.
func conversationOf(run *agent.Run) string {
	if env := envOf(run); env != nil && env.Conversation != nil {
		return env.Conversation.ID()
	}
	return ""
}

// messagesOf is a copy of the stored conversation of a run.
func messagesOf(run *agent.Run) []agent.Message {
	if env := envOf(run); env != nil && env.Conversation != nil {
		return env.Conversation.Messages()
	}
	return nil
}
