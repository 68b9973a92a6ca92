package main

import (
	"fmt"
	"math"
	"slices"
)

// compared holds the results of a lineup.
type compared struct {
	lineup
	runs []timing
}

func (c compared) ratio() ratio { return c.runs[0].over(c.runs[1]) }

// rewrites reports whether hooks of the law may replace the payload.
func rewrites(law string) bool {
	return slices.Contains([]string{lawFlow, lawLenient, lawReplace, lawGuards, lawGuardFuncs}, law)
}

// fireClaims compares the fires with their bounds.
func fireClaims(cs []compared) []claim {
	var claims []claim
	add := func(c claim, of func(compared) ratio, fits func(compared) bool) {
		for _, x := range cs {
			if fits(x) {
				c.cases = append(c.cases, held{x.law, of(x)})
			}
		}
		if len(c.cases) > 0 {
			claims = append(claims, c)
		}
	}
	empty := func(around bool) func(compared) bool {
		return func(c compared) bool { return c.hooks == 0 && (c.law == lawAround) == around }
	}
	add(claim{what: "Fire, no hook, over a plain call of the same signature", bound: 1.5}, compared.ratio, empty(false))
	add(claim{
		what: "Fire, no hook, over a plain call that recovers", bound: 1.2,
		note: "with no hook too it turns a panic of the act into a failure",
	},
		compared.ratio, empty(true))
	for _, n := range []int{8, 64} {
		flow, other := 1.2, 1.3
		if n == 64 {
			flow, other = 1.1, 1.1
		}
		what := fmt.Sprintf("Fire, %d continuing hooks, over a hand-written loop", n)
		add(claim{what: what + ", laws with Replace", bound: flow}, compared.ratio, func(c compared) bool {
			return c.hooks == n && rewrites(c.law)
		})
		add(claim{what: what + ", laws without", bound: other}, compared.ratio, func(c compared) bool {
			return c.hooks == n && !rewrites(c.law)
		})
	}
	allocs := func(c compared) ratio { return exact(c.runs[0].allocs) }
	for _, around := range []bool{false, true} {
		law, bound, most := "any law but Around", 0.0, 0.0
		if around {
			law, bound = "Around, at any depth", 1
		}
		seen := false
		for _, c := range cs {
			if (c.law == lawAround) == around {
				seen, most = true, max(most, allocs(c).value)
			}
		}
		if seen {
			claims = append(claims, one("allocations of a fire whose hooks continue, "+law, exact(most), bound))
		}
	}
	return claims
}

// twiceClaims compares fires on two goroutines with fires on one.
func twiceClaims(cs []compared) []claim {
	const bound = 1.1
	free := claim{
		what: "Fire from two goroutines over one, each fire, 8 continuing hooks, laws that allocate nothing", bound: bound,
	}
	around := claim{
		what: "Fire from two goroutines over one, each fire, 8 continuing hooks, which allocates once", bound: bound,
		note: "the collector runs at the same time",
	}
	for _, x := range cs {
		h := held{x.law, x.apart(bound)}
		if x.law == lawAround {
			around.cases = append(around.cases, h)
			continue
		}
		free.cases = append(free.cases, h)
	}
	return slices.DeleteFunc([]claim{free, around}, func(c claim) bool { return len(c.cases) == 0 })
}

// idle compares the control on two goroutines with the control on one.
func (c compared) idle() ratio { return c.runs[2].over(c.runs[3]) }

// apart returns the ratio of those parts of the rounds in which the control met the bound. In the other parts the
// machine did not provide two processors.
func (c compared) apart(bound float64) ratio {
	two, one, control, alone := c.runs[0], c.runs[1], c.runs[2], c.runs[3]
	r := ratio{value: two.over(one).value, low: math.Inf(1)}
	for k := range parts {
		v := slices.Min(two.part(k)) / slices.Min(one.part(k))
		if v > bound && slices.Min(control.part(k))/slices.Min(alone.part(k)) > bound {
			continue
		}
		r.low, r.high = min(r.low, v), max(r.high, v)
	}
	if math.IsInf(r.low, 1) {
		return ratio{r.value, 0, math.Inf(1)}
	}
	return r
}

// peerBounds are the bounds against peers, with eight hooks.
var peerBounds = []struct {
	name  string
	bound float64
	words string
}{
	{namePocketBase, 1.0 / 18, "1/18"},
	{nameEino, 1.0 / 12, "1/12"},
	{nameMCP, 2, ""},
}

// peerClaims compares hookgen, the first run, with the peers that follow.
func peerClaims(runs []timing) []claim {
	var claims []claim
	for _, of := range peerBounds {
		for _, t := range runs[1:] {
			if t.name == of.name {
				c := one("Fire, 8 continuing hooks, over "+t.name, runs[0].over(t), of.bound)
				c.words = of.words
				claims = append(claims, c)
			}
		}
	}
	return claims
}
