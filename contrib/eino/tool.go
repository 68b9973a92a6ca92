package eino

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// Tools returns tools that fire the hooks around each call.
//
// Hooks see the result of a tool as one text, so the output of a streaming tool is collected. A call of a tool that
// returns no text, which eino calls enhanced, fails.
func Tools(h *adapt.Host, tools ...tool.BaseTool) []tool.BaseTool {
	return adapt.Convert(tools, func(t tool.BaseTool) tool.BaseTool { return guarded{t, h} })
}

type guarded struct {
	tool.BaseTool
	host *adapt.Host
}

// IsCallbacksEnabled reports whether the wrapped tool calls the callbacks of eino itself.
func (t guarded) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(t.BaseTool) }

// InvokableRun calls the tool.
func (t guarded) InvokableRun(ctx context.Context, args string, opts ...tool.Option) (string, error) {
	info, err := t.Info(ctx)
	if err != nil {
		return "", err
	}
	call := agent.ToolCallRequest{ID: compose.GetToolCallID(ctx), Name: info.Name, Args: json.RawMessage(args)}
	return adapt.ToolAs(ctx, t.host, call, func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
		switch inner := t.BaseTool.(type) {
		case tool.InvokableTool:
			return inner.InvokableRun(ctx, string(call.Args), opts...)
		case tool.StreamableTool:
			stream, err := inner.StreamableRun(ctx, string(call.Args), opts...)
			if err != nil {
				return "", err
			}
			defer stream.Close()
			chunks, err := adapt.Collect(stream.Recv)
			return strings.Join(chunks, ""), err
		}
		return "", errors.New("contrib/eino: the tool " + info.Name + " returns no text for the hooks")
	}, func(text string) string { return text }, func(text string) string { return text })
}
