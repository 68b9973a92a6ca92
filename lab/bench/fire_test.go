package main

import (
	"testing"
	"unsafe"

	"github.com/hookgen/hookgen/lab/bench/points"
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
		}
	}
	for _, b := range runtimeBounds() {
		for _, d := range b.cases {
			for _, c := range d.runs {
				c.loop(1)
			}
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
