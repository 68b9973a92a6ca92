package main

import (
	"fmt"
	"math"
	"slices"
)

// best is the quickest round: what the code costs where nothing disturbed it.
func (t timing) best() float64 { return slices.Min(t.rounds) }

func (t timing) median() float64 {
	s := slices.Sorted(slices.Values(t.rounds))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// A ratio compares two timings of the same rounds.
type ratio struct {
	value     float64 // of the quickest rounds
	low, high float64 // the same of each quarter of the rounds: how far they agree
}

// over returns t in units of floor.
func (t timing) over(floor timing) ratio {
	r := ratio{value: t.best() / floor.best(), low: math.Inf(1)}
	for k := range 4 {
		mine, its := t.quarter(k), floor.quarter(k)
		if len(mine) > 0 && len(its) > 0 {
			v := slices.Min(mine) / slices.Min(its)
			r.low, r.high = min(r.low, v), max(r.high, v)
		}
	}
	return r
}

// quarter returns a quarter of the rounds.
func (t timing) quarter(k int) []float64 {
	return t.rounds[k*len(t.rounds)/4 : (k+1)*len(t.rounds)/4]
}

// disagreement is how far apart the quarters may be before a ratio says nothing.
const disagreement = 0.10

// agrees reports whether the rounds tell one story.
func (r ratio) agrees() bool { return r.high <= r.low*(1+disagreement) }

// String is the ratio, or, where the rounds disagree, how far they do, with a question mark.
func (r ratio) String() string {
	if !r.agrees() {
		return fmt.Sprintf("%s to %s ?", figure(r.low), figure(r.high))
	}
	return figure(r.value)
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

// A verdict says what a bound and the rounds come to.
type verdict string

// The verdicts.
const (
	holds        verdict = "holds"
	fails        verdict = "FAILS"
	noConclusion verdict = "no conclusion"
)

// under holds the ratio to a bound. Where the quarters of the rounds stand on both sides of it there is no conclusion.
func (r ratio) under(bound float64) verdict {
	switch {
	case r.high <= bound:
		return holds
	case r.low > bound:
		return fails
	}
	return noConclusion
}
