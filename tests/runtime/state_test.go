package runtime_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// A tally is a hook with state: it counts the fires of a run.
type tally struct {
	fires hookkit.PerRun[int]
}

func (c *tally) hook(call points.Call) points.Reply {
	c.fires.Do(call.Run, func(n *int) {
		before := *n
		runtime.Gosched() // without a lock, another goroutine would lose the update here
		*n = before + 1
	})
	return points.Continue(call)
}

// TestState: two instances of one hook never share state, and neither do two runs, including a run and its
// sub-run. Parallel fires lose no update.
func TestState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instances := make([]*tally, rapid.IntRange(1, 3).Draw(t, "instances"))
		hooks := make([]*fixture.Hooks, len(instances))
		at := rapid.SliceOfN(rapid.SampledFrom(points.All), 1, 2).Draw(t, "points")
		for i := range instances {
			instances[i], hooks[i] = new(tally), new(fixture.Hooks)
			hooks[i].Use(points.Bundle(func(h *fixture.Hooks) {
				for _, p := range at {
					p.Add(h, instances[i].hook)
				}
			}))
		}
		type place struct{ instance, run int }
		want := map[place]int{}
		var runs []*fixture.Run
		for range rapid.IntRange(1, 3).Draw(t, "generations") {
			for range rapid.IntRange(1, 3).Draw(t, "runs") {
				if parent := rapid.IntRange(-1, len(runs)-1).Draw(t, "parent"); parent >= 0 {
					runs = append(runs, runs[parent].Child(runs[parent].Env))
				} else {
					runs = append(runs, newRun())
				}
			}
			var wg sync.WaitGroup
			for range rapid.IntRange(0, 20).Draw(t, "fires") {
				p := rapid.SampledFrom(at).Draw(t, "point")
				of := place{rapid.IntRange(0, len(instances)-1).Draw(t, "instance"), rapid.IntRange(0, len(runs)-1).Draw(t, "run")}
				for _, other := range at {
					want[of] += count(other == p) // a hook may occur twice
				}
				wg.Go(func() {
					if result := p.Fire(context.Background(), hooks[of.instance], runs[of.run], fixture.Item{},
						points.Yields); result.Err != nil {
						panic(result.Err)
					}
				})
			}
			wg.Wait()
		}
		for i, instance := range instances {
			for r, run := range runs {
				if got := instance.fires.Load(run); got != want[place{i, r}] {
					t.Fatalf("instance %d has counted %d fires of run %d, want %d", i, got, r, want[place{i, r}])
				}
			}
		}
	})
}
