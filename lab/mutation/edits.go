package main

import (
	"cmp"
	"slices"
	"strings"
)

// edits are changes of a text, in the order from outer to inner constructs.
type edits []edit

// An edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
	closes   bool // it closes an earlier edit
	n        int
}

func (e *edits) add(from, to int, text string, closes bool) {
	*e = append(*e, edit{from, to, text, closes, len(*e)})
}

func (e *edits) insert(at int, text string) { e.add(at, at, text, false) }

func (e *edits) replace(from, to int, text string) { e.add(from, to, text, false) }

// wrap inserts text before and after text[from:to], inside of earlier wraps.
func (e *edits) wrap(from, to int, before, after string) {
	e.add(from, from, before, false)
	e.add(to, to, after, true)
}

// apply returns the changed text.
func (e edits) apply(src []byte) string {
	sorted := slices.Clone(e)
	slices.SortFunc(sorted, func(a, b edit) int {
		if c := cmp.Compare(a.from, b.from); c != 0 {
			return c
		}
		if a.closes != b.closes { // close before opening
			if a.closes {
				return -1
			}
			return 1
		}
		if a.closes {
			return cmp.Compare(b.n, a.n)
		}
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.n, b.n))
	})
	var b strings.Builder
	at := 0
	for _, x := range sorted {
		b.Write(src[at:x.from])
		b.WriteString(x.text)
		at = x.to
	}
	b.Write(src[at:])
	return b.String()
}
