package model_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/race"
	"github.com/hookgen/hookgen/lab/figures"
	"github.com/hookgen/hookgen/tests/model"
	"pgregory.net/rapid"
)

var (
	count = flag.Int("programs", 0,
		"how many programs to play; 0 for ten thousand, a tenth of that in short mode and under the race detector")
	report = flag.Bool("report", false, "write how many were played into docs/evidence/figures/model.json")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *count == 0 {
		*count = 10_000
		if testing.Short() || race.Enabled {
			*count /= 10
		}
	}
	checks := *count
	if testing.Short() {
		checks *= 5 // rapid uses a fifth of it
	}
	for name, value := range map[string]any{"rapid.checks": checks, "rapid.nofailfile": true} { // the program is printed
		if err := flag.Set(name, fmt.Sprint(value)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestProgramsMatchTheModel(t *testing.T) {
	var all played
	start := time.Now()
	rapid.Check(t, func(rt *rapid.T) {
		p := model.Everything.Draw(rt)
		all.add(p, model.Check(t, rt, p))
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

// A played counts the played programs.
type played struct{ programs, parallel, steps, fires, nested, hooks int }

func (all *played) add(p model.Program, result model.Played) {
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
		Command: fmt.Sprintf("go test ./tests/model -timeout 0 -programs %d -report", *count),
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
