package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An overload is the error of a model client.
type overload struct{ wait time.Duration }

func (overload) Error() string               { return "overloaded" }
func (overload) Temporary() bool             { return true }
func (e overload) RetryAfter() time.Duration { return e.wait }

// failing returns a model that fails once and then replies.
func failing(err error, then string) agent.Model {
	return looptest.NewScript(looptest.Error(err), looptest.Reply(then))
}

func ExampleModel() {
	hooks := new(agent.Hooks)
	hooks.Use(&retry.Model{FirstWait: time.Millisecond})
	a := &loop.Agent{Model: failing(overload{}, "hello"), Hooks: hooks}
	result, err := a.Run(context.Background(), "greet me")
	fmt.Println(result.Reply, result.ModelCalls, err)
	// Output: hello 2 <nil>
}

func ExampleTools() {
	hooks := new(agent.Hooks)
	hooks.Use(&retry.Tools{FirstWait: time.Millisecond})
	times := 0
	search := loop.ReadOnly(loop.Tool("search", "Searches.", func(context.Context, struct{}) (string, error) {
		if times++; times == 1 {
			return "", overload{}
		}
		return "found", nil
	}))
	model := looptest.NewScript(looptest.Call("search", nil), looptest.Reply("done"))
	a := &loop.Agent{Model: model, Tools: []agent.Tool{search}, Hooks: hooks}
	result, _ := a.Run(context.Background(), "search")
	fmt.Println(result.Calls[0].Output, "after", result.Calls[0].Attempts, "attempts")
	// Output: found after 2 attempts
}

func ExampleFallback() {
	hooks := new(agent.Hooks)
	hooks.Use(&retry.Fallback{Models: []string{"small"}})
	a := &loop.Agent{
		Model: retry.Router{
			"":      looptest.NewScript(looptest.Error(errors.New("no credit"))),
			"small": looptest.NewScript(looptest.Reply("hello from the small model")),
		},
		Hooks: hooks,
	}
	result, _ := a.Run(context.Background(), "greet me")
	fmt.Println(result.Reply)
	// Output: hello from the small model
}

func ExampleBreaker() {
	hooks := new(agent.Hooks)
	hooks.Use(&retry.Breaker{Failures: limit.AtMost(1), Share: share.Everyone})
	a := &loop.Agent{Model: failing(overload{}, "hello"), Hooks: hooks}
	for range 2 {
		_, err := a.Run(context.Background(), "greet me")
		if failed := new(hookkit.Failure); errors.As(err, &failed) {
			err = failed.Cause // without the place of the hook
		}
		fmt.Println(err)
	}
	// Output:
	// agent "agent": LLM: the model failed too often and is not called for 30s: overloaded
	// the model failed too often and is not called for 30s
}
