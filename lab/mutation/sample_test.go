package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hookgen/hookgen/lab/figures"
)

func somewhere(file string, n int) []mutant {
	var all []mutant
	for i := range n {
		all = append(all, mutant{ID: i + 1, File: file, Func: fmt.Sprintf("F%d", i), What: "true → negated", N: 1})
	}
	return all
}

func TestASeedDrawsTheSameSample(t *testing.T) {
	all := somewhere("a.go", 200)
	first := draw(all, 50, 1)
	if !slices.Equal(first, draw(all, 50, 1)) {
		t.Error("the second draw differs")
	}
	if slices.Equal(first, draw(all, 50, 2)) {
		t.Error("another seed draws the same")
	}
	// Every mutant moves by one line and gets another number if one is added before it.
	edited := somewhere("a.go", 200)
	for i := range edited {
		edited[i].ID++
		edited[i].Line++
	}
	for i, m := range draw(edited, 50, 1) {
		if m.Key() != first[i].Key() {
			t.Errorf("after an edit, %s is drawn instead of %s", m.Key(), first[i].Key())
		}
	}
}

func TestVerdictOfASampleFollowsItsInterval(t *testing.T) {
	for _, c := range []struct {
		found, tried, planted int
		want                  figures.Verdict
	}{
		{90, 100, 100, figures.Yes}, {89, 100, 100, figures.No},
		{90, 100, 900, figures.Open}, {100, 100, 900, figures.Yes}, {80, 100, 900, figures.No}, {85, 100, 900, figures.Open},
	} {
		t.Run(fmt.Sprintf("%d of %d of %d", c.found, c.tried, c.planted), func(t *testing.T) {
			r := &result{part: part{bound: 90}, planted: c.planted, tried: c.tried, killed: c.found}
			if got := r.holds(); got != c.want {
				t.Errorf("the verdict is %s, want %s", got, c.want)
			}
			if err := judge([]*result{r}, nil); (err != nil) != (c.want == figures.No) {
				t.Errorf("the judgement is %v", err)
			}
		})
	}
}

func TestIntervalIsWilsons(t *testing.T) {
	for _, c := range []struct {
		x, n      int
		low, high string
	}{
		{90, 100, "82.6", "94.5"},
		{100, 100, "96.3", "100.0"},
		{0, 10, "0.0", "27.8"},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.x, c.n), func(t *testing.T) {
			low, high := interval(c.x, c.n)
			if l, h := fmt.Sprintf("%.1f", low), fmt.Sprintf("%.1f", high); l != c.low || h != c.high {
				t.Errorf("%s to %s, want %s to %s", l, h, c.low, c.high)
			}
		})
	}
}
