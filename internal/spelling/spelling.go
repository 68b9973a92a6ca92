// Package spelling finds the name that a misspelled name was meant to be. Messages use it for "did you mean".
package spelling

import "strings"

// Limits for suggestions, so that a huge input costs nothing: the bytes of a name, and the number of candidates.
const (
	maxLength     = 64
	maxCandidates = 1000
)

// Suggest returns the candidate that name is most likely a misspelling of, or "" if no candidate is similar. Similar
// means equal except for case, or at most one edit for every three letters. Among equally similar candidates the first
// wins.
func Suggest(name string, candidates []string) string {
	if len(name) > maxLength {
		return ""
	}
	lower := strings.ToLower(name)
	best, least := "", -1
	for _, c := range candidates[:min(len(candidates), maxCandidates)] {
		most := max(len(name), len(c)) / 3 // edits
		if c == name || len(c) > maxLength || len(c)-len(name) > most || len(name)-len(c) > most {
			continue
		}
		d := Distance(lower, strings.ToLower(c))
		if d > most {
			continue
		}
		if least < 0 || d < least {
			best, least = c, d
		}
	}
	return best
}

// Qualified is Suggest for names that may lack the qualifier of the candidate. For example, refund means desk__refund.
// The function same reports whether a candidate, or a part of it after a separator, is the name.
func Qualified(name string, candidates []string, same func(part string) bool) string {
	for _, c := range candidates {
		for rest, more := c, true; more; {
			if same(rest) {
				return c
			}
			separator := strings.IndexAny(rest, "_.-/:")
			more = separator >= 0
			rest = rest[separator+1:]
		}
	}
	return Suggest(name, candidates)
}

// Distance returns the optimal string alignment distance of two names. That is the smallest number of insertions,
// deletions, replacements and swaps of neighbours that turn a into b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range from {
		row[0] = i + 1
		for j, y := range to {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x == to[j-1] && from[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}
