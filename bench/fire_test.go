package main

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/hookgen/hookgen/bench/points"
)

func TestThePayloadHas64Bytes(t *testing.T) {
	if n := unsafe.Sizeof(points.Call{}); n != 64 {
		t.Errorf("a call has %d bytes", n)
	}
}

// Every measured loop runs once. A loop panics if a fire has an unexpected result.
func TestEverythingThatIsMeasuredRuns(t *testing.T) {
	for _, n := range hookCounts {
		for _, l := range lineups(n) {
			for _, c := range l.runs {
				c.loop(3)
			}
			twice(l.runs[0]).run(3, frames[0])
		}
		for _, p := range peers() {
			p.quiet(n)(3)
			if p.busy != nil {
				p.busy(n)(3)
			}
		}
	}
	for _, b := range runtimeBounds() {
		for _, d := range b.cases {
			for _, c := range d.runs {
				c.loop(1)
			}
		}
	}
	for _, c := range costs() {
		for _, run := range c.runs {
			run.loop(3)
		}
	}
	for _, steps := range loopSteps {
		for _, c := range loopContestants(steps) {
			c.loop(1)
		}
	}
	for _, f := range recordedFires() {
		contestants, closeAll, err := f.contestants(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range contestants {
			c.loop(2)
		}
		if err := closeAll(); err != nil {
			t.Error(err)
		}
	}
}

func TestFramesMoveTheStackByEightBytes(t *testing.T) {
	var at [2]uintptr
	for i, below := range frames {
		below(func(int) {
			var here uint64
			at[i] = uintptr(unsafe.Pointer(&here)) % 16
		}, 0)
	}
	if at[0]^at[1] != 8 {
		t.Errorf("a variable is %d and %d bytes from a multiple of sixteen", at[0], at[1])
	}
}

func TestTheControlOfAroundAllocatesAsMuch(t *testing.T) {
	bytes := func(c contestant) uint64 {
		const n = 10_000
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.run(n, frames[0])
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / n
	}
	for _, l := range lineups(8) {
		if l.law == lawAround {
			if of, control := bytes(l.runs[0]), bytes(allocating); of != control || of == 0 {
				t.Errorf("a fire allocates %d bytes and the control %d", of, control)
			}
		}
	}
}

func TestBusyHooksDoTheSameByHand(t *testing.T) {
	_, b := newStage(3)
	ours, theirs := call, call
	if _, err := b.hooks.Flow.Fire(b.ctx, b.run, &ours); err != nil {
		t.Fatal(err)
	}
	if _, err := b.hand.fireFlow(b.ctx, b.run, &theirs); err != nil {
		t.Fatal(err)
	}
	if ours.Step != call.Step+3 || theirs.Step != ours.Step {
		t.Errorf("%d and %d steps", ours.Step, theirs.Step)
	}
	if got, want := len(b.hooks.Gather.Fire(b.ctx, b.run, call)), len(b.hand.fireGather(b.ctx, b.run, call)); got != 3 ||
		want != 3 {
		t.Errorf("%d and %d contributions", got, want)
	}
}
