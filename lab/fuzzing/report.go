package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/lab/figures"
)

// add replaces the figure of a target in the report below root. Targets that the repository does not have any more go.
func add(root string, all []target, t target, ran result) error {
	report, err := figures.Read(root, "fuzzing")
	if err != nil {
		return err
	}
	report.Command = "go run ./lab/fuzzing -each 10m"
	report.Figures = replaced(report.Figures, all, ran.figure(t))
	if err := report.Stamp(root); err != nil {
		return err
	}
	return report.Write(root)
}

// replaced returns the figures of the targets, in their order, with a new one.
func replaced(known []figures.Figure, all []target, made figures.Figure) []figures.Figure {
	kept := []figures.Figure{made}
	for _, f := range known {
		if f.Of != made.Of && slices.ContainsFunc(all, func(t target) bool { return t.String() == f.Of }) {
			kept = append(kept, f)
		}
	}
	slices.SortFunc(kept, func(a, b figures.Figure) int { return strings.Compare(a.Of, b.Of) })
	return kept
}

// figure describes a run of a target.
func (r result) figure(t target) figures.Figure {
	f := figures.Figure{Of: t.String(), Bound: "no input fails", Holds: figures.Yes}
	f.Value = fmt.Sprintf("%s, %d executions, %d inputs", r.Elapsed, r.Executions, r.Inputs)
	if len(r.Failed) > 0 {
		f.Holds, f.Note = figures.No, "fail: "+strings.Join(r.Failed, " ")
	}
	return f
}
