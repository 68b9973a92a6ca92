package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// tried returns the table of the tests that tried the promises of the security hooks, with their numbers of inputs. It
// runs these tests, which takes about a minute.
func tried(m meter) (string, error) {
	outcomes := map[string]map[string]*outcome{} // by room and name
	if m {
		for room, names := range testsByRoom() {
			fmt.Fprintf(os.Stderr, "%d tests of builtin/%s\n", len(names), room)
			var err error
			if outcomes[room], err = goTest(".", "builtin/"+room, names); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n| hook | tried with | inputs | as promised |\n|---|---|---:|---:|\n", m.made("trials"))
	for _, t := range trials {
		c := count{tried: 1}
		if m {
			var err error
			if c, err = t.count(outcomes[t.room]); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.hook, t.with, m.figure("%d", c.tried),
			m.figure("%s", share(c.kept, c.tried)))
	}
	return b.String(), nil
}

// testsByRoom returns the tests of all trials, each once.
func testsByRoom() map[string][]string {
	all := map[string][]string{}
	for _, t := range trials {
		all[t.room] = append(all[t.room], t.tests...)
	}
	for room, names := range all {
		slices.Sort(names)
		all[room] = slices.Compact(names)
	}
	return all
}

// A count is the result of a trial.
type count struct{ tried, kept int }

// count adds up the inputs of the tests, which have passed. A test that counts its inputs says so by the attributes
// tried and kept. The inputs of the others are their subtests.
func (t trial) count(outcomes map[string]*outcome) (count, error) {
	var sum count
	for _, name := range t.tests {
		o := outcomes[name]
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

// A trial is a row of the table of trials: a security hook, and some tests that tried it.
type trial struct {
	hook  string // package and type
	with  string // the inputs
	room  string // the package of builtin that has the tests
	tests []string
}

// trials are the rows for all security hooks.
var trials = readTrials()

//go:embed trials.txt
var trialsText string

func readTrials() (all []trial) {
	for line := range strings.Lines(trialsText) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 4 && line[0] != '#' {
			all = append(all, trial{cells[0], cells[1], cells[2], strings.Fields(cells[3])})
		}
	}
	return all
}
