package builtin_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleEchoedPayload() {
	var hooks agent.Hooks
	hooks.Use(&builtin.EchoedPayload{})
	reply := agent.LLMResponse{Content: `{"ok": false, "error": "no city", "retry_hint": "give a city"}`}
	hooks.AfterLLM.Fire(context.Background(), agent.NewRun(nil), &reply)
	fmt.Println(reply.Content)
	// Output: Sorry, I couldn't answer that.
}

func ExampleOutputValidator() {
	var hooks agent.Hooks
	hooks.Use(&builtin.OutputValidator{Validators: []builtin.Validator{builtin.RedactPII(), builtin.LengthCap(40)}})
	result := agent.ToolCallResult{Output: "ask jane@example.org"}
	hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output: ask [REDACTED]
}

func ExampleToolErrorRetry() {
	var hooks agent.Hooks
	hooks.Use(&builtin.ToolErrorRetry{MaxFailures: 1})
	result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "search"}, Err: "down", Attempts: 1}
	hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output: {"ok":false,"error":"down","retries_exhausted":true,"suggest":"This tool is failing. Try a different tool or answer without it."}
}
