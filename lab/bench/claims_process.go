package main

import "fmt"

// find returns the timing of a generator on n types. All timings of one race are comparable, because they were
// measured in turn.
func (r race) find(name string, n int) (timing, bool) {
	for _, e := range r.entries {
		if e.name == name && e.n == n {
			return e.wall, true
		}
	}
	return timing{}, false
}

// raceClaims compares the process times of hookgen with their bounds.
func raceClaims(races []race) []claim {
	var claims []claim
	add := func(what string, n int, other string, of int, bound float64) {
		for _, r := range races {
			mine, ok := r.find(nameHookgen, n)
			its, also := r.find(other, of)
			if ok && also {
				claims = append(claims, one(what, mine.over(its), bound))
				return
			}
		}
	}
	add("hookgen on 6 points, whole process, over stringer on one type", 6, nameStringer, 1, 1)
	add("hookgen on 300 points over mockgen -source on 300 interfaces", 300, nameMockgen, 300, 2)
	add("hookgen on 1000 points over 100 points", 1000, nameHookgen, 100, 11)
	return claims
}

// builtClaims compares generated packages with their bounds.
func builtClaims(bs []built) []claim {
	var claims []claim
	for _, b := range bs {
		what := fmt.Sprintf("go build of a generated package of %d flow points, dependencies cached, processor time", b.n)
		build := one(what, spread(b.compile), map[int]float64{30: 5, 300: 40}[b.n])
		build.unit = " s"
		claims = append(claims, build)
		if b.n != 300 {
			continue
		}
		source := one("generated source per flow point, with comments", exact(b.each(b.bytes)/1000), 6.5)
		source.unit, source.note = " KB", "of 1000 bytes"
		lines := one("generated lines per flow point, with comments", exact(b.each(b.lines)), 190)
		binary := one("what a flow point adds to a binary", exact(b.inBinary(b.binary)), 30)
		binary.unit, binary.note = " KB", "with debug information"
		claims = append(claims, source, lines, binary)
	}
	return claims
}
