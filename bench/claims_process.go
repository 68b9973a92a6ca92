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
	add := func(what string, n int, other string, of int, bound float64, words, note string) {
		for _, r := range races {
			mine, ok := r.find(nameHookgen, n)
			its, also := r.find(other, of)
			if ok && also {
				c := one(what, mine.over(its), bound)
				c.words, c.note = words, note
				claims = append(claims, c)
				return
			}
		}
	}
	add("hookgen on 6 points, whole process, over stringer on one type", 6, nameStringer, 1, 1.0/2, "1/2", "")
	add("hookgen on 300 points over mockgen -source on 300 interfaces", 300, nameMockgen, 300, 1.0/2, "1/2",
		"hookgen writes eight times as much source")
	add("hookgen on 1000 points over 100 points", 1000, nameHookgen, 100, 11, "", "")
	return claims
}

// builtClaims compares generated packages with their bounds.
func builtClaims(bs []built) []claim {
	var builds []claim
	sizes := claim{what: "generated source per flow point, without comments", bound: 5, unit: " KB", note: "of 1000 bytes"}
	for _, n := range []int{30, 300} {
		build := claim{what: fmt.Sprintf("go build of a generated package of %d flow points, dependencies cached, "+
			"processor time", n),
			bound: map[int]float64{30: 5, 300: 40}[n], unit: " s"}
		for _, b := range bs {
			if b.n != n || b.maker != nameHookgen {
				continue
			}
			build.cases = append(build.cases, held{b.points(), spread(b.compile)})
			if n == 300 {
				sizes.cases = append(sizes.cases, held{b.points(), exact(b.each(b.code) / 1000)})
			}
		}
		if len(build.cases) > 0 {
			builds = append(builds, build)
		}
	}
	if len(sizes.cases) > 0 {
		builds = append(builds, sizes)
	}
	return builds
}
