package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/lab/figures"
)

// constant returns a timing with equal rounds.
func constant(rounds int, v float64) timing {
	t := timing{rounds: make([]float64, rounds)}
	for i := range t.rounds {
		t.rounds[i] = v
	}
	return t
}

func TestARatioComparesTheQuickestRounds(t *testing.T) {
	mine, floor := constant(8, 30), constant(8, 20)
	mine.rounds[5], floor.rounds[2] = 24, 16
	if r := mine.over(floor); r.value != 1.5 {
		t.Errorf("the ratio is %v", r.value)
	}
}

func TestRatioLiesBetweenThoseOfItsParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		mine, floor := constant(parts+random.IntN(60), 0), constant(parts+random.IntN(60), 0)
		for _, rounds := range [][]float64{mine.rounds, floor.rounds} {
			for i := range rounds {
				rounds[i] = 1 + random.Float64()
			}
		}
		if r := mine.over(floor); r.value < r.low || r.value > r.high {
			t.Fatalf("%v is not between %v and %v", r.value, r.low, r.high)
		}
	}
}

func TestEveryRoundIsInOnePart(t *testing.T) {
	for n := parts; n < 70; n++ {
		seen := 0
		for k := range parts {
			part := constant(n, 1).part(k)
			if len(part) == 0 {
				t.Errorf("of %d rounds part %d is empty", n, k)
			}
			seen += len(part)
		}
		if seen != n {
			t.Errorf("of %d rounds %d are in a part", n, seen)
		}
	}
}

func TestTheVerdictIsOpenWherePartsDisagree(t *testing.T) {
	drifts := constant(8, 10)
	drifts.rounds[6], drifts.rounds[7] = 13, 13
	for _, c := range []struct {
		name  string
		r     ratio
		bound float64
		want  figures.Verdict
	}{
		{"all within", constant(8, 11).over(constant(8, 10)), 1.2, figures.Yes},
		{"at the bound", constant(8, 12).over(constant(8, 10)), 1.2, figures.Yes},
		{"all beyond", constant(8, 13).over(constant(8, 10)), 1.2, figures.No},
		{"one part beyond", drifts.over(constant(8, 10)), 1.2, figures.Open},
		{"apart, but all within", drifts.over(constant(8, 10)), 1.5, figures.Yes},
		{"apart, but all beyond", drifts.over(constant(8, 10)), 0.9, figures.No},
		{"too few rounds", constant(parts-1, 10).over(constant(parts-1, 10)), 1.2, figures.Open},
		{"exact", exact(0), 0, figures.Yes},
		{"exactly beyond", exact(1), 0, figures.No},
		{"measured within", spread([]float64{3, 4, 3.5}), 5, figures.Yes},
		{"measured on both sides", spread([]float64{4, 6}), 5, figures.Open},
		{"measured beyond", spread([]float64{7, 6}), 5, figures.No},
		{"not a number", exact(math.NaN()), 5, figures.Open},
	} {
		if got := c.r.under(c.bound); got != c.want {
			t.Errorf("%s: %q instead of %q", c.name, got, c.want)
		}
	}
}

func TestARatioWhoseRoundsDisagreeIsMarked(t *testing.T) {
	for r, want := range map[ratio]string{
		{1.05, 1.04, 1.06}:         "1.05",
		{1.05, 1, 1.5}:             "1.00 to 1.50 ?",
		{1.05, 0, math.Inf(1)}:     "1.05 ?",
		{0.0312, 0.0312, 0.0312}:   "0.031",
		{0.00312, 0.0031, 0.00313}: "0.0031",
		{123.4, 123.4, 123.4}:      "123",
	} {
		if got := r.String(); got != want {
			t.Errorf("%v reads %q instead of %q", r, got, want)
		}
	}
}

func TestClaimIsItsWorstCase(t *testing.T) {
	good, open, bad := held{"good", exact(1.1)}, held{"open", ratio{1.1, 1.0, 1.3}}, held{"bad", exact(1.25)}
	for _, c := range []struct {
		cases []held
		want  figures.Verdict
		worst string
	}{
		{[]held{good}, figures.Yes, "good"},
		{[]held{good, open}, figures.Open, "open"},
		{[]held{open, bad, good}, figures.No, "bad"},
		{[]held{{"best", exact(0.5)}, good}, figures.Yes, "good"},
	} {
		claim := claim{what: "x", bound: 1.2, cases: c.cases}
		if got := claim.verdict(); got != c.want {
			t.Errorf("%v: %q", c.cases, got)
		}
		if got := claim.worst().of; got != c.worst {
			t.Errorf("%v: the worst is %q", c.cases, got)
		}
	}
}

func TestClaimWritesItsBoundForReaders(t *testing.T) {
	c := one("x", exact(0.05), 1.0/18)
	c.words, c.note = "1/18", "a note"
	c.cases = append(c.cases, held{"another", exact(0.04)})
	f := c.figure()
	if f.Bound != "≤ 1/18" || f.Value != "1/20.0" || f.Holds != figures.Yes || f.Note != "a note; another 0.040" {
		t.Errorf("%+v", f)
	}
	c = one("x", ratio{1, 0.9, 1.4}, 1.2)
	if f := c.figure(); f.Value != "1.00 (rounds say 0.90 to 1.40)" || f.Bound != "≤ 1.20" {
		t.Errorf("%+v", f)
	}
}

func TestOneProcessorCannotJudgeTwoGoroutines(t *testing.T) {
	with := func(control, fire float64) []claim {
		return twiceClaims([]compared{
			{lineup{law: lawFlow, hooks: 8}, []timing{constant(8, fire), constant(8, 1), constant(8, control), constant(8, 1)}},
		})
	}
	for _, c := range []struct {
		control, fire float64
		want          figures.Verdict
	}{
		{1, 1.05, figures.Yes}, {1, 1.5, figures.No}, {1.9, 1.9, figures.Open}, {1.9, 1.05, figures.Yes},
	} {
		if got := with(c.control, c.fire)[0].verdict(); got != c.want {
			t.Errorf("control %v, fire %v: %q", c.control, c.fire, got)
		}
	}
	if len(twiceClaims(nil)) > 0 {
		t.Error("nothing measured makes a claim")
	}
}

func TestAReportMayHaveAnyPart(t *testing.T) {
	var r report
	r.peers = []timing{constant(8, 1), constant(8, 2)}
	text := r.markdown()
	if !strings.Contains(text, "8 hooks that continue") || strings.Contains(text, "## Bounds") {
		t.Error(text)
	}
	r.figures()
}

func TestAPartWithoutTwoProcessorsSaysNothing(t *testing.T) {
	timed := func(parts ...float64) timing { return timing{rounds: parts} }
	one := timed(10, 10, 10, 10)
	for _, c := range []struct {
		two, control timing
		want         figures.Verdict
	}{
		{timed(10, 10, 10, 10), timed(10, 10, 10, 10), figures.Yes},
		{timed(10, 10, 20, 10), timed(10, 10, 20, 10), figures.Yes},
		{timed(10, 10, 20, 10), timed(10, 10, 10, 10), figures.Open},
		{timed(20, 20, 20, 20), timed(10, 10, 20, 20), figures.No},
		{timed(20, 20, 20, 20), timed(20, 20, 20, 20), figures.Open},
	} {
		x := compared{runs: []timing{c.two, one, c.control, one}}
		if got := x.apart(1.1).under(1.1); got != c.want {
			t.Errorf("two goroutines in %v with a control of %v: %q, want %q", c.two.rounds, c.control.rounds, got, c.want)
		}
	}
}

func TestEachPartHasRoundsOfEveryLayout(t *testing.T) {
	var found [][][]sheet
	for layout := 0.0; layout < 3; layout++ {
		found = append(found, [][]sheet{
			nil, {{"a", []float64{layout, layout + 10, layout + 20, layout + 30}, 1}, {"b", []float64{-1, -1, -1, -1}, 2}},
		})
	}
	ts := together(found, 1)
	want := []float64{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}
	if len(ts) != 2 || ts[0].name != "a" || ts[1].name != "b" || ts[1].allocs != 2 || !slices.Equal(ts[0].rounds, want) ||
		len(ts[1].rounds) != len(want) {
		t.Errorf("together they are %+v", ts)
	}
}
