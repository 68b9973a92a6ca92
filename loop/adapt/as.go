package adapt

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/hookgen/hookgen/generated/agent"
)

// ModelAs is [Host.Model] for a framework whose models reply with an R. A reply that the hooks do not change passes as
// the model made it, with everything that an LLMResponse cannot hold. read converts a reply for the hooks, and write
// converts one that they changed or gave.
func ModelAs[R any](
	ctx context.Context, h *Host, req agent.LLMRequest, generate func(context.Context, agent.LLMRequest) (R, error),
	read func(R) agent.LLMResponse, write func(agent.LLMResponse) R,
) (reply R, err error) {
	var last atomic.Pointer[R]
	left, err := h.Model(ctx, req, func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
		reply, err := generate(ctx, req)
		if err != nil {
			return agent.LLMResponse{}, err
		}
		last.Store(&reply)
		return read(reply), nil
	})
	if err != nil {
		return reply, err
	}
	if made := last.Load(); made != nil {
		unchanged := read(*made)
		if unchanged.Step = left.Step; reflect.DeepEqual(unchanged, left) {
			return *made, nil
		}
	}
	return write(left), nil
}

// ToolAs is [Host.Tool] for a framework that has chosen the tool already, and whose tools return an R. A result that
// the hooks do not change passes as the tool made it. read returns the text of a result for the hooks, and write makes
// a result of the text for the model.
func ToolAs[R any](
	ctx context.Context, h *Host, call agent.ToolCallRequest, act func(context.Context, agent.ToolCallRequest) (R, error),
	read func(R) string, write func(string) R,
) (result R, err error) {
	var last atomic.Pointer[R]
	left, err := h.Tool(ctx, call, func(ctx context.Context, left agent.ToolCallRequest) (string, error) {
		made, err := act(ctx, left)
		if err != nil {
			return "", err
		}
		last.Store(&made)
		return read(made), nil
	})
	if err != nil {
		return result, err
	}
	added := len(left.Context) + len(left.Warnings) + len(left.Parts)
	if made := last.Load(); made != nil && left.OK() && left.Output == read(*made) && added == 0 {
		return *made, nil
	}
	return write(left.Content()), nil
}

// Restore converts the messages of a request back into those of a framework. A message that the hooks did not change
// is the original, which may have more than the converted one. The slice converted has the originals as the adapter
// converted them.
func Restore[M any](
	messages, converted []agent.Message, originals []M, convert func(agent.Message) M,
) []M {
	all := make([]M, len(messages))
	next := 0
	for i, m := range messages {
		at := slices.IndexFunc(converted[next:], func(c agent.Message) bool { return reflect.DeepEqual(c, m) })
		if at < 0 {
			all[i] = convert(m)
			continue
		}
		all[i] = originals[next+at]
		next += at + 1
	}
	return all
}

// Offered returns the tools that a request still offers after the hooks, of those that the framework had.
func Offered[T any](tools []T, req agent.LLMRequest, name func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(tools), func(tool T) bool {
		return !slices.ContainsFunc(req.Tools, func(t agent.ToolSchema) bool { return t.Name == name(tool) })
	})
}

// Convert converts each element of a slice.
func Convert[A, B any](all []A, one func(A) B) (converted []B) {
	for _, a := range all {
		converted = append(converted, one(a))
	}
	return converted
}

// Collect calls next until it returns io.EOF, and returns the values. Streams of most frameworks have such a method.
func Collect[T any](next func() (T, error)) (all []T, err error) {
	for {
		value, err := next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
}
