package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
)

// draw returns n of the mutants, in their order. The draw of a mutant depends on the seed and its key alone.
func draw(all []mutant, n int, seed uint64) []mutant {
	drawn := slices.SortedFunc(slices.Values(all), func(a, b mutant) int {
		return cmp.Compare(lot(a, seed), lot(b, seed))
	})[:min(n, len(all))]
	slices.SortFunc(drawn, func(a, b mutant) int { return cmp.Compare(a.ID, b.ID) })
	return drawn
}

// lot is the number by which a mutant is drawn.
func lot(m mutant, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, " ", m.Key())
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd // FNV alone leaves the high bits of similar texts alike
	return x ^ x>>33
}

// interval returns the bounds, in percent, that the score of all mutants has with 95 % confidence if x of n drawn ones
// were found (Wilson's interval).
func interval(x, n int) (low, high float64) {
	const z = 1.96
	p, of := float64(x)/float64(max(n, 1)), float64(max(n, 1))
	middle := (p + z*z/(2*of)) / (1 + z*z/of)
	half := z / (1 + z*z/of) * math.Sqrt(p*(1-p)/of+z*z/(4*of*of))
	return 100 * max(middle-half, 0), 100 * min(middle+half, 1)
}
