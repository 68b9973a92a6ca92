package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// An around hook calls next through values of any type, which costs more.
func TestTimeoutCostsFourAllocations(t *testing.T) {
	for name, of := range quietFires {
		if of.allocates > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			h.Use(quiet{}, hookkit.Timeout(time.Hour))
			if got := allocations(t, &h, of.fire); got > 4 {
				t.Errorf("%v allocations a fire, want at most 4", got)
			}
		})
	}
}

// A watchedContext counts registrations in it: derived contexts and functions that wait for its end.
type watchedContext struct {
	context.Context
	done       chan struct{}
	registered int
}

func (c *watchedContext) Done() <-chan struct{} { return c.done }

// AfterFunc registers a function. Package context calls it for each derived context.
func (c *watchedContext) AfterFunc(func()) (stop func() bool) {
	c.registered++
	return func() bool {
		c.registered--
		return true
	}
}

func TestTimeoutLeavesNothingInTheContextOfTheFire(t *testing.T) {
	for name, ask := range map[string]func(context.Context){
		"the hook ignores its context": func(context.Context) {},
		"the hook asks for Done":       func(ctx context.Context) { ctx.Done() },
		"the hook adds a function":     func(ctx context.Context) { context.AfterFunc(ctx, func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			h.Verify.AddFunc(func(ctx context.Context, _ *fixture.Run, _ fixture.Item) error {
				ask(ctx)
				return nil
			}, hookkit.Timeout(time.Hour))
			ctx := &watchedContext{Context: context.Background(), done: make(chan struct{})}
			for range 1000 {
				if err := h.Verify.Fire(ctx, newRun(), fixture.Item{}); err != nil || ctx.registered > 0 {
					t.Fatalf("%v; %d contexts are registered after the fire", err, ctx.registered)
				}
			}
		})
	}
}
