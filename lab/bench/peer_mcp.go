package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// fireMCP is the unexported function that mcp-go's server calls before a tool.
//
//go:linkname fireMCP github.com/mark3labs/mcp-go/server.(*Hooks).beforeCallTool
func fireMCP(h *server.Hooks, ctx context.Context, id any, message *mcp.CallToolRequest)

func mcpGo() peer {
	return peer{
		name: nameMCP,
		quiet: func(n int) func(int) {
			hooks := new(server.Hooks)
			for range n {
				hooks.AddBeforeCallTool(func(context.Context, any, *mcp.CallToolRequest) {})
			}
			ctx := context.Background()
			var id any = 1
			message := &mcp.CallToolRequest{}
			message.Params.Name, message.Params.Arguments = call.Name, call.Args
			return func(fires int) {
				for range fires {
					fireMCP(hooks, ctx, id, message)
				}
			}
		},
	}
}
