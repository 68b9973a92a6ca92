// Command example asks an agent for the files of a directory. The agent has the tools of an MCP server and may only
// read:
//
//	go run . npx -y @modelcontextprotocol/server-filesystem /tmp
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, command []string) error {
	files, err := mcp.Connect(ctx, "files", mcp.Command{Args: command, Stderr: os.Stderr}, mcp.Options{TrustHints: true})
	if err != nil {
		return err
	}
	defer files.Close()
	for _, warning := range files.Warnings() {
		log.Print(warning)
	}

	hooks := new(agent.Hooks)
	hooks.OnPermission.AddFunc(onlyRead)
	hooks.Use(files.Updates())
	a := &loop.Agent{
		Model: looptest.NewScript( // use a real model here
			looptest.Call("files__list_allowed_directories", nil),
			looptest.Reply("You can see them above."),
		),
		Hooks: hooks,
		Tools: files.Tools(),
	}
	result, err := a.Run(ctx, "Which directories are there?")
	if err != nil {
		return err
	}
	for _, call := range result.Calls {
		fmt.Println(call.Call.Name, call.Output, call.Err)
	}
	fmt.Println(result.Reply)
	return nil
}

// onlyRead denies the calls of tools that change something. The hint is the server's own: see TrustHints.
func onlyRead(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	if tool, _ := run.Env.Tools.Lookup(call.Name); !tool.ReadOnly {
		return agent.Deny{Reason: "this agent may only read"}, nil
	}
	return nil, nil
}
