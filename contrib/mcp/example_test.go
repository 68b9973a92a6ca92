package mcp_test

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An agent calls a tool of a server in the same program.
func ExampleConnect() {
	ctx := context.Background()
	weather, err := mcp.Connect(ctx, "weather", mcp.InProcess{Server: newServer()}, mcp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer weather.Close()
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("weather__look", `{"at":"Oslo"}`), looptest.Reply("Take an umbrella.")),
		Tools: weather.Tools(),
	}
	result, err := a.Run(ctx, "What do I need in Oslo?")
	fmt.Println(result.Calls[0].Output)
	fmt.Println(result.Reply, err)
	// Output:
	// rain in Oslo
	// Take an umbrella. <nil>
}

// A program offers its own function as a tool of an MCP server, without a process or a port.
func ExampleInProcess() {
	type bill struct {
		Euros int `json:"euros"`
	}
	type receipt struct {
		Number string `json:"number"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "bank", Version: "v1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "pay", Description: "Pays a bill."}, func(
		_ context.Context, _ *sdk.CallToolRequest, b bill,
	) (*sdk.CallToolResult, receipt, error) {
		return nil, receipt{Number: fmt.Sprint("A", b.Euros)}, nil
	})

	ctx := context.Background()
	bank, err := mcp.Connect(ctx, "bank", mcp.InProcess{Server: server}, mcp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer bank.Close()
	tool := bank.Tools()[0]
	output, err := tool.Call(ctx, agent.ToolCallRequest{Name: "bank__pay", Args: []byte(`{"euros":7}`)})
	fmt.Println(tool.Schema().Name, output, err)
	// Output:
	// bank__pay {"number":"A7"} <nil>
}

// A server denies a tool to all its clients.
func ExampleMiddleware() {
	hooks := new(agent.Hooks)
	hooks.OnPermission.AddFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "measure" {
			return agent.Deny{Reason: "the instruments are at the shop"}, nil
		}
		return nil, nil
	})
	server := newServer()
	server.AddReceivingMiddleware(mcp.Middleware(hooks, mcp.MiddlewareOptions{}))

	ctx := context.Background()
	ours, theirs := sdk.NewInMemoryTransports()
	serving, err := server.Connect(ctx, theirs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer serving.Wait()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "v1"}, nil).Connect(ctx, ours, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	result, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "measure", Arguments: place{At: "Oslo"}})
	fmt.Println(result.IsError, result.Content[0].(*sdk.TextContent).Text, err)
	// Output:
	// true error: Permission denied for tool 'measure': the instruments are at the shop <nil>
}
