package main

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"
)

// A contestant is one implementation in a comparison.
type contestant struct {
	name  string
	loop  func(n int) // runs the operation n times
	twice bool        // on two goroutines, n times each
}

// run runs the operation n times, each goroutine inside a frame.
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

// A frame calls a loop with a certain stack offset. Go aligns the stack to eight bytes. A copy of sixteen bytes
// may therefore cross a cache line, depending on the callers, which changes a fire by up to ten percent.
type frame func(loop func(int), n int)

// frames shift the stack by eight bytes relative to each other.
var frames = []frame{
	func(loop func(int), n int) { var words [1]uint64; keep(words[:]); loop(n); keep(words[:]) },
	func(loop func(int), n int) { var words [2]uint64; keep(words[:]); loop(n); keep(words[:]) },
}

// keep makes the words stay on the stack.
//
//go:noinline
func keep(words []uint64) { words[0]++ }

// measure runs the contestants in turn, many short rounds of each, so that a disturbance affects all of them. Each
// round starts with another contestant, without garbage of the previous one, and in another frame.
func (p pace) measure(cs []contestant) []timing {
	begun := time.Now()
	return p.measureBy(cs, func() time.Duration { return time.Since(begun) })
}

// measureBy is like measure with another clock than the wall clock.
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

// many calls make one-time allocations negligible. Slow operations run fewer times.
const many = 1000

// calibrate returns the number of iterations that fill a round.
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
