package kit

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Env returns the environment of a run, or nil. The methods of agent.Env accept a nil receiver.
func Env(run *agent.Run) *agent.Env {
	if run == nil {
		return nil
	}
	return run.Env
}

// Agent returns the name of the agent of a run, or "".
func Agent(run *agent.Run) string {
	if env := Env(run); env != nil {
		return env.Agent
	}
	return ""
}

// ConversationID returns the ID of the stored conversation of a run, or "".
func ConversationID(run *agent.Run) string {
	if env := Env(run); env != nil && env.Conversation != nil {
		return env.Conversation.ID()
	}
	return ""
}

// Messages returns a copy of the stored conversation of a run, or nil.
func Messages(run *agent.Run) []agent.Message {
	if env := Env(run); env != nil && env.Conversation != nil {
		return env.Conversation.Messages()
	}
	return nil
}

// Conversation returns a copy of the stored conversation of a run that ends, or without one the messages of its result.
func Conversation(run *agent.Run, result agent.AgentResult) []agent.Message {
	if stored := Messages(run); stored != nil {
		return stored
	}
	return result.Messages
}

// Owner returns the identity of a run. Its Conversation is never empty, unless run is nil.
func Owner(run *agent.Run) agent.Identity {
	id := Env(run).Identity()
	if id.Conversation == "" && run.Root() != "" {
		id.Conversation = "run " + run.Root()
	}
	return id
}

// For returns a context that acts for the owner of a run. Stores scope their content by it. Loops pass such contexts to
// hooks, but not all loops have to.
func For(ctx context.Context, run *agent.Run) context.Context {
	return agentspec.WithIdentity(ctx, Owner(run))
}

// IsReadOnly reports whether the run has the tool and its schema has ReadOnly set.
func IsReadOnly(run *agent.Run, tool string) bool {
	schema, _ := Schema(run, tool)
	return schema.ReadOnly
}

// IsRepeatable reports whether the run has the tool and its schema has ReadOnly or Idempotent set.
func IsRepeatable(run *agent.Run, tool string) bool {
	schema, _ := Schema(run, tool)
	return schema.ReadOnly || schema.Idempotent
}

// Schema returns the schema of a tool, and whether the run has the tool.
func Schema(run *agent.Run, tool string) (schema agent.ToolSchema, ok bool) {
	if env := Env(run); env != nil && env.Tools != nil {
		schema, ok = env.Tools.Lookup(tool)
	}
	return schema, ok
}
