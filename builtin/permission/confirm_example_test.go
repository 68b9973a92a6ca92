package permission_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

// The user at the terminal declines a call of a tool that needs a confirmation.
func ExampleConfirm() {
	var hooks agent.Hooks
	hooks.Use(&permission.Confirm{Tools: []string{"remove_file"}})

	ctx, run := context.Background(), agent.NewRun(nil)
	call := agent.ToolCallRequest{Name: "remove_file", Args: []byte(`{"path":"/tmp/old"}`)}
	exit, _ := hooks.OnPermission.Fire(ctx, run, call)
	ask := exit.(agent.Ask)

	// The loop asks its approver:
	terminal := &permission.Terminal{In: strings.NewReader("no\n"), Out: os.Stdout}
	answer, err := terminal.Approve(ctx, agent.Question{Call: call, Prompt: ask.Prompt})
	fmt.Println(answer.Allow, answer.Reason, err)
	// Output:
	// Run remove_file with these arguments?
	//   path: /tmp/old
	// Allow? [y/N] false user declined <nil>
}
