package eventpage

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// A text is a JSON value as the page shows it, or the difference between two.
type text struct {
	Lines []line `json:"lines"`
	Size  int    `json:"size"` // of the whole text in bytes
	Cut   bool   `json:"cut"`  // Lines do not have the whole text
}

// A line is a line of a text.
type line struct {
	Op    string `json:"op,omitempty"` // "-" and "+" in a difference; "@" before lines that follow others not at once
	Parts []part `json:"parts,omitempty"`
}

// A part is a part of a line: a text, or a number of characters that are left out.
type part struct {
	Text    string `json:"text,omitempty"`
	Changed bool   `json:"changed,omitempty"` // it is the part in which two lines differ
	Cut     int    `json:"cut,omitempty"`     // bytes
}

// The bounds of a text that a page shows before a reader asks for the rest.
const (
	maxLines   = 1000
	maxPart    = 2000    // bytes of a part
	maxContext = 200     // bytes of a part next to a change
	maxCompare = 4 << 20 // bytes of two texts that are compared
)

// textOf returns a value. A nil value has a nil text.
func textOf(value json.RawMessage) *text {
	if value == nil {
		return nil
	}
	whole := Pretty(value)
	t := &text{Size: len(whole)}
	for l := range strings.Lines(whole) {
		if t.full() {
			break
		}
		t.add("", []part{{Text: strings.TrimSuffix(l, "\n")}})
	}
	return t
}

// full reports whether the text has as many lines as the page shows.
func (t *text) full() bool {
	t.Cut = t.Cut || len(t.Lines) >= maxLines
	return len(t.Lines) >= maxLines
}

// add adds a line and shortens its parts.
func (t *text) add(op string, parts []part) {
	l := line{Op: op}
	for i, p := range parts {
		if p.Text == "" {
			continue
		}
		if p.Changed || len(parts) == 1 {
			l.Parts = append(l.Parts, beginning(p, maxPart)...)
		} else if i == 0 {
			l.Parts = append(l.Parts, ending(p, maxContext)...)
		} else {
			l.Parts = append(l.Parts, beginning(p, maxContext)...)
		}
	}
	for _, p := range l.Parts {
		t.Cut = t.Cut || p.Cut > 0
	}
	t.Lines = append(t.Lines, l)
}

// beginning shortens a part to its beginning.
func beginning(p part, most int) []part {
	if len(p.Text) <= most {
		return []part{p}
	}
	for !utf8.RuneStart(p.Text[most]) {
		most--
	}
	return []part{{Text: p.Text[:most], Changed: p.Changed}, {Cut: len(p.Text) - most}}
}

// ending shortens a part to its end.
func ending(p part, most int) []part {
	if len(p.Text) <= most {
		return []part{p}
	}
	from := len(p.Text) - most
	for !utf8.RuneStart(p.Text[from]) {
		from++
	}
	return []part{{Cut: from}, {Text: p.Text[from:], Changed: p.Changed}}
}

// difference returns the changed lines between two values, with the lines around them. It returns nil if the values
// have the same text, or are too large to compare.
func difference(before, after json.RawMessage) *text {
	was, is := Pretty(before), Pretty(after)
	if was == is || len(was)+len(is) > maxCompare {
		return nil
	}
	t := &text{Size: len(was) + len(is)}
	var removed, added []string
	flush := func() {
		for i, l := range removed {
			t.add("-", changes(l, added, i))
		}
		for i, l := range added {
			t.add("+", changes(l, removed, i))
		}
		removed, added = nil, nil
	}
	const header = 3 // lines: the command, and two names
	n := 0
	for l := range strings.Lines(string(diff.Diff("before", []byte(was), "after", []byte(is)))) {
		if n++; n <= header {
			continue
		}
		if t.full() {
			return t
		}
		op, l := l[:1], strings.TrimSuffix(l[1:], "\n")
		switch op {
		case "-":
			if len(added) > 0 {
				flush()
			}
			removed = append(removed, l)
			continue
		case "+":
			added = append(added, l)
			continue
		}
		flush()
		if op == "@" {
			t.add("@", nil)
		} else {
			t.add("", []part{{Text: l}})
		}
	}
	flush()
	return t
}

// changes splits a line into the parts that it has in common with the line at the same place among the others, and the
// part between them. Lines with little in common are not split.
func changes(l string, others []string, i int) []part {
	if i >= len(others) {
		return []part{{Text: l}}
	}
	o := others[i]
	same, most := 0, min(len(l), len(o))
	for same < most && l[same] == o[same] {
		same++
	}
	for same > 0 && same < len(l) && !utf8.RuneStart(l[same]) {
		same--
	}
	tail := 0
	for tail < most-same && l[len(l)-1-tail] == o[len(o)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(l[len(l)-tail]) {
		tail--
	}
	if strings.TrimSpace(l[:same]+l[len(l)-tail:]) == "" {
		return []part{{Text: l}}
	}
	return []part{{Text: l[:same]}, {Text: l[same : len(l)-tail], Changed: true}, {Text: l[len(l)-tail:]}}
}
