package main

import (
	"fmt"
	"io"
	"strings"
)

// A table prints rows in columns. The first row has the headings. Columns of numbers are aligned to the right.
type table struct {
	right []bool // by column
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print prints the rows, with the heading in bold.
func (t *table) print(w io.Writer, p palette) {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for n, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			width := -widths[i]
			if t.right[i] {
				width = widths[i]
			}
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(pad(cell, width))
		}
		line := strings.TrimRight(b.String(), " ")
		if n == 0 {
			line = p.paint(bold, line)
		}
		fmt.Fprintln(w, line)
	}
}
