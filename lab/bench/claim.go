package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// A claim is a bound with the measured cases that it applies to.
type claim struct {
	what  string
	bound float64
	words string // replaces the number of the bound in the report: "1/18"
	unit  string
	note  string
	cases []held
}

// A held is one case of a claim.
type held struct {
	of string
	ratio
}

// verdict is yes if every case meets the bound, no if one misses it, and otherwise open.
func (c claim) verdict() figures.Verdict {
	v := figures.Yes
	for _, h := range c.cases {
		switch h.under(c.bound) {
		case figures.No:
			return figures.No
		case figures.Open:
			v = figures.Open
		}
	}
	return v
}

// worst returns the case with the largest ratio to its bound.
func (c claim) worst() held {
	rank := []figures.Verdict{figures.Yes, figures.Open, figures.No}
	return slices.MaxFunc(c.cases, func(a, b held) int {
		by := slices.Index(rank, a.under(c.bound)) - slices.Index(rank, b.under(c.bound))
		return cmp.Or(by, cmp.Compare(a.value, b.value))
	})
}

// limit returns the bound in words.
func (c claim) limit() string {
	if c.words != "" {
		return "≤ " + c.words
	}
	return "≤ " + figure(c.bound) + c.unit
}

// value returns the figure of the worst case.
func (c claim) value() string {
	w := c.worst()
	s := figure(w.value) + c.unit
	if strings.HasPrefix(c.words, "1/") && w.value > 0 {
		s = fmt.Sprintf("1/%s", figure(1/w.value))
	}
	if w.under(c.bound) == figures.Open {
		s += fmt.Sprintf(" (rounds say %s to %s)", figure(w.low), figure(w.high))
	}
	if w.of != "" {
		s += ", " + w.of
	}
	return s
}

// reasons explain bounds that are not met, by the name of the claim.
var reasons = map[string]string{
	"Around with one hook, over one closure that recovers": "a fire also knows whose answer and whose error it gets, " +
		"and refuses those of other fires",
	"loop with twelve built-in hooks, each step, 300 steps over 5 steps": "a briefing, here that of prompt.Static, is " +
		"added to a copy of the conversation in each step",
	"allocations of Use of a bundle of one hook in a spec of 29 points, and Remove": "Remove included",
	"generated lines per flow point, with comments":                                 "about 36 of them are comments",
}

// rest appends the figures of the other cases to the note.
func (c claim) rest() string {
	var all []string
	if note := cmp.Or(c.note, reasons[c.what]); note != "" {
		all = append(all, note)
	}
	worst := c.worst()
	var others []string
	for _, h := range c.cases {
		if h.of != worst.of {
			others = append(others, h.of+" "+figure(h.value)+c.unit)
		}
	}
	if len(others) > 0 {
		all = append(all, strings.Join(others, ", "))
	}
	return strings.Join(all, "; ")
}

// figure converts the claim for the common report.
func (c claim) figure() figures.Figure {
	return figures.Figure{Of: c.what, Value: c.value(), Bound: c.limit(), Holds: c.verdict(), Note: c.rest()}
}

// one returns a claim with one case.
func one(what string, r ratio, bound float64) claim {
	return claim{what: what, bound: bound, cases: []held{{"", r}}}
}
