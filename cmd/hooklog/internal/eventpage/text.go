package eventpage

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// A Text is a JSON value as the page shows it, or the difference between two.
type Text struct {
	Lines []Line `json:"lines"`
	Size  int    `json:"size"` // of the whole text in bytes
	Cut   bool   `json:"cut"`  // Lines do not have the whole text
}

// A Line is a line of a text.
type Line struct {
	Op    string `json:"op,omitempty"` // "-" and "+" in a difference; "@" before lines that follow others not at once
	Parts []Part `json:"parts,omitempty"`
}

// A Part is a part of a line: a text, or a number of bytes that are left out.
type Part struct {
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
func textOf(value json.RawMessage) *Text {
	if value == nil {
		return nil
	}
	whole := Pretty(value)
	t := &Text{Size: len(whole)}
	for l := range strings.Lines(whole) {
		if t.full() {
			break
		}
		t.add("", []Part{{Text: strings.TrimSuffix(l, "\n")}})
	}
	return t
}

// full reports whether the text has as many lines as the page shows.
func (t *Text) full() bool {
	t.Cut = t.Cut || len(t.Lines) >= maxLines
	return len(t.Lines) >= maxLines
}

// add adds a line and shortens its parts.
func (t *Text) add(op string, parts []Part) {
	l := Line{Op: op}
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
func beginning(p Part, most int) []Part {
	if len(p.Text) <= most {
		return []Part{p}
	}
	for !utf8.RuneStart(p.Text[most]) {
		most--
	}
	return []Part{{Text: p.Text[:most], Changed: p.Changed}, {Cut: len(p.Text) - most}}
}

// ending shortens a part to its end.
func ending(p Part, most int) []Part {
	if len(p.Text) <= most {
		return []Part{p}
	}
	from := len(p.Text) - most
	for !utf8.RuneStart(p.Text[from]) {
		from++
	}
	return []Part{{Cut: from}, {Text: p.Text[from:], Changed: p.Changed}}
}

// Difference returns the changed lines between two values, with the lines around them, or nil if there are none. A nil
// value has no lines. If the values are too large to compare, the difference has their sizes alone.
func Difference(before, after json.RawMessage) *Text {
	was, is := Pretty(before), Pretty(after)
	t := &Text{Size: len(was) + len(is)}
	switch {
	case was == is:
		return nil
	case t.Size > maxCompare:
		t.Lines = []Line{{"-", []Part{{Cut: len(was)}}}, {"+", []Part{{Cut: len(is)}}}}
		return t
	}
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
			t.add("", []Part{{Text: l}})
		}
	}
	flush()
	return t
}

// changes splits a line into the parts that it has in common with the line at the same place among the others, and the
// part between them. Lines with little in common are not split.
func changes(l string, others []string, i int) []Part {
	if i >= len(others) {
		return []Part{{Text: l}}
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
		return []Part{{Text: l}}
	}
	return []Part{{Text: l[:same]}, {Text: l[same : len(l)-tail], Changed: true}, {Text: l[len(l)-tail:]}}
}
