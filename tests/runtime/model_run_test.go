package runtime_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/race"
	"github.com/hookgen/hookgen/lab/figures"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

var (
	programs = flag.Int("programs", 0,
		"how many programs to play; 0 for ten thousand, a tenth of that in short mode and under the race detector")
	report = flag.Bool("report", false, "write how many were played into docs/evidence/figures/model.json")
)

func TestProgramsMatchTheModel(t *testing.T) {
	if *programs == 0 {
		*programs = 10_000
		if testing.Short() || race.Enabled {
			*programs /= 10
		}
	}
	checks := *programs
	if testing.Short() {
		checks *= 5 // rapid uses a fifth of it
	}
	set(t, "rapid.checks", fmt.Sprint(checks))
	set(t, "rapid.nofailfile", "true") // the program is printed
	var all played
	start := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		p := Everything.Draw(rt)
		all.add(p, Check(t, rt, p))
	})
	if t.Logf("%+v", all); *report && !t.Failed() {
		r := all.report(time.Since(start))
		if err := r.Stamp("../.."); err != nil {
			t.Fatal(err)
		}
		if err := r.Write("../.."); err != nil {
			t.Fatal(err)
		}
	}
}

// Points of tests/fixture that have a marker fire as the reference model says. A test of gen checks that the spec there
// has every marker.
func TestEveryMarkerFiresAsModelled(t *testing.T) {
	spec, err := os.ReadFile("../fixture/spec.go")
	if err != nil {
		t.Fatal(err)
	}
	markers := regexp.MustCompile(`\bspec\.([A-Z]\w*)`).FindAllStringSubmatch(string(spec), -1)
	if len(markers) == 0 {
		t.Fatal("the spec has no marker")
	}
	slices.SortFunc(markers, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	for _, m := range slices.CompactFunc(markers, slices.Equal) {
		marker := m[1]
		t.Run(marker, func(t *testing.T) {
			shape := Shape{Points: points.Where(func(p *points.Point) bool { return marker == "Env" || p.Lists(marker) })}
			fires := 0
			rapid.Check(t, func(rt *rapid.T) { fires += len(Check(t, rt, shape.Draw(rt)).Fires) })
			if fires == 0 {
				t.Error("the programs have no fire")
			}
		})
	}
}

// A played counts the played programs.
type played struct{ programs, parallel, steps, fires, nested, hooks int }

func (all *played) add(p Program, result Played) {
	all.programs++
	all.steps += len(p.Steps)
	for _, steps := range p.Threads {
		all.steps += len(steps)
	}
	if result.Parallel {
		all.parallel++
	}
	all.fires += len(result.Fires)
	all.nested += result.Deep
	for _, f := range result.Fires {
		all.hooks += len(f.Ran)
	}
}

// report returns the report of programs without a difference.
func (all *played) report(took time.Duration) figures.Report {
	n := func(n int) string { return fmt.Sprint(n) }
	return figures.Report{
		Name:    "model",
		Command: fmt.Sprintf("go test ./tests/runtime -run Model -timeout 0 -programs %d -report", *programs),
		Figures: []figures.Figure{
			{Of: "random programs played", Value: n(all.programs), Bound: "≥ 10000", Holds: map[bool]figures.Verdict{
				true: figures.Yes, false: figures.No,
			}[all.programs >= 10_000]},
			{Of: "programs on several goroutines", Value: n(all.parallel)},
			{Of: "steps of programs", Value: n(all.steps)},
			{Of: "fires", Value: n(all.fires), Note: fmt.Sprintf("%d of them fired by hooks", all.nested)},
			{Of: "calls of hooks and wrapped acts", Value: n(all.hooks)},
			{Of: "fires that differ from the model", Value: "0", Bound: "0", Holds: figures.Yes,
				Note: "the report is written only if there is none"},
			{Of: "wall time", Value: took.Round(time.Second).String(), Note: fmt.Sprintf("race detector: %v", race.Enabled)},
		},
	}
}
