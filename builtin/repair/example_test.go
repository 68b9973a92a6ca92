package repair_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleEchoedPayload() {
	var hooks agent.Hooks
	hooks.Use(&repair.EchoedPayload{})
	reply := agent.LLMResponse{Content: `{"ok": false, "error": "no city", "retry_hint": "give a city"}`}
	hooks.AfterLLM.Fire(context.Background(), agent.NewRun(nil), &reply)
	fmt.Println(reply.Content)
	// Output: Sorry, I couldn't answer that.
}

func ExampleSchemaRetry() {
	read := &looptest.Tool{Name: "read",
		Parameters: `{"type":"object","properties":{"path":{"type":"string",` +
			`"description":"of the file"}},"required":["path"]}`}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("read", `{"file":"a.go"}`), looptest.Reply("ok")),
		Tools: []agent.Tool{read},
		Hooks: loop.Hooks(&repair.SchemaRetry{}),
	}
	result, _ := a.Run(context.Background(), "Read a.go.")
	lines := strings.Split(result.Calls[0].Output, "\n")
	fmt.Println(strings.Join(lines[len(lines)-3:], "\n"))
	// Output:
	// read accepts only these parameters:
	// - path (string, required): of the file
	// Call it once more with the right names and types; if that fails too, stop and say so.
}

func ExampleToolErrorRetry() {
	var hooks agent.Hooks
	hooks.Use(&repair.ToolErrorRetry{MaxFailures: 1, Suggest: "Answer without it."})
	result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "search"}, Err: "down", Attempts: 1}
	hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(result.Output)
	// Output: {"ok":false,"error":"down","retries_exhausted":true,"suggest":"Answer without it."}
}
