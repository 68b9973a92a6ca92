package ported

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// DenyShell denies tools that run commands.
type DenyShell struct{}

// Bind adds the hook.
func (d DenyShell) Bind(h *agent.Hooks) { h.OnPermission.Add(d, hookkit.Priority(hookkit.Safety)) }

// OnPermission votes.
func (DenyShell) OnPermission(
	_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	switch call.Name {
	case "run_terminal_cmd", "bash":
		return agent.Deny{Reason: "Shell tools disabled"}, nil
	}
	return nil, nil
}
