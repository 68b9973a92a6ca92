package tests

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/hookgen/hookgen/tests/fixture"
)

// BenchmarkFire measures a fire in which all hooks continue beside what one would write by hand: a loop over a
// slice of the interface, without order, recovery, policy or observers; with no hook at all, a call of a function
// of the same signature. Both run in turn, in many short rounds of which the quickest counts, so that what
// else the machine does falls on neither. The ratio is what is to be compared from machine to machine.
func BenchmarkFire(b *testing.B) {
	if size := unsafe.Sizeof(fixture.Item{}); size != 64 {
		b.Fatalf("the payload has %d bytes", size)
	}
	for _, law := range []struct {
		name string
		pair func(n int) (fire, hand func(int))
	}{
		{"flow", flowPair}, {"exits", exitsPair}, {"observe", observePair}, {"vote", votePair},
	} {
		for _, n := range []int{0, 1, 8, 64} {
			b.Run(fmt.Sprintf("%s/%d", law.name, n), func(b *testing.B) {
				fire, hand := law.pair(n)
				compare(b, fire, hand)
			})
		}
	}
}

// compare runs both in turn and reports the ratio of their quickest rounds.
func compare(b *testing.B, fire, hand func(times int)) {
	const rounds = 256
	times := max(b.N/rounds/2, 1)
	measure := func(f func(int)) float64 {
		start := time.Now()
		f(times)
		return float64(time.Since(start)) / float64(times)
	}
	fire(1)
	hand(1)
	ours, theirs := measure(fire), measure(hand)
	for range rounds - 1 {
		theirs = min(theirs, measure(hand))
		ours = min(ours, measure(fire))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ours, "fire-ns")
	b.ReportMetric(theirs, "hand-ns")
	b.ReportMetric(ours/theirs, "ratio")
}

// What the benchmarks fire with.
var (
	benchCtx  = context.Background()
	benchRun  = newRun()
	benchItem = fixture.Item{ID: 7, Note: "note", Trail: []string{"x"}, Tool: "search"}
)

// A bench is a hook that continues.
type bench struct{ seen int }

func (h *bench) RewriteLeaveClosed(_ context.Context, _ *fixture.Run, item fixture.Item) (fixture.RewriteLeaveClosedOutcome, error) {
	h.seen += item.ID
	return nil, nil
}

func (h *bench) LeaveClosed(_ context.Context, _ *fixture.Run, item fixture.Item) (fixture.LeaveClosedOutcome, error) {
	h.seen += item.ID
	return nil, nil
}

func (h *bench) Watch(_ context.Context, _ *fixture.Run, item fixture.Item) error {
	h.seen += item.ID
	return nil
}

func (h *bench) PollClosed(_ context.Context, _ *fixture.Run, item fixture.Item) (fixture.PollClosedOutcome, error) {
	h.seen += item.ID
	return nil, nil
}

// repeat makes a function of a call that is made so many times.
func repeat(call func()) func(int) {
	return func(times int) {
		for range times {
			call()
		}
	}
}

// A handReplacement is what a replacement might be by hand.
type handReplacement struct {
	fixture.RewriteLeaveClosedOutcome
	to fixture.Item
}

//go:noinline
func handFlow(ctx context.Context, run *fixture.Run, hooks []fixture.RewriteLeaveClosed[fixture.Item], item *fixture.Item) (fixture.RewriteLeaveClosedExit, error) {
	for _, h := range hooks {
		out, err := h.RewriteLeaveClosed(ctx, run, *item)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case nil:
		case handReplacement:
			*item = o.to
		case fixture.Stop:
			return o, nil
		case fixture.Skip:
			return o, nil
		}
	}
	return nil, nil
}

//go:noinline
func plainFlow(context.Context, *fixture.Run, *fixture.Item) (fixture.RewriteLeaveClosedExit, error) {
	return nil, nil
}

func flowPair(n int) (fire, hand func(int)) {
	var h fixture.Hooks
	var hooks []fixture.RewriteLeaveClosed[fixture.Item]
	for range n {
		h.RewriteLeaveClosed.Add(new(bench))
		hooks = append(hooks, new(bench))
	}
	item := benchItem
	fire = repeat(func() { _, _ = h.RewriteLeaveClosed.Fire(benchCtx, benchRun, &item) })
	if n == 0 {
		return fire, repeat(func() { _, _ = plainFlow(benchCtx, benchRun, &item) })
	}
	return fire, repeat(func() { _, _ = handFlow(benchCtx, benchRun, hooks, &item) })
}

//go:noinline
func handExits(ctx context.Context, run *fixture.Run, hooks []fixture.LeaveClosed[fixture.Item], item fixture.Item) (fixture.LeaveClosedExit, error) {
	for _, h := range hooks {
		out, err := h.LeaveClosed(ctx, run, item)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case nil:
		case fixture.Stop:
			return o, nil
		case fixture.Skip:
			return o, nil
		}
	}
	return nil, nil
}

//go:noinline
func plainExits(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedExit, error) {
	return nil, nil
}

func exitsPair(n int) (fire, hand func(int)) {
	var h fixture.Hooks
	var hooks []fixture.LeaveClosed[fixture.Item]
	for range n {
		h.LeaveClosed.Add(new(bench))
		hooks = append(hooks, new(bench))
	}
	fire = repeat(func() { _, _ = h.LeaveClosed.Fire(benchCtx, benchRun, benchItem) })
	if n == 0 {
		return fire, repeat(func() { _, _ = plainExits(benchCtx, benchRun, benchItem) })
	}
	return fire, repeat(func() { _, _ = handExits(benchCtx, benchRun, hooks, benchItem) })
}

//go:noinline
func handObserve(ctx context.Context, run *fixture.Run, hooks []fixture.Watch[fixture.Item], item fixture.Item) (failed int) {
	for _, h := range hooks {
		if h.Watch(ctx, run, item) != nil {
			failed++
		}
	}
	return failed
}

//go:noinline
func plainObserve(context.Context, *fixture.Run, fixture.Item) {}

func observePair(n int) (fire, hand func(int)) {
	var h fixture.Hooks
	var hooks []fixture.Watch[fixture.Item]
	for range n {
		h.Watch.Add(new(bench))
		hooks = append(hooks, new(bench))
	}
	fire = repeat(func() { h.Watch.Fire(benchCtx, benchRun, benchItem) })
	if n == 0 {
		return fire, repeat(func() { plainObserve(benchCtx, benchRun, benchItem) })
	}
	return fire, repeat(func() { _ = handObserve(benchCtx, benchRun, hooks, benchItem) })
}

//go:noinline
func handVote(ctx context.Context, run *fixture.Run, hooks []fixture.PollClosed[fixture.Item], item fixture.Item) (best fixture.PollClosedExit, err error) {
	rank := 0
	for _, h := range hooks {
		out, err := h.PollClosed(ctx, run, item)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case nil:
		case fixture.Deny:
			if rank < 3 {
				best, rank = o, 3
			}
		case fixture.Ask:
			if rank < 2 {
				best, rank = o, 2
			}
		case fixture.Allow:
			if rank < 1 {
				best, rank = o, 1
			}
		}
	}
	return best, nil
}

//go:noinline
func plainVote(context.Context, *fixture.Run, fixture.Item) (fixture.PollClosedExit, error) {
	return nil, nil
}

func votePair(n int) (fire, hand func(int)) {
	var h fixture.Hooks
	var hooks []fixture.PollClosed[fixture.Item]
	for range n {
		h.PollClosed.Add(new(bench))
		hooks = append(hooks, new(bench))
	}
	fire = repeat(func() { _, _ = h.PollClosed.Fire(benchCtx, benchRun, benchItem) })
	if n == 0 {
		return fire, repeat(func() { _, _ = plainVote(benchCtx, benchRun, benchItem) })
	}
	return fire, repeat(func() { _, _ = handVote(benchCtx, benchRun, hooks, benchItem) })
}
