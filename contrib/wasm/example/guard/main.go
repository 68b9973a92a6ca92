// Command guard is a guest: it refuses the tool pay.
package main

import (
	"context"

	"github.com/hookgen/hookgen/contrib/wasm/guest"
	"github.com/hookgen/hookgen/generated/agent"
)

func init() {
	hooks := new(agent.Hooks)
	hooks.BeforeTool.AddFunc(refuse)
	guest.Serve(agent.Serve(hooks, nil))
}

func refuse(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	if call.Name == "pay" {
		return agent.SkipTool{Reason: "nobody may pay"}, nil
	}
	return nil, nil
}

func main() {}
