package hooklog

import (
	"context"
	"fmt"
	"iter"

	"github.com/hookgen/hookgen/hookkit"
)

// Replay fires the payloads of recorded events at other hooks and compares the decisions. For example, it shows which
// calls of last week a new guard would have denied:
//
//	file, err := os.Open("run.jsonl")
//	...
//	for c, err := range hooklog.Replay(ctx, hooklog.Read(file), hooks.Points()) {
//		if err == nil && c.Status == hooklog.Changed {
//			fmt.Println(c.Was.Run.ID, c.Was.Point, c.Why)
//		}
//	}
//
// The events are fired one after the other, in the order in which they were recorded. Each recorded run is a new run of
// its own, so the hooks rebuild the state that they keep for it. Runs that took turns in the record take turns in the
// replay, so hooks with state for several runs see the same sequence again. Replay remembers the 4,096 runs that
// were used last.
//
// The hooks must be new ones that nobody else fires, because their state counts, and must not act on the world: nothing
// keeps a hook from sending its mail again. The fires go to the failure handler, the observers and the tracers of the
// hooks as all fires do.
//
// An error of events, such as a [*LineError], is yielded, and the replay continues. If ctx ends, the last error is that
// of ctx.
func Replay(
	ctx context.Context, events iter.Seq2[Event, error], points []hookkit.AnyPoint, opts ...ReplayOption,
) iter.Seq2[Comparison, error] {
	return func(yield func(Comparison, error) bool) {
		c := newComparer(points, opts)
		for e, err := range events {
			if ended := ctx.Err(); ended != nil {
				yield(Comparison{}, ended)
				return
			}
			var result Comparison
			if err == nil {
				result = <-c.start(ctx, e)
			}
			if !yield(result, err) {
				return
			}
		}
	}
}

// start calls compare in a goroutine of its own, because a hook may end the goroutine of its fire. It also recovers
// from a panic of an encoder or of an option.
func (c *comparer) start(ctx context.Context, e Event) <-chan Comparison {
	out := make(chan Comparison, 1)
	go func() {
		result := Comparison{Status: Failed, Was: e, Why: hookkit.ErrGoexit.Error()}
		defer func() {
			if v := recover(); v != nil {
				result = Comparison{Status: NotComparable, Was: e, Why: fmt.Sprintf("a panic: %v", v)}
			}
			out <- result
		}()
		result = c.compare(ctx, e)
	}()
	return out
}
