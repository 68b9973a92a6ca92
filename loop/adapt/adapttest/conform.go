package adapttest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A Queue has the replies of a model of the framework. A model without a reply waits for the end of its context.
type Queue chan agent.LLMResponse

// Next returns the next reply.
func (q Queue) Next(ctx context.Context) (agent.LLMResponse, error) {
	select {
	case r := <-q:
		return r, ctx.Err()
	case <-ctx.Done():
		return agent.LLMResponse{}, ctx.Err()
	}
}

// CheckModels checks models of a framework with the conformance suite. The function model returns a model that calls
// one of the framework, whose replies are those of the queue.
func CheckModels(t *testing.T, model func(q Queue) agent.Model) {
	looptest.CheckModel(t, func(_ testing.TB, replies ...agent.LLMResponse) agent.Model {
		q := make(Queue, len(replies))
		for _, r := range replies {
			q <- r
		}
		return model(q)
	})
}

// Seen calls a model of the framework in a run and returns the reply as the hooks see it.
func Seen(ctx context.Context, call func(ctx context.Context, h *adapt.Host) error) (
	reply agent.LLMResponse, err error,
) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	h.Hooks.AfterLLM.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.AfterLLMFired[agent.LLMResponse]) {
		reply = f.Payload
	})
	_, err = h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) { return "", call(ctx, h) })
	return reply, err
}

// CheckTools checks tools of a framework with the conformance suite. The function call calls a tool of the framework
// that is named delete and does inner.
func CheckTools(t *testing.T, call func(
	ctx context.Context, h *adapt.Host, args string, inner func(ctx context.Context, args string) (string, error),
) (string, error)) {
	looptest.CheckTool(t, func() agent.Tool { return hosted(call) }, `{"name":"a.txt"}`)
}

// A hosted tool calls a tool of the framework inside a run.
type hosted func(
	ctx context.Context, h *adapt.Host, args string, inner func(ctx context.Context, args string) (string, error),
) (string, error)

func (hosted) Schema() agent.ToolSchema {
	return agent.ToolSchema{Name: "delete", Parameters: json.RawMessage(
		`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
}

func (call hosted) Call(ctx context.Context, req agent.ToolCallRequest) (string, error) {
	h := &adapt.Host{Hooks: new(agent.Hooks)}
	result, err := h.Run(ctx, adapt.Task{}, func(ctx context.Context, _ adapt.Task) (string, error) {
		return call(ctx, h, string(req.Args), func(_ context.Context, args string) (string, error) {
			var file struct {
				Name string `json:"name"`
			}
			err := json.Unmarshal([]byte(args), &file)
			return "deleted " + file.Name, err
		})
	})
	return result.Reply, err
}
