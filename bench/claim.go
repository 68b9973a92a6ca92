package main

import "fmt"

// A claim is a bound and what the run says of it.
type claim struct {
	What    string  `json:"what"`
	Bound   string  `json:"bound"`
	Figure  string  `json:"figure"`
	Verdict verdict `json:"verdict"`
}

// atMost holds a ratio to a bound.
func atMost(what string, r ratio, bound float64) claim {
	return claim{what, "≤ " + figure(bound), r.String(), r.under(bound)}
}

// exactly holds a number that noise cannot move to a bound.
func exactly(what string, value, bound float64, unit string) claim {
	v := fails
	if value <= bound {
		v = holds
	}
	return claim{what, "≤ " + figure(bound) + unit, figure(value) + unit, v}
}

// compared is what came of a lineup.
type compared struct {
	lineup
	runs []timing
}

func (c compared) ratio() ratio { return c.runs[0].over(c.runs[1]) }

// fireBounds are the bounds of a fire whose hooks continue, by law and number of hooks.
func fireBounds(law string, hooks int) float64 {
	switch {
	case hooks == 0:
		return 1.5
	case hooks == 8 && law == "flow":
		return 1.2
	case hooks == 8:
		return 1.3
	case hooks == 64:
		return 1.1
	}
	return 0
}

// fireClaims hold the fires to their bounds.
func fireClaims(cs []compared) []claim {
	var claims []claim
	worst, around := 0.0, 0.0
	for _, c := range cs {
		if c.busy {
			continue
		}
		if bound := fireBounds(c.law, c.hooks); bound > 0 {
			what := fmt.Sprintf("%s, %d hooks, over a hand-written loop", c.law, c.hooks)
			if c.hooks == 0 {
				what = c.law + ", no hook, over a plain call of the same signature"
			}
			claims = append(claims, atMost(what, c.ratio(), bound))
		}
		if c.law == "around" {
			around = max(around, c.runs[0].allocs)
		} else {
			worst = max(worst, c.runs[0].allocs)
		}
	}
	for _, c := range cs {
		if c.law == "around" && c.hooks == 0 {
			claims = append(claims, atMost("around, no hook, over a plain call that recovers: the floor of what turns a panic of the act into a failure",
				c.runs[0].over(c.runs[2]), 1.2))
		}
	}
	return append(claims,
		exactly("allocations of a fire, all hooks continue, any law but around", worst, 0, ""),
		exactly("allocations of a fire of around hooks, at any depth", around, 1, ""))
}

// peerBounds are the bounds against peers, at eight hooks.
var peerBounds = map[string]float64{
	"PocketBase v0.36.0, tools/hook": 1.0 / 18,
	"eino v0.7.36, callbacks":        1.0 / 12,
	"mcp-go v1.2.1, generated hooks": 2,
}

// peerClaims hold hookgen, the first of the runs, to its bounds against the peers behind it.
func peerClaims(hooks int, runs []timing) []claim {
	var claims []claim
	for _, t := range runs[1:] {
		if bound := peerBounds[t.name]; bound > 0 && hooks == 8 {
			claims = append(claims, atMost("flow, 8 hooks, over "+t.name, runs[0].over(t), bound))
		}
	}
	return claims
}

// twiceClaims hold fires from two goroutines to those from one; each pair of runs is one law.
func twiceClaims(hooks int, pairs []compared) []claim {
	var claims []claim
	for _, c := range pairs {
		claims = append(claims, atMost(fmt.Sprintf("%s, %d hooks, two goroutines over one, each fire", c.law, hooks), c.ratio(), 1.1))
	}
	return claims
}
