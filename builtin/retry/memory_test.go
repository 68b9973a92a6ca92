package retry

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// A handClock is set by hand.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time                           { return c.now }
func (*handClock) Sleep(context.Context, time.Duration) error { return nil }

// A program with many users must not keep a circuit for each of them forever.
func TestUnusedCircuitsAreRemoved(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name    string
		pause   time.Duration // one failure opens the breaker
		probing bool          // a probe of the first circuit is running
		wait    time.Duration // between the failures of two models
		kept    int           // circuits
	}{
		{"at once", time.Second, false, time.Minute, 2},
		{"an hour later", time.Second, false, time.Hour, 2},
		{"more than an hour later", time.Second, false, time.Hour + 1, 1},
		{"during the pause", 3 * time.Hour, false, time.Hour + 1, 2},
		{"during a probe", time.Second, true, time.Hour + 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			clock := &handClock{begin}
			run := agent.NewRun(&agent.Env{Clock: clock})
			b := &Breaker{Failures: 1, Pause: limit.AtMost(c.pause)}
			b.leave(run, circuitKey{name: "first"}, 0, failure)
			clock.now = begin.Add(c.wait)
			if c.probing {
				if _, err := b.enter(run, circuitKey{name: "first"}, ""); err != nil {
					t.Fatal(err)
				}
			}
			b.leave(run, circuitKey{name: "second"}, 0, failure)
			if len(b.circuits.Values) != c.kept {
				t.Errorf("%d circuits are kept, want %d", len(b.circuits.Values), c.kept)
			}
		})
	}
}

// Each new circuit looks for unused ones only once an hour, because there can be many.
func TestCircuitsAreSweptOnceAnHour(t *testing.T) {
	clock := &handClock{time.Unix(1_700_000_000, 0)}
	run, b := agent.NewRun(&agent.Env{Clock: clock}), &Breaker{Failures: 9}
	var kept []int
	for i, wait := range []time.Duration{0, 30 * time.Minute, 31 * time.Minute, 30 * time.Minute, 31 * time.Minute} {
		clock.now = clock.now.Add(wait)
		b.leave(run, circuitKey{name: fmt.Sprint(i)}, 0, failure)
		kept = append(kept, len(b.circuits.Values))
	}
	// The sweeps are at 0, 61 and 122 minutes. The last one removes those of 30 and 61 minutes.
	if got := fmt.Sprint(kept); got != "[1 2 2 3 2]" {
		t.Errorf("the circuits after each failure are %s", got)
	}
}

func TestBudgetsAllowAnotherAttempt(t *testing.T) {
	for _, c := range []struct {
		name  string
		count agent.Counters
		wait  time.Duration
		want  bool
	}{
		{"no limits", agent.Counters{Usage: agent.Usage{Input: 9}, Elapsed: time.Hour}, time.Hour, true},
		{"tokens left", agent.Counters{MaxTokens: 10, Usage: agent.Usage{Input: 9}}, 0, true},
		{"tokens used up", agent.Counters{MaxTokens: 10, Usage: agent.Usage{Input: 10}}, 0, false},
		{"one token", agent.Counters{MaxTokens: 1, Usage: agent.Usage{Input: 1}}, 0, false},
		{"time left", agent.Counters{MaxTime: 3 * time.Second, Elapsed: time.Second}, 2*time.Second - 1, true},
		{"time used up by the wait", agent.Counters{MaxTime: 3 * time.Second, Elapsed: time.Second}, 2 * time.Second, false},
		{"a nanosecond", agent.Counters{MaxTime: 1}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := agent.NewRun(&agent.Env{Counters: func() agent.Counters { return c.count }})
			if got := affords(run, c.wait); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
