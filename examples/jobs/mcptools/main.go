// Command mcptools uses the tools of an MCP server.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	ctx := context.Background()
	server, err := mcp.Connect(ctx, "weather", mcp.HTTP{URL: os.Args[1]}, mcp.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a := &loop.Agent{Model: &openai.Model{Name: "gpt-5-mini"}, Tools: server.Tools()}
	result, err := a.Run(ctx, "What do I need in Bern?")
	if err := errors.Join(err, server.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
