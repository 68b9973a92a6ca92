package main

import (
	"math"
	"runtime"
	"testing"
	"time"
)

// A contestant is one way to do what is compared.
type contestant struct {
	name string
	loop func(n int) // does it n times
}

// measure runs the contestants in turn, many short rounds of each, so that what disturbs the machine disturbs
// all of them. Each round begins with another contestant, and with no garbage of the one before.
func (p pace) measure(cs []contestant) []timing {
	ns := make([]int, len(cs))
	ts := make([]timing, len(cs))
	for i, c := range cs {
		ns[i] = p.calibrate(c.loop)
		ts[i] = timing{name: c.name, rounds: make([]float64, p.rounds)}
		ts[i].allocs = math.Round(testing.AllocsPerRun(1, func() { c.loop(many) })/many*100) / 100
	}
	for round := range p.rounds {
		for k := range cs {
			i := (k + round) % len(cs)
			runtime.GC()
			start := time.Now()
			cs[i].loop(ns[i])
			ts[i].rounds[round] = float64(time.Since(start)) / float64(ns[i])
		}
	}
	return ts
}

// many calls drown what a loop allocates once.
const many = 1000

// calibrate returns how often the loop must run to fill a round.
func (p pace) calibrate(loop func(int)) int {
	loop(1)
	for n := 1; ; {
		start := time.Now()
		loop(n)
		took := time.Since(start)
		if took >= p.round/4 {
			return max(1, int(float64(n)*float64(p.round)/float64(took)))
		}
		n *= 4
	}
}
