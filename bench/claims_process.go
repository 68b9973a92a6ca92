package main

import (
	"fmt"
	"slices"
	"time"
)

// raceClaims hold hookgen to its bounds as a process.
func raceClaims(races []race) []claim {
	find := func(n int, name string) (timing, bool) {
		for _, r := range races {
			for _, t := range r.runs {
				if r.n == n && t.name == name {
					return t, true
				}
			}
		}
		return timing{}, false
	}
	var claims []claim
	add := func(what string, n int, name string, over int, other string, bound float64) {
		t, ok := find(n, name)
		o, also := find(over, other)
		if ok && also {
			claims = append(claims, atMost(what, t.over(o), bound))
		}
	}
	add("hookgen on 6 points, whole process, over stringer on one type", 6, "hookgen", 1, "stringer", 1.0/3)
	add("hookgen on 300 points over mockgen -source on 300 interfaces", 300, "hookgen", 300, "mockgen -source", 1.0/2)
	add("hookgen on 1000 points over 100 points", 1000, "hookgen", 100, "hookgen", 11)
	return claims
}

// builtClaims hold generated packages to their bounds.
func builtClaims(bs []built) []claim {
	var claims []claim
	for _, b := range bs {
		if seconds := map[int]float64{30: 5, 300: 40}[b.n]; seconds > 0 {
			claims = append(claims, exactly(fmt.Sprintf("go build of a generated package of %d flow points, dependencies cached, processor time", b.n),
				b.quickest().Seconds(), seconds, " s"))
		}
	}
	if n := len(bs); n > 0 {
		last := bs[n-1]
		claims = append(claims, exactly("generated source per flow point, comments included", float64(last.bytes)/float64(last.n)/1024, 5, " KiB"))
	}
	return claims
}

func (b built) quickest() time.Duration { return slices.Min(b.compile) }
