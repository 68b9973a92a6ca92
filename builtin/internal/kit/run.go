package kit

import (
	"github.com/hookgen/hookgen/generated/agent"
)

// Env is the environment of a run, nil for none; the methods of Env work on nil.
func Env(run *agent.Run) *agent.Env {
	if run == nil {
		return nil
	}
	return run.Env
}

// Agent is the name of the agent that runs.
func Agent(run *agent.Run) string {
	if env := Env(run); env != nil {
		return env.Agent
	}
	return ""
}

// Identity is the identity of a run and of the one that started it.
func Identity(run *agent.Run) (id, parent string) {
	if run == nil {
		return "", ""
	}
	return run.ID(), run.Parent()
}

// ConversationID is the identity of the stored conversation of a run, "" if it has none.
func ConversationID(run *agent.Run) string {
	if env := Env(run); env != nil && env.Conversation != nil {
		return env.Conversation.ID()
	}
	return ""
}

// Messages is a copy of the stored conversation of a run.
func Messages(run *agent.Run) []agent.Message {
	if env := Env(run); env != nil && env.Conversation != nil {
		return env.Conversation.Messages()
	}
	return nil
}

// UseCompactor has the run compact with k, where the host supports it.
func UseCompactor(run *agent.Run, k agent.Compactor) {
	if run.Env != nil && run.Env.UseCompactor != nil {
		run.Env.UseCompactor(k)
	}
}
