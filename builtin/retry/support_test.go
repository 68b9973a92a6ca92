package retry_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A walkingClock moves only in Sleep, and records the waits.
type walkingClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

func newWalkingClock() *walkingClock { return &walkingClock{now: time.Unix(1_700_000_000, 0)} }

func (c *walkingClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *walkingClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Sleep returns at once. The loop's own timeouts wait for much longer, so they do not count.
func (c *walkingClock) Sleep(ctx context.Context, d time.Duration) error {
	if d >= 5*time.Minute {
		<-ctx.Done()
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits, c.now = append(c.waits, d), c.now.Add(d)
	return ctx.Err()
}

// run runs a task with the hooks and the model on the clock.
func run(t *testing.T, clock agent.Clock, model agent.Model, hooks ...agent.Hook) *looptest.Ran {
	t.Helper()
	return looptest.Harness{Agent: &loop.Agent{Model: model, Clock: clock}, Hooks: hooks}.Run(t, "go")
}

// errorsThen returns a script that fails with each error and then replies.
func errorsThen(errs ...error) *looptest.Script {
	s := looptest.NewScript()
	for _, err := range errs {
		s.Add(looptest.Error(err))
	}
	return s.Add(looptest.Reply("done"))
}

func TestInvalidFieldsPanic(t *testing.T) {
	for want, hook := range map[string]agent.Hook{
		"retry.Model: Attempts is 0; give 1 or more":   &retry.Model{Attempts: limit.AtMost(0)},
		"retry.Model: Attempts is -1; give 0 or more":  &retry.Model{Attempts: -1},
		"retry.Model: FirstWait is -1s; give 0":        &retry.Model{FirstWait: -time.Second},
		"retry.Tools: MaxWait is -1s; give 0 or more":  &retry.Tools{MaxWait: limit.AtMost(-time.Second)},
		"retry.Tools: Idempotent[0] is empty":          &retry.Tools{Idempotent: []string{""}},
		"retry.Fallback: Models is empty":              &retry.Fallback{},
		"retry.Fallback: Models[0] is empty":           &retry.Fallback{Models: []string{"", "a"}},
		"retry.Fallback: Models[1] is empty":           &retry.Fallback{Models: []string{"a", ""}},
		"retry.Breaker: Failures is 0; give 1 or more": &retry.Breaker{Failures: limit.AtMost(0)},
		"retry.Breaker: Pause is -1s; give 0 or more":  &retry.Breaker{Pause: limit.AtMost(-time.Second)},
		"retry.Breaker: Tools[0] is empty":             &retry.Breaker{Tools: []string{""}},
		"retry.Breaker: Share is 9":                    &retry.Breaker{Share: share.Scope(9)},
	} {
		t.Run(want, func(t *testing.T) {
			fixture.MustPanic(t, want, func() { new(agent.Hooks).Use(hook) })
		})
	}
}

// Check that a Router offers all that a model can offer to a loop.
var _ interface {
	agent.StreamingModel
	agent.ContextWindow
	agent.NamedModel
	agent.TokenCounter
} = retry.Router{}
