package main

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/lab/figures"
)

func TestBrokenBoundsNeedANote(t *testing.T) {
	for holds, refused := range map[figures.Verdict]bool{
		figures.Yes: false, figures.No: true, figures.Open: true, "": true,
	} {
		for _, c := range []struct {
			value, note string
			refused     bool
		}{
			{"3", "", refused},
			{"3", "physics", false},
			{"2 (rounds say 1 to 3)", "", refused && holds != figures.Open},
		} {
			r := figures.Report{Name: "bench", Figures: []figures.Figure{
				{Of: "speed", Value: c.value, Bound: "≤ 2", Holds: holds, Note: c.note},
			}}
			if err := bounds(new(strings.Builder), r); (err != nil) != c.refused {
				t.Errorf("%q, %q with the note %q: %v", holds, c.value, c.note, err)
			}
		}
	}
}

func TestLongReportsListDoubtfulBounds(t *testing.T) {
	r := figures.Report{Name: "bench"}
	for range fewBounds {
		r.Figures = append(r.Figures, figures.Figure{Of: "quick", Value: "1", Bound: "≤ 2", Holds: figures.Yes})
	}
	r.Figures = append(r.Figures, figures.Figure{Of: "a|b <c>", Value: "3", Bound: "≤ 2", Holds: figures.No, Note: "slow"},
		figures.Figure{Of: "size", Value: "7"})
	var b strings.Builder
	if err := bounds(&b, r); err != nil {
		t.Fatal(err)
	}
	want := "8 of 9 bounds hold; [all 10 figures](figures/bench.json).\n\n" +
		"| what | figure | bound | holds | note |\n|---|---|---|---|---|\n" +
		"| a\\|b &lt;c> | 3 | ≤ 2 | no | slow |\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
