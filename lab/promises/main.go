// Command promises writes the tables of docs/evidence/security.md: what each security hook promises, and the tests that
// tried it with their numbers of inputs. Run it from the root of the repository:
//
//	go run ./lab/promises
//
// It runs the tests that hooks.go names, which takes about a minute.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/internal/testrun"
	"github.com/hookgen/hookgen/lab/figures"
)

const page = "docs/evidence/security.md"

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "promises:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	outcomes, err := play(root)
	if err != nil {
		return err
	}
	rows, err := trials(outcomes)
	if err != nil {
		return err
	}
	return figures.ReplacePart(filepath.Join(root, filepath.FromSlash(page)), "promises", promises()+rows)
}

// play runs the tests of all hooks, package by package, and returns their outcomes by package and name.
func play(root string) (map[string]map[string]*testrun.Outcome, error) {
	tests := make(map[string][]string)
	for _, h := range hooks {
		for _, t := range h.trials {
			tests[t.dir] = append(tests[t.dir], t.tests...)
		}
	}
	outcomes := make(map[string]map[string]*testrun.Outcome)
	for dir, names := range tests {
		slices.Sort(names)
		only := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
		fmt.Fprintf(os.Stderr, "%d tests of %s\n", len(names), dir)
		var err error
		if outcomes[dir], err = testrun.Go(root, "-count=1", "-run", only, "./"+dir); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

// promises returns the table of the promises.
func promises() string {
	var b strings.Builder
	b.WriteString("\n| hook | promises | against | does not promise |\n|---|---|---|---|\n")
	for _, h := range hooks {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", h.name, h.promise, h.against, h.not)
	}
	return b.String()
}

// trials returns the table of the trials.
func trials(outcomes map[string]map[string]*testrun.Outcome) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nMade by `go run ./lab/promises` on %s/%s with %s.\n\n| hook | tried with | inputs | as promised | "+
		"time for each |\n|---|---|---:|---:|---:|\n", runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, h := range hooks {
		for _, t := range h.trials {
			c, err := t.count(outcomes[t.dir])
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %.1f %% | %s |\n", h.name, t.with, c.tried,
				100*float64(c.kept)/float64(c.tried), rounded(c.time/time.Duration(c.tried)))
		}
	}
	return b.String(), nil
}

// A count is the result of a trial.
type count struct {
	tried, kept int
	time        time.Duration
}

// count adds up the inputs of the tests. A test that counts its inputs says so by the attributes tried and kept. The
// inputs of the others are their subtests, and all of them must pass.
func (t trial) count(outcomes map[string]*testrun.Outcome) (count, error) {
	var sum count
	for _, name := range t.tests {
		o := outcomes[name]
		if o == nil || o.Action != "pass" {
			return sum, fmt.Errorf("%s has not passed; run go test -run '^%s$' ./%s", name, name, t.dir)
		}
		sum.time += o.Time
		if o.Attrs["tried"] == "" {
			sum.tried, sum.kept = sum.tried+max(o.Listed, 1), sum.kept+max(o.Listed, 1)
			continue
		}
		tried, err := strconv.Atoi(o.Attrs["tried"])
		kept, err2 := strconv.Atoi(o.Attrs["kept"])
		if err = errors.Join(err, err2); err != nil || tried == 0 {
			return sum, fmt.Errorf("%s tried %d inputs: %w", name, tried, err)
		}
		sum.tried, sum.kept = sum.tried+tried, sum.kept+kept
	}
	return sum, nil
}

// rounded returns a duration with its first digit. Durations below 10 microseconds depend on the load of the machine.
func rounded(d time.Duration) string {
	unit := 10 * time.Microsecond
	for d >= 10*unit {
		unit *= 10
	}
	if d = d.Round(unit); d == 0 {
		return "< 10µs"
	}
	return d.String()
}
