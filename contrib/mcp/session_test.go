package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/contrib/mcp"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestALongSessionKeepsItsLastResults(t *testing.T) {
	hooks := new(agent.Hooks)
	ended := make(chan agent.AgentResult, 1)
	hooks.OnRunEnd.AddFunc(func(_ context.Context, _ *agent.Run, r agent.AgentResult) error {
		ended <- r
		return nil
	})
	server := newServer()
	add(server, "read", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(strings.Repeat("a", 300<<10)), nil
	})
	s := client(t, server, hooks, mcp.MiddlewareOptions{})
	for range 10 {
		do(t, s, "read", `{}`)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	r := <-ended
	if len(r.Calls) != 3 || r.Calls[2].Call.ID != "call_10" {
		t.Errorf("%d results are kept", len(r.Calls))
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "the first 7 results") }) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// A hook of OnRunStart holds the first call. Its client may cancel the call or end the session.
func TestHookHoldsTheStartOfASession(t *testing.T) {
	hooks := new(agent.Hooks)
	begun, released := make(chan bool, 1), make(chan error, 1)
	hooks.OnRunStart.AddFunc(func(ctx context.Context, _ *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
		begun <- true
		<-ctx.Done()
		released <- ctx.Err()
		return nil, ctx.Err()
	})
	returned := make(chan error, 1)
	server := newServer()
	server.AddReceivingMiddleware(mcp.Middleware(hooks, mcp.MiddlewareOptions{}))
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, req)
			if method == "tools/call" {
				returned <- err
			}
			return result, err
		}
	})
	s := session(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "look", Arguments: place{At: "Oslo"}}); err == nil {
		t.Error("the call succeeded")
	}
	if err := <-returned; !errors.Is(err, context.Canceled) {
		t.Errorf("the server answers the cancelled call with %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-released; !errors.Is(err, context.Canceled) {
		t.Errorf("the hook ended with %v", err)
	}
}

func TestADeafHandlerIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hooks := new(agent.Hooks)
		results := make(chan agent.ToolCallResult, 1)
		hooks.AfterTool.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.AfterToolFired[agent.ToolCallResult]) {
			results <- f.Payload
		})
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan bool)
		server := newServer()
		add(server, "sleep", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			cancel()
			<-release
			return text("late"), nil
		})
		s := client(t, server, hooks, mcp.MiddlewareOptions{})
		begun := time.Now()
		_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "sleep", Arguments: json.RawMessage(`{}`)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v", err)
		}
		if r := <-results; r.Kind != agent.FailCancelled || r.Output != "" || time.Since(begun) != time.Second {
			t.Errorf("got %+v after %v", r, time.Since(begun))
		}
		close(release)
	})
}
