package permission_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

// A call of a named tool is put to the person at the terminal.
func ExampleConfirm() {
	var hooks agent.Hooks
	hooks.Use(&permission.Confirm{Tools: []string{"remove_file"}})

	ctx, run := context.Background(), agent.NewRun(nil)
	call := agent.ToolCallRequest{Name: "remove_file", Args: []byte(`{"path":"/tmp/old"}`)}
	exit, _ := hooks.OnPermission.Fire(ctx, run, call)
	ask := exit.(agent.Ask)

	// What a loop does with it:
	person := &permission.Terminal{In: strings.NewReader("no\n"), Out: os.Stdout}
	answer, err := person.Approve(ctx, agent.Question{Call: call, Prompt: ask.Prompt})
	fmt.Println(answer.Allow, answer.Reason, err)
	// Output:
	// Run remove_file with these arguments?
	//   path: /tmp/old
	// Allow? [y/N] false user declined <nil>
}
