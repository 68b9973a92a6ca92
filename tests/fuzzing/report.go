package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/tests/figures"
)

// enough is how long each target of gen, and those of all decoders together, are to be fuzzed.
const enough = time.Hour

// What is known of a target, as its figures are named.
const (
	timeSpent  = "time"
	executions = "executions"
	inputs     = "inputs"
	failures   = "failures"
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
	report.Command = "go run ./tests/fuzzing -each 10m"
	if err := report.Stamp("."); err != nil {
		return err
	}
	return report.Write(root)
}

// sum returns the figures with a run added to those of its target, and the sums made anew.
func sum(known []figures.Figure, t target, ran result) ([]figures.Figure, error) {
	name := func(what string) string { return t.Package + " " + t.Name + ": " + what }
	at := func(what string) *figures.Figure {
		of := name(what)
		for i := range known {
			if known[i].Of == of {
				return &known[i]
			}
		}
		known = append(known, figures.Figure{Of: of, Value: "0"})
		return &known[len(known)-1]
	}

	f := at(timeSpent)
	spent, err := time.ParseDuration(f.Value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Of, err)
	}
	spent += ran.Elapsed
	f.Value, f.Note = spent.String(), "seconds of workers: as long as each ran, all added"
	if inGen(f.Of) {
		f.Bound, f.Holds = "≥ "+enough.String(), verdict(spent >= enough)
	}

	f = at(executions)
	count, err := strconv.ParseInt(f.Value, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Of, err)
	}
	f.Value = strconv.FormatInt(count+ran.Executions, 10)

	f = at(inputs)
	if ran.Inputs > 0 {
		f.Value = strconv.Itoa(ran.Inputs)
	}
	f.Note = "that each reach something new, committed and in the cache of the machine"

	f = at(failures)
	var ever []string
	if f.Value != "0" {
		ever = strings.Fields(f.Value)
	}
	for _, input := range ran.Failed {
		if !slices.Contains(ever, input) {
			ever = append(ever, input)
		}
	}
	f.Bound, f.Holds, f.Note = "no input fails", verdict(len(ran.Failed) == 0), ""
	if len(ever) > 0 {
		f.Value = strings.Join(ever, " ")
		f.Note = "inputs that failed when they were found; the newest run passes them"
		if len(ran.Failed) > 0 {
			f.Note = "inputs that failed when they were found; the newest run fails with " + strings.Join(ran.Failed, " ")
		}
	}
	return totals(known)
}

// totals puts the sums first and the targets in order behind them.
func totals(known []figures.Figure) ([]figures.Figure, error) {
	var outside, all time.Duration
	var count int64
	var targets []figures.Figure
	for _, f := range known {
		of, what, ofTarget := strings.Cut(f.Of, ": ")
		if !ofTarget || !strings.Contains(of, " Fuzz") {
			continue // a sum
		}
		targets = append(targets, f)
		switch what {
		case timeSpent:
			spent, err := time.ParseDuration(f.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Of, err)
			}
			all += spent
			if !inGen(f.Of) {
				outside += spent
			}
		case executions:
			n, err := strconv.ParseInt(f.Value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Of, err)
			}
			count += n
		}
	}
	slices.SortStableFunc(targets, func(a, b figures.Figure) int {
		one, _, _ := strings.Cut(a.Of, ": ")
		other, _, _ := strings.Cut(b.Of, ": ")
		return strings.Compare(one, other)
	})
	return append([]figures.Figure{
		{Of: "all targets: time", Value: all.String()},
		{Of: "all targets: executions", Value: strconv.FormatInt(count, 10)},
		{Of: "decoders, the targets outside gen: time", Value: outside.String(), Bound: "≥ " + enough.String(), Holds: verdict(outside >= enough)},
	}, targets...), nil
}

func inGen(of string) bool { return strings.HasPrefix(of, "gen ") }

func verdict(holds bool) figures.Verdict {
	if holds {
		return figures.Yes
	}
	return figures.No
}
