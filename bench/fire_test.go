package main

import (
	"testing"
	"unsafe"

	"github.com/hookgen/hookgen/bench/points"
)

func TestThePayloadHas64Bytes(t *testing.T) {
	if n := unsafe.Sizeof(points.Call{}); n != 64 {
		t.Errorf("a call has %d bytes", n)
	}
}

// Every loop that is measured runs, and panics if a fire went another way than it should.
func TestEverythingThatIsMeasuredRuns(t *testing.T) {
	for _, n := range hookCounts {
		for _, l := range lineups(n) {
			for _, c := range l.runs {
				c.loop(3)
			}
			twice(l.runs[0]).loop(3)
		}
		for _, p := range peers() {
			p.quiet(n)(3)
			if p.busy != nil {
				p.busy(n)(3)
			}
		}
	}
	for _, c := range costs() {
		for _, run := range c.runs {
			run.loop(3)
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
	if got, want := len(b.hooks.Gather.Fire(b.ctx, b.run, call)), len(b.hand.fireGather(b.ctx, b.run, call)); got != 3 || want != 3 {
		t.Errorf("%d and %d contributions", got, want)
	}
}
