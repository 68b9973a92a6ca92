package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExamplePermissions() {
	var hooks agent.Hooks
	hooks.Use(&builtin.Permissions{Rules: []builtin.Rule{
		{Tool: "read_file", Decision: builtin.DecideDeny, Args: builtin.PathGlob("path", "**/.env"), Reason: "secrets stay where they are"},
		{Tool: "pay", Decision: builtin.DecideAsk, Args: builtin.Expr("args.amount > 100")},
	}})
	call := agent.ToolCallRequest{Name: "read_file", Args: json.RawMessage(`{"path": "app/../app/.env"}`)}
	exit, _ := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), call)
	fmt.Println(exit.(agent.Deny).Reason)
	// Output: secrets stay where they are
}
