package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/internal/figures"
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
		args := append([]string{"test", "-count=1", "-json", "-run", only(tests), "./" + g.dir}, g.args...)
		fmt.Fprintf(os.Stderr, "%s: %d tests in %s/%s\n", g.title, len(tests), g.dir, g.files)
		outcomes, err := goTest(root, args)
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
func (g group) figures(tests []test, outcomes map[string]*outcome) ([]figures.Figure, error) {
	var all []figures.Figure
	sum := new(outcome)
	for _, t := range tests {
		o := outcomes[t.name]
		if o == nil || o.action != "pass" {
			return nil, fmt.Errorf("%s in %s has not passed; run go test -run '^%s$' ./%s", t.name, g.dir, t.name, g.dir)
		}
		sum.cases, sum.subtests = sum.cases+o.cases, sum.subtests+o.subtests
		all = append(all, figures.Figure{
			Group: g.title, Of: t.statement, Value: o.String(), Bound: "passes", Holds: figures.Yes,
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

// An outcome is the result of one test.
type outcome struct {
	action   string // pass, fail or skip
	cases    int    // drawn by rapid
	subtests int
}

// String describes a success, with the number of cases.
func (o *outcome) String() string {
	switch {
	case o.cases > 0 && o.subtests > 0:
		return fmt.Sprintf("%d drawn cases and %d listed ones passed", o.cases, o.subtests)
	case o.cases > 0:
		return fmt.Sprintf("%d drawn cases passed", o.cases)
	case o.subtests > 0:
		return fmt.Sprintf("%d listed cases passed", o.subtests)
	}
	return "passed"
}

// goTest runs go test -json with the arguments and returns the outcome of every test.
func goTest(root string, args []string) (map[string]*outcome, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outcomes, err := read(out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("go %s: %w", strings.Join(args, " "), waited)
	}
	return outcomes, err
}

// drawn matches the output of rapid for a property that held.
var drawn = regexp.MustCompile(`\[rapid\] OK, passed (\d+) tests`)

// read parses the events of go test -json; see go doc test2json.
func read(events io.Reader) (map[string]*outcome, error) {
	outcomes := map[string]*outcome{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test printed %q: %w", lines.Text(), err)
		}
		if e.Test == "" {
			continue
		}
		name, _, sub := strings.Cut(e.Test, "/")
		o := outcomes[name]
		if o == nil {
			o = new(outcome)
			outcomes[name] = o
		}
		switch e.Action {
		case "output":
			if found := drawn.FindStringSubmatch(e.Output); found != nil {
				n, _ := strconv.Atoi(found[1])
				o.cases += n
			}
		case "pass":
			if sub {
				o.subtests++
			} else if o.action == "" {
				o.action = e.Action
			}
		case "fail", "skip": // also of a subtest: a skipped test proves nothing
			o.action = e.Action
		}
	}
	return outcomes, lines.Err()
}
