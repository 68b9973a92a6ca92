package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("MCP_TEST_SERVER"); role != "" {
		serve(role)
		return
	}
	goleak.VerifyTestMain(m)
}

type place struct {
	At string `json:"at"`
}

type weather struct {
	Sky   string `json:"sky"`
	Below int    `json:"below"`
}

// text returns a result with texts.
func text(all ...string) *sdk.CallToolResult {
	result := &sdk.CallToolResult{}
	for _, t := range all {
		result.Content = append(result.Content, &sdk.TextContent{Text: t})
	}
	return result
}

var readOnly = &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}

// newServer returns a server with the tools of most tests.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "v1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "look", Description: "Looks.", Annotations: readOnly}, func(
		_ context.Context, _ *sdk.CallToolRequest, p place,
	) (*sdk.CallToolResult, any, error) {
		return text("rain in " + p.At), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "measure"}, func(
		_ context.Context, _ *sdk.CallToolRequest, p place,
	) (*sdk.CallToolResult, weather, error) {
		return nil, weather{Sky: "grey over " + p.At, Below: 3}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(
		_ context.Context, _ *sdk.CallToolRequest, p place,
	) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("no weather in " + p.At)
	})
	return s
}

// add adds a tool that takes any object.
func add(s *sdk.Server, name string, f func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
	s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
}

// connect connects to a transport until the test ends.
func connect(t *testing.T, to mcp.Transport, opts mcp.Options) *mcp.Server {
	t.Helper()
	s, err := mcp.Connect(t.Context(), "test", to, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// tool returns a tool of a server.
func tool(t *testing.T, s *mcp.Server, name string) agent.OutputTool {
	t.Helper()
	for _, each := range s.Tools() {
		if each.Schema().Name == "test__"+name {
			return each.(agent.OutputTool)
		}
	}
	t.Fatalf("there is no tool %s in %v", name, names(s))
	return nil
}

func names(s *mcp.Server) (all []string) {
	for _, each := range s.Tools() {
		all = append(all, each.Schema().Name)
	}
	return all
}

func call(args string) agent.ToolCallRequest {
	return agent.ToolCallRequest{ID: "call_1", Args: json.RawMessage(args)}
}

// serve is a server in a child process.
func serve(role string) {
	s := newServer()
	add(s, "exit", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	add(s, "environment", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(fmt.Sprint(os.Environ())), nil
	})
	if role != "serve" {
		other[role](s)
	}
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// other are the servers in child processes that do not behave.
var other = map[string]func(*sdk.Server){}

// child returns the command of a server in a child process.
func child(t *testing.T, role string, env ...string) mcp.Command {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Command{Args: []string{program}, Env: append(env, "MCP_TEST_SERVER="+role), Stderr: os.Stderr}
}
