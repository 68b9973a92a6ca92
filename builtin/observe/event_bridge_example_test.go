package observe_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
)

// closed is a bus that vetoes every tool call.
type closed struct{}

func (closed) Publish(_ context.Context, e observe.BusEvent) (bool, string, error) {
	return e.Type == "tool" && e.Action == "before_call", "closed today", nil
}

func ExampleEventBridge() {
	var hooks agent.Hooks
	hooks.Use(&observe.EventBridge{Bus: closed{}})
	exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), agent.ToolCallRequest{Name: "search"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(exit.(agent.Deny).Reason)
	// Output: closed today
}
