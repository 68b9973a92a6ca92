package loop

import (
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestUsageCountsTowardsOuterRuns(t *testing.T) {
	two := agent.Usage{Input: 2, Output: 1, Cost: 0.5}
	for _, c := range []struct {
		name         string
		count        func(outer, middle, inner *counters)
		calls        [3]int // of outer, middle and inner
		inputPerCall [3]int
	}{
		{"Nothing", func(_, _, _ *counters) {}, [3]int{}, [3]int{}},
		{"Innermost", func(_, _, inner *counters) { inner.model("m", two) }, [3]int{1, 1, 1}, [3]int{2, 2, 2}},
		{"Middle", func(_, middle, _ *counters) { middle.model("m", two) }, [3]int{1, 1, 0}, [3]int{2, 2, 0}},
		{"Outermost", func(outer, _, _ *counters) { outer.model("m", two) }, [3]int{1, 0, 0}, [3]int{2, 0, 0}},
		{"WithoutModelCall", func(_, _, inner *counters) { inner.addUsage("m", two) }, [3]int{}, [3]int{2, 2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			outer := new(counters)
			middle := &counters{outer: outer}
			inner := &counters{outer: middle}
			c.count(outer, middle, inner)
			for i, run := range []*counters{outer, middle, inner} {
				usage, calls := run.used()
				if calls != c.calls[i] || usage.Input != c.inputPerCall[i] {
					t.Errorf("run %d used %+v in %d model calls", i, usage, calls)
				}
			}
		})
	}
}

func TestCountersLoseNothingInParallel(t *testing.T) {
	const goroutines, each = 8, 500
	outer := new(counters)
	var all sync.WaitGroup
	for range goroutines {
		inner := &counters{outer: outer}
		all.Go(func() {
			for range each {
				inner.model("m", agent.Usage{Input: 1})
				outer.add(&outer.toolCalls, 1)
			}
		})
	}
	all.Wait()
	usage, calls := outer.used()
	if want := goroutines * each; calls != want || usage.Input != want || outer.get(&outer.toolCalls) != want {
		t.Errorf("counted %d model calls, %d tokens and %d tool calls, want %d each",
			calls, usage.Input, outer.get(&outer.toolCalls), want)
	}
}

func TestRandomNumbersDependOnTheSeed(t *testing.T) {
	numbers := func(seed uint64) (got [4]uint64) {
		s := newSource(seed)
		for i := range got {
			got[i] = s.Uint64()
		}
		return got
	}
	if first, second := numbers(1), numbers(1); first != second {
		t.Errorf("one seed gave %v and %v", first, second)
	}
	if numbers(1) == numbers(2) {
		t.Error("two seeds gave one sequence")
	}
}
