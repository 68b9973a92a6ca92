package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/hookgen/hookgen/internal/testrun"
	"github.com/hookgen/hookgen/lab/figures"
)

// play runs the groups and returns their report.
func play(root string) (*figures.Report, error) {
	report := &figures.Report{Name: "tests", Command: "go run ./lab/proof"}
	if err := report.Stamp(root); err != nil {
		return nil, err
	}
	for _, g := range groups {
		tests, err := g.tests(root)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "%s: %d tests in %s/%s\n", g.title, len(tests), g.dir, g.files)
		outcomes, err := testrun.Go(root, g.dir, names(tests), g.args...)
		if err != nil {
			return nil, err
		}
		report.Figures = append(report.Figures, g.figures(tests, outcomes)...)
	}
	return report, nil
}

// names returns the names of the tests.
func names(tests []test) []string {
	all := make([]string, len(tests))
	for i, t := range tests {
		all[i] = t.name
	}
	return all
}

// figures returns one figure per test, or one for the group. All of the tests have passed.
func (g group) figures(tests []test, outcomes map[string]*testrun.Outcome) []figures.Figure {
	var all []figures.Figure
	for _, t := range tests {
		all = append(all, figures.Figure{
			Group: g.title, Of: t.statement, Value: value(outcomes[t.name]), Bound: "passes", Holds: figures.Yes,
			Command: strings.TrimSpace(fmt.Sprintf("go test -run '^%s$' ./%s %s", t.name, g.dir, strings.Join(g.args, " "))),
		})
	}
	if !g.whole {
		return all
	}
	run := ""
	if g.files != "*_test.go" || g.except != "" {
		run = "-run '" + testrun.Only(names(tests)) + "' "
	}
	return []figures.Figure{{
		Group: g.title, Of: "All tests of " + strings.TrimSuffix(g.dir+"/"+g.files, "/*_test.go"),
		Value: fmt.Sprintf("%d tests passed", len(tests)), Bound: "pass", Holds: figures.Yes,
		Command: strings.TrimSpace("go test " + run + "./" + g.dir + " " + strings.Join(g.args, " ")),
	}}
}

// value describes a success, with the number of cases.
func value(o *testrun.Outcome) string {
	switch {
	case o.Drawn > 0 && o.Listed > 0:
		return fmt.Sprintf("%d drawn cases and %d listed ones passed", o.Drawn, o.Listed)
	case o.Drawn > 0:
		return fmt.Sprintf("%d drawn cases passed", o.Drawn)
	case o.Listed > 0:
		return fmt.Sprintf("%d listed cases passed", o.Listed)
	}
	return "passed"
}
