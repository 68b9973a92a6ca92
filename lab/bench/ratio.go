package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/hookgen/hookgen/lab/figures"
)

// A timing holds the rounds of a contestant.
type timing struct {
	name   string
	rounds []float64 // nanoseconds per operation, one per round
	allocs float64   // per operation
}

// best returns the fastest round: the cost of the code without disturbance.
func (t timing) best() float64 { return slices.Min(t.rounds) }

func (t timing) median() float64 {
	s := slices.Sorted(slices.Values(t.rounds))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// A ratio compares two timings of the same rounds. The value is always between low and high.
type ratio struct {
	value     float64 // of the fastest rounds
	low, high float64 // smallest and largest value of a quarter of the rounds
}

// parts is the number of consecutive parts of the rounds, which are compared to see whether they agree.
const parts = 4

// over returns t in units of floor. The two must have been measured in turn. With fewer rounds than parts the
// result is unknown, because there is nothing to compare.
func (t timing) over(floor timing) ratio {
	return compare(min(len(t.rounds), len(floor.rounds)), func(best func(timing) float64) float64 {
		return best(t) / best(floor)
	})
}

// compare evaluates of with the fastest rounds: of all rounds, and of each part.
func compare(rounds int, of func(best func(timing) float64) float64) ratio {
	r := exact(of(timing.best))
	if rounds < parts {
		return ratio{r.value, 0, math.Inf(1)}
	}
	for k := range parts {
		v := of(func(t timing) float64 { return slices.Min(t.part(k)) })
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
	return r
}

// part returns a part of the rounds.
func (t timing) part(k int) []float64 {
	return t.rounds[k*len(t.rounds)/parts : (k+1)*len(t.rounds)/parts]
}

// exact returns a figure without noise.
func exact(v float64) ratio { return ratio{v, v, v} }

// spread returns the minimum of repeated measurements. It is certain only if all of them agree.
func spread(vs []float64) ratio {
	low := slices.Min(vs)
	return ratio{low, low, slices.Max(vs)}
}

// disagreement is the largest relative difference of the quarters for a usable ratio.
const disagreement = 0.10

// agrees reports whether the parts of the rounds agree.
func (r ratio) agrees() bool { return r.high <= r.low*(1+disagreement) }

// String returns the ratio, or its range with a question mark if the rounds disagree.
func (r ratio) String() string {
	switch {
	case math.IsInf(r.high, 1):
		return figure(r.value) + " ?"
	case !r.agrees():
		return fmt.Sprintf("%s to %s ?", figure(r.low), figure(r.high))
	}
	return figure(r.value)
}

// under compares the ratio with a bound. If the parts of the rounds are on both sides of it, the verdict is open.
func (r ratio) under(bound float64) figures.Verdict {
	switch {
	case r.high <= bound:
		return figures.Yes
	case r.low > bound:
		return figures.No
	}
	return figures.Open
}

// figure prints three digits.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a < 0.01:
		return fmt.Sprintf("%.4f", v)
	case a < 0.1:
		return fmt.Sprintf("%.3f", v)
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
