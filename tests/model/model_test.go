package model

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/tests/figures"
	"pgregory.net/rapid"
)

var (
	count  = flag.Int("programs", 0, "how many programs to play; 0 for ten thousand, a tenth of that in short mode and under the race detector")
	report = flag.Bool("report", false, "write how many were played into docs/figures/model.json")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *count == 0 {
		*count = 10_000
		if testing.Short() || raceDetector {
			*count /= 10
		}
	}
	checks := *count
	if testing.Short() {
		checks *= 5 // of which rapid makes a fifth
	}
	for name, value := range map[string]any{"rapid.checks": checks, "rapid.nofailfile": true} { // the program is printed
		if err := flag.Set(name, fmt.Sprint(value)); err != nil {
			panic(err)
		}
	}
	slog.SetDefault(slog.New(logger{}))
	os.Exit(m.Run())
}

func TestProgramsDoWhatTheModelDoes(t *testing.T) {
	var all played
	start := time.Now()
	check(t, t, nil, &all)
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

// check draws programs and fails with all that is wrong with one, and the program. It changes the model by tamper, if
// that is not nil.
func check(t *testing.T, tb rapid.TB, tamper func(*came), all *played) {
	rapid.Check(tb, func(rt *rapid.T) {
		p := programs.Draw(rt, "program")
		s := perform(t, p)
		s.tamper = tamper
		if wrong := s.compare(); len(wrong) > 0 {
			rt.Fatalf("%s\n\n\t%s", strings.Join(wrong, "\n"), strings.ReplaceAll(goCode(p), "\n", "\n\t"))
		}
		all.add(p, s)
	})
}

// play plays a program and returns what went wrong.
func play(t *testing.T, p program) []string { return perform(t, p).compare() }

// perform plays a program on a stage, in a bubble with a clock of its own.
func perform(t *testing.T, p program) (s *stage) {
	defer func() {
		if r := recover(); r != nil {
			s.wrong("%v", r)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		s = newStage() // whose channel must be of the bubble
		for _, step := range p.Steps {
			s.play(step)
		}
		s.parallel = true
		var threads sync.WaitGroup
		for _, steps := range p.Threads {
			threads.Go(func() {
				for _, step := range steps {
					s.play(step)
				}
			})
		}
		threads.Wait()
		for reg := range s.regs {
			s.drain(reg)
		}
		close(s.over)
	})
	return s
}

// A played counts what was played.
type played struct{ programs, parallel, steps, fires, nested, hooks int }

func (all *played) add(p program, s *stage) {
	all.programs++
	all.steps += len(p.Steps)
	for _, steps := range p.Threads {
		all.steps += len(steps)
	}
	if len(p.Threads) > 0 {
		all.parallel++
	}
	for _, f := range s.flights {
		all.fires++
		if f.depth > 0 {
			all.nested++
		}
		all.hooks += len(f.Ran)
	}
}

// report is the report of what was played without a difference in so much time.
func (all *played) report(took time.Duration) figures.Report {
	n := func(n int) string { return fmt.Sprint(n) }
	return figures.Report{
		Name:    "model",
		Command: fmt.Sprintf("go test ./tests/model -timeout 0 -programs %d -report", *count),
		Figures: []figures.Figure{
			{Of: "random programs played", Value: n(all.programs), Bound: "≥ 10000", Holds: map[bool]figures.Verdict{true: figures.Yes, false: figures.No}[all.programs >= 10_000]},
			{Of: "programs on several goroutines", Value: n(all.parallel)},
			{Of: "steps of programs", Value: n(all.steps)},
			{Of: "fires", Value: n(all.fires), Note: fmt.Sprintf("%d of them fired by hooks", all.nested)},
			{Of: "calls of hooks and wrapped acts", Value: n(all.hooks)},
			{Of: "fires that differ from the model", Value: "0", Bound: "0", Holds: figures.Yes, Note: "the report is written only if there is none"},
			{Of: "wall time", Value: took.Round(time.Second).String(), Note: fmt.Sprintf("race detector: %v", raceDetector)},
		},
	}
}
