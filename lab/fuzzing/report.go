package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/lab/figures"
)

// add adds a run to the report below root.
func add(root string, t target, ran result) error {
	all, err := figures.Read(root)
	if err != nil {
		return err
	}
	report := figures.Report{Name: "fuzzing"}
	if i := slices.IndexFunc(all, func(r figures.Report) bool { return r.Name == report.Name }); i >= 0 {
		report = all[i]
	}
	if report.Figures, err = sum(report.Figures, t, ran); err != nil {
		return err
	}
	report.Command = "go run ./lab/fuzzing -each 10m"
	if err := report.Stamp(root); err != nil {
		return err
	}
	return report.Write(root)
}

// The prefixes of the failed inputs in a note.
const (
	mended = "failed when they were found, and pass now: "
	broken = "fail: "
)

// sum returns the figures, by target, with a run added to those of its target.
func sum(known []figures.Figure, t target, ran result) ([]figures.Figure, error) {
	name := t.Package + " " + t.Name
	known = slices.Clone(known)
	at := slices.IndexFunc(known, func(f figures.Figure) bool { return f.Of == name })
	if at < 0 {
		at = len(known)
		known = append(known, figures.Figure{Of: name, Value: "0s, 0 executions, 0 inputs"})
	}
	f := &known[at]
	spent, rest, _ := strings.Cut(f.Value, ", ")
	took, err := time.ParseDuration(spent)
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", name, f.Value, err)
	}
	var executions int64
	var inputs int
	if _, err := fmt.Sscanf(rest, "%d executions, %d inputs", &executions, &inputs); err != nil {
		return nil, fmt.Errorf("%s: %q: %w", name, f.Value, err)
	}
	if ran.Inputs > 0 {
		inputs = ran.Inputs
	}
	f.Value = fmt.Sprintf("%s, %d executions, %d inputs", took+ran.Elapsed, executions+ran.Executions, inputs)

	failed := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(f.Note, mended), broken))
	failed = append(failed, ran.Failed...)
	slices.Sort(failed)
	failed = slices.Compact(failed)
	f.Bound, f.Holds, f.Note = "no input fails", figures.Yes, ""
	switch {
	case len(ran.Failed) > 0:
		f.Holds, f.Note = figures.No, broken+strings.Join(failed, " ")
	case len(failed) > 0:
		f.Note = mended + strings.Join(failed, " ")
	}
	slices.SortFunc(known, func(a, b figures.Figure) int { return strings.Compare(a.Of, b.Of) })
	return known, nil
}
