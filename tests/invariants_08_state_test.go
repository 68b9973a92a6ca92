package tests

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// A tally is a hook with state: it adds up the IDs of the items of a run.
type tally struct {
	sum hookkit.PerRun[int]
}

func (c *tally) Bind(h *fixture.Hooks) {
	h.Verify.Add(c)
	h.Watch.Add(c)
}

func (c *tally) Verify(_ context.Context, run *fixture.Run, item fixture.Item) error {
	c.sum.Do(run, func(n *int) {
		sum := *n
		runtime.Gosched() // where another would lose the update, if it could
		*n = sum + item.ID
	})
	return nil
}

func (c *tally) Watch(ctx context.Context, run *fixture.Run, item fixture.Item) error {
	return c.Verify(ctx, run, item)
}

func (c *tally) of(run *fixture.Run) (sum int) {
	c.sum.Do(run, func(n *int) { sum = *n })
	return sum
}

// TestInvariant08_State: two instances of one hook never share state; two runs never share state, a run and the
// run that started it included; parallel fires lose no update.
func TestInvariant08_State(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		instances := make([]*tally, rapid.IntRange(1, 3).Draw(t, "instances"))
		hooks := make([]*fixture.Hooks, len(instances))
		for i := range instances {
			instances[i], hooks[i] = new(tally), new(fixture.Hooks)
			hooks[i].Use(instances[i])
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
				at := place{rapid.IntRange(0, len(instances)-1).Draw(t, "instance"), rapid.IntRange(0, len(runs)-1).Draw(t, "run")}
				n, verify := rapid.IntRange(1, 9).Draw(t, "n"), rapid.Bool().Draw(t, "verify")
				want[at] += n
				wg.Go(func() {
					if !verify {
						hooks[at.instance].Watch.Fire(context.Background(), runs[at.run], fixture.Item{ID: n})
					} else if err := hooks[at.instance].Verify.Fire(context.Background(), runs[at.run], fixture.Item{ID: n}); err != nil {
						panic(err)
					}
				})
			}
			wg.Wait()
		}
		for i, instance := range instances {
			for r, run := range runs {
				if got := instance.of(run); got != want[place{i, r}] {
					t.Fatalf("instance %d has %d of run %d, want %d", i, got, r, want[place{i, r}])
				}
			}
		}
	})
}
