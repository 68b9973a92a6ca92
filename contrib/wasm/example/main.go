// Command example asks the guest in a file about two calls of tools.
//
//hookvet:ignore unfired the program asks at one point alone
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/contrib/wasm"
	"github.com/hookgen/hookgen/generated/agent"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string) error {
	module, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	caller, err := wasm.New(module, wasm.Name(file))
	if err != nil {
		return err
	}
	defer caller.Close()
	remote, err := agent.Remote(ctx, caller)
	if err != nil {
		return err
	}
	hooks := new(agent.Hooks)
	hooks.Use(remote)
	for _, tool := range []string{"pay", "search"} {
		call := agent.ToolCallRequest{Name: tool}
		exit, by, err := hooks.BeforeTool.FireBy(ctx, agent.NewRun(nil), &call)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %T %q by %q\n", call.Name, exit, by.Reason, by.Hook)
	}
	return nil
}
