package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
)

// draw returns n of the mutants, in their order. Every file has its share, rounded, and the draw of a mutant depends on
// the seed, its key and the share of its file alone.
func draw(all []mutant, n int, seed uint64) []mutant {
	if n >= len(all) {
		return all
	}
	var files []string
	byFile := map[string][]mutant{}
	for _, m := range all {
		if byFile[m.File] == nil {
			files = append(files, m.File)
		}
		byFile[m.File] = append(byFile[m.File], m)
	}
	// Each file gets the whole part of its share, and the files with the largest remainders get one mutant more.
	share := func(file string) (whole, rest int) {
		exact := n * len(byFile[file])
		return exact / len(all), exact % len(all)
	}
	left := n
	for _, file := range files {
		whole, _ := share(file)
		left -= whole
	}
	slices.SortStableFunc(files, func(a, b string) int {
		_, restA := share(a)
		_, restB := share(b)
		return cmp.Compare(restB, restA)
	})
	var drawn []mutant
	for i, file := range files {
		whole, _ := share(file)
		if i < left {
			whole++
		}
		of := byFile[file]
		slices.SortFunc(of, func(a, b mutant) int { return cmp.Compare(lot(a, seed), lot(b, seed)) })
		drawn = append(drawn, of[:whole]...)
	}
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
