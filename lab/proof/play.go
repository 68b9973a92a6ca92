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
		args := append([]string{"-count=1", "-run", only(tests), "./" + g.dir}, g.args...)
		fmt.Fprintf(os.Stderr, "%s: %d tests in %s/%s\n", g.title, len(tests), g.dir, g.files)
		outcomes, err := testrun.Go(root, args...)
		if err != nil {
			return nil, err
		}
		figs, err := g.figures(tests, outcomes)
		if err != nil {
			return nil, err
		}
		report.Figures = append(report.Figures, figs...)
	}
	return report, nil
}

// only matches the names of the tests.
func only(tests []test) string {
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = t.name
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// figures returns one figure per test, or one for the group.
func (g group) figures(tests []test, outcomes map[string]*testrun.Outcome) ([]figures.Figure, error) {
	var all []figures.Figure
	for _, t := range tests {
		o := outcomes[t.name]
		if o == nil || o.Action != "pass" {
			return nil, fmt.Errorf("%s in %s has not passed; run go test -run '^%s$' ./%s", t.name, g.dir, t.name, g.dir)
		}
		all = append(all, figures.Figure{
			Group: g.title, Of: t.statement, Value: value(o), Bound: "passes", Holds: figures.Yes,
			Command: strings.TrimSpace(fmt.Sprintf("go test -run '^%s$' ./%s %s", t.name, g.dir, strings.Join(g.args, " "))),
		})
	}
	if !g.whole {
		return all, nil
	}
	run := ""
	if g.files != "*_test.go" || g.except != "" {
		run = "-run '" + only(tests) + "' "
	}
	return []figures.Figure{{
		Group: g.title, Of: "All tests of " + strings.TrimSuffix(g.dir+"/"+g.files, "/*_test.go"),
		Value: fmt.Sprintf("%d tests passed", len(tests)), Bound: "pass", Holds: figures.Yes,
		Command: strings.TrimSpace("go test " + run + "./" + g.dir + " " + strings.Join(g.args, " ")),
	}}, nil
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
