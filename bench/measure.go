package main

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A contestant is one way to do what is compared.
type contestant struct {
	name  string
	loop  func(n int) // does it n times
	twice bool        // from two goroutines, each n times
}

// run does what is compared n times, each goroutine below a frame.
func (c contestant) run(n int, below frame) {
	if !c.twice {
		below(c.loop, n)
		return
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { below(c.loop, n) })
	}
	wg.Wait()
}

// A frame calls a loop and has a size of its own. Go keeps the stack to eight bytes, not to sixteen: whether a copy of
// sixteen bytes crosses from one line of the cache into the next depends on what the callers keep on it, and with that
// up to a tenth of what a fire costs, or a loop by hand.
type frame func(loop func(int), n int)

// frames move what is below them by eight bytes against each other.
var frames = []frame{
	func(loop func(int), n int) { var words [1]uint64; keep(words[:]); loop(n); keep(words[:]) },
	func(loop func(int), n int) { var words [2]uint64; keep(words[:]); loop(n); keep(words[:]) },
}

// keep makes the words stay on the stack.
//
//go:noinline
func keep(words []uint64) { words[0]++ }

// measure runs the contestants in turn, many short rounds of each, so that what disturbs the machine disturbs
// all of them. Each round begins with another contestant, with no garbage of the one before, and below another
// frame than the one before.
func (p pace) measure(cs []contestant) []timing {
	begun := time.Now()
	return p.measureBy(cs, func() time.Duration { return time.Since(begun) })
}

// measureBy is measure with another clock than that of the wall.
func (p pace) measureBy(cs []contestant, clock func() time.Duration) []timing {
	ns := make([]int, len(cs))
	ts := make([]timing, len(cs))
	for i, c := range cs {
		ns[i] = p.calibrate(c)
		ts[i] = timing{name: c.name, rounds: make([]float64, p.rounds)}
		n := min(many, ns[i])
		ts[i].allocs = math.Round(testing.AllocsPerRun(1, func() { c.run(n, frames[0]) })/float64(n)*100) / 100
	}
	for round := range p.rounds {
		for k := range cs {
			i := (k + round) % len(cs)
			runtime.GC()
			start := clock()
			cs[i].run(ns[i], frames[round%len(frames)])
			ts[i].rounds[round] = float64(clock()-start) / float64(ns[i])
		}
	}
	return ts
}

// many calls drown what a loop allocates once. What takes longer than a round is counted in fewer.
const many = 1000

// calibrate returns how often the loop must run to fill a round.
func (p pace) calibrate(c contestant) int {
	c.run(1, frames[0])
	for n := 1; ; {
		start := time.Now()
		c.run(n, frames[0])
		took := time.Since(start)
		if took >= p.round/4 {
			return max(1, int(float64(n)*float64(p.round)/float64(took)))
		}
		n *= 4
	}
}
