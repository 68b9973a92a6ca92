package langchaingo

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tmc/langchaingo/tools"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// Tools returns tools that fire the hooks around each call.
//
// Hooks see an input that is not a JSON object as {"input": "..."}. An agent that calls a tool by another name than its
// own, for example in other capitals, is seen with the name of the tool.
func Tools(h *adapt.Host, all ...tools.Tool) []tools.Tool {
	return adapt.Convert(all, func(t tools.Tool) tools.Tool { return guarded{t, h} })
}

type guarded struct {
	tools.Tool
	host *adapt.Host
}

// Call calls the tool.
func (t guarded) Call(ctx context.Context, input string) (string, error) {
	call := agent.ToolCallRequest{Name: t.Name(), Args: json.RawMessage(input)}
	isText := json.Unmarshal(call.Args, &map[string]any{}) != nil
	if isText {
		call.Args, _ = json.Marshal(map[string]string{"input": input})
	}
	return adapt.ToolAs(ctx, t.host, call, func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
		passed := map[string]string{"input": string(call.Args)}
		if isText && json.Unmarshal(call.Args, &passed) != nil {
			return "", errors.New("contrib/langchaingo: a hook changed the text for " + call.Name + " to something else")
		}
		return t.Tool.Call(ctx, passed["input"])
	}, func(text string) string { return text }, func(text string) string { return text })
}
