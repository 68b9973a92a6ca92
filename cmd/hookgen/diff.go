package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// diff describes in the unified format how the file at path must change, without a final newline.
func diff(path string, old, text []byte) string {
	a, b := lines(old), lines(text)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s (generated)", path, path)
	for _, h := range hunks(edits(a, b)) {
		h.write(&out, a, b)
	}
	return out.String()
}

// lines splits a text, line ends of Windows removed.
func lines(text []byte) []string {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// An edit replaces the lines from a0 to a1 of the old text by those from b0 to b1 of the new one.
type edit struct{ a0, a1, b0, b1 int }

// maxDistance bounds the work: texts further apart are shown as one replacement.
const maxDistance = 2000

// edits returns what makes b of a, after Myers: the fewest removed and added lines.
func edits(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all := middle(a[head:len(a)-tail], b[head:len(b)-tail])
	for i := range all {
		e := &all[i]
		e.a0, e.a1, e.b0, e.b1 = e.a0+head, e.a1+head, e.b0+head, e.b1+head
	}
	return all
}

// middle is edits for texts that differ in their first and last lines.
func middle(a, b []string) []edit {
	n, m := len(a), len(b)
	if n == 0 && m == 0 {
		return nil
	}
	limit := min(n+m, maxDistance)
	furthest := make([]int, 2*limit+3) // by diagonal, offset by limit+1: how far into a
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(furthest[limit+1-d:limit+2+d]))
		for k := -d; k <= d; k += 2 {
			i := limit + 1 + k
			x := furthest[i-1] + 1
			if k == -d || k != d && furthest[i-1] < furthest[i+1] {
				x = furthest[i+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			furthest[i] = x
			if x >= n && x-k >= m {
				return walkBack(trace, n, m)
			}
		}
	}
	return []edit{{0, n, 0, m}}
}

// walkBack reads the edits out of the trace of the search, from the end.
func walkBack(trace [][]int, x, y int) []edit {
	var all []edit
	for d := len(trace) - 1; d > 0; d-- {
		before := trace[d] // diagonals -d to d as they were before step d
		at := func(k int) int { return before[d+k] }
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		px := at(from)
		py := px - from
		e := edit{px, px, py, py + 1}
		if !down {
			e = edit{px, px + 1, py, py}
		}
		if last := len(all) - 1; last >= 0 && all[last].a0 == e.a1 && all[last].b0 == e.b1 {
			all[last].a0, all[last].b0 = e.a0, e.b0
		} else {
			all = append(all, e)
		}
		x, y = px, py
	}
	slices.Reverse(all)
	return all
}

// context is the number of equal lines shown around a change.
const context = 3

// A hunk is a run of edits whose contexts touch.
type hunk []edit

func hunks(all []edit) []hunk {
	var list []hunk
	for _, e := range all {
		if last := len(list) - 1; last >= 0 && e.a0-list[last][len(list[last])-1].a1 <= 2*context {
			list[last] = append(list[last], e)
		} else {
			list = append(list, hunk{e})
		}
	}
	return list
}

// write adds the hunk, each of its lines after a newline.
func (h hunk) write(out *strings.Builder, a, b []string) {
	first, last := h[0], h[len(h)-1]
	lead, trail := min(context, first.a0), min(context, len(a)-last.a1)
	span := func(from, to int) string {
		if from == to {
			return fmt.Sprintf("%d,0", from)
		}
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
	fmt.Fprintf(out, "\n@@ -%s +%s @@", span(first.a0-lead, last.a1+trail), span(first.b0-lead, last.b1+trail))
	put := func(sign string, lines []string) {
		for _, l := range lines {
			out.WriteString("\n" + sign + l)
		}
	}
	at := first.a0 - lead
	for _, e := range h {
		put(" ", a[at:e.a0])
		put("-", a[e.a0:e.a1])
		put("+", b[e.b0:e.b1])
		at = e.a1
	}
	put(" ", a[at:last.a1+trail])
}
