package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/lab/figures"
)

// enough is the total fuzzing time required for the targets of each goal.
const enough = time.Hour

// goals are groups of targets, each fuzzed for an hour.
var goals = []struct {
	of   string
	have func(target string) bool
}{
	{"The reader of specs", func(target string) bool { return target == "gen FuzzRead" }},
	{"The generator", func(target string) bool { return strings.HasPrefix(target, "gen ") && target != "gen FuzzRead" }},
	{"The decoders of what comes from models, tools and files", func(target string) bool {
		return !strings.HasPrefix(target, "gen ")
	}},
}

// The groups of figures.
const (
	sums  = ""
	parts = "Targets"
)

// add adds a run in the working folder to the report below root.
func add(root string, t target, ran result) error {
	report := figures.Report{Name: "fuzzing"}
	all, err := figures.Read(root)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Name == report.Name {
			report = r
		}
	}
	if report.Figures, err = sum(report.Figures, t, ran); err != nil {
		return err
	}
	report.Command = "go run ./lab/fuzzing -each 10m"
	if err := report.Stamp("."); err != nil {
		return err
	}
	return report.Write(root)
}

// A total sums up all runs of one target.
type total struct {
	time       time.Duration
	executions int64
	inputs     int
}

func (t total) String() string {
	return fmt.Sprintf("%s, %d executions, %d inputs", t.time, t.executions, t.inputs)
}

// readTotal parses the output of String.
func readTotal(text string) (t total, err error) {
	spent, rest, _ := strings.Cut(text, ", ")
	if t.time, err = time.ParseDuration(spent); err != nil {
		return t, fmt.Errorf("%q: %w", text, err)
	}
	if _, err = fmt.Sscanf(rest, "%d executions, %d inputs", &t.executions, &t.inputs); err != nil {
		return t, fmt.Errorf("%q: %w", text, err)
	}
	return t, nil
}

// The prefixes of the failed inputs in a note.
const (
	mended = "failed when they were found, and pass now: "
	broken = "fail: "
)

// sum returns the figures with a run added to those of its target, and with new sums.
func sum(known []figures.Figure, t target, ran result) ([]figures.Figure, error) {
	targets := slices.DeleteFunc(slices.Clone(known), func(f figures.Figure) bool { return f.Group != parts })
	name := t.Package + " " + t.Name
	at := slices.IndexFunc(targets, func(f figures.Figure) bool { return f.Of == name })
	if at < 0 {
		at = len(targets)
		targets = append(targets, figures.Figure{Group: parts, Of: name, Value: total{}.String()})
	}
	f := &targets[at]
	so, err := readTotal(f.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Of, err)
	}
	so.time, so.executions = so.time+ran.Elapsed, so.executions+ran.Executions
	if ran.Inputs > 0 {
		so.inputs = ran.Inputs
	}
	f.Value = so.String()

	failed := append(failures(f.Note), ran.Failed...)
	slices.Sort(failed)
	failed = slices.Compact(failed)
	f.Bound, f.Holds, f.Note = "no input fails", figures.Yes, ""
	switch {
	case len(ran.Failed) > 0:
		f.Holds, f.Note = figures.No, broken+strings.Join(failed, " ")
	case len(failed) > 0:
		f.Note = mended + strings.Join(failed, " ")
	}
	slices.SortFunc(targets, func(a, b figures.Figure) int { return strings.Compare(a.Of, b.Of) })
	return withSums(targets)
}

// failures returns the names of the failed inputs in a note.
func failures(note string) []string {
	return strings.Fields(strings.TrimPrefix(strings.TrimPrefix(note, mended), broken))
}

// withSums puts the sums before the targets.
func withSums(targets []figures.Figure) ([]figures.Figure, error) {
	all := make([]figures.Figure, 0, len(goals)+len(targets))
	for _, goal := range goals {
		var of total
		for _, f := range targets {
			if !goal.have(f.Of) {
				continue
			}
			one, err := readTotal(f.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Of, err)
			}
			of.time, of.executions, of.inputs = of.time+one.time, of.executions+one.executions, of.inputs+one.inputs
		}
		f := figures.Figure{Group: sums, Of: goal.of, Value: of.String(), Bound: "≥ " + enough.String(), Holds: figures.Yes}
		if of.time < enough {
			f.Holds, f.Note = figures.No, "run the command again: the times of all runs are added"
		}
		all = append(all, f)
	}
	return append(all, targets...), nil
}
