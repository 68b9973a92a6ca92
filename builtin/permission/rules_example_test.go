package permission_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

// Reading a .env file is denied, whatever path leads to it; large payments need a confirmation.
func ExampleRules() {
	var hooks agent.Hooks
	hooks.Use(&permission.Rules{List: []permission.Rule{
		{Tool: "read_file", Decision: permission.Deny, Args: permission.PathGlob("path", "**/.env"),
			Reason: "secrets stay where they are"},
		{Tool: "pay", Decision: permission.Ask, Args: permission.Expr("args.amount > 100")},
	}})
	call := agent.ToolCallRequest{Name: "read_file", Args: json.RawMessage(`{"path": "app/../app/.env"}`)}
	exit, _ := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), call)
	fmt.Println(exit.(agent.Deny).Reason)
	// Output: secrets stay where they are
}
