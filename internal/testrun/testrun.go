// Package testrun runs tests and counts their cases, for pages that say how something was tried.
package testrun

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
)

// An Outcome is the result of one test function.
type Outcome struct {
	Action string            // pass, fail or skip; fail or skip also if a subtest failed or was skipped
	Drawn  int               // cases that rapid drew
	Listed int               // subtests
	Attrs  map[string]string // of testing.T.Attr
}

// Go runs tests of the package in dir, a folder below root, with further arguments of go test. It returns the outcome
// of each test by its name, and an error if one of the named tests has not passed.
func Go(root, dir string, names []string, args ...string) (map[string]*Outcome, error) {
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1", "-run", Only(names), "./" + dir}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outcomes, err := Read(out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), waited)
	}
	if err != nil {
		return nil, err
	}
	return outcomes, passed(outcomes, dir, names)
}

// Only returns the expression for -run that matches the named tests.
func Only(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// passed returns an error if one of the named tests has not passed.
func passed(outcomes map[string]*Outcome, dir string, names []string) error {
	for _, name := range names {
		if o := outcomes[name]; o == nil || o.Action != "pass" {
			return fmt.Errorf("%s has not passed; run go test -run '^%s$' ./%s", name, name, dir)
		}
	}
	return nil
}

// drawn matches the output of rapid for a property that held.
var drawn = regexp.MustCompile(`\[rapid\] OK, passed (\d+) tests`)

// Read parses the events of go test -json; see go doc test2json.
func Read(events io.Reader) (map[string]*Outcome, error) {
	outcomes := map[string]*Outcome{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Action, Test, Output, Key, Value string
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("go test printed %q: %w", lines.Text(), err)
		}
		if e.Test == "" {
			continue
		}
		name, _, sub := strings.Cut(e.Test, "/")
		o := outcomes[name]
		if o == nil {
			o = &Outcome{Attrs: map[string]string{}}
			outcomes[name] = o
		}
		o.event(e.Action, e.Output, sub)
		if e.Action == "attr" {
			o.Attrs[e.Key] = e.Value
		}
	}
	return outcomes, lines.Err()
}

func (o *Outcome) event(action, output string, sub bool) {
	switch action {
	case "output":
		if found := drawn.FindStringSubmatch(output); found != nil {
			n, _ := strconv.Atoi(found[1])
			o.Drawn += n
		}
	case "pass":
		if sub {
			o.Listed++
		} else if o.Action == "" {
			o.Action = action
		}
	case "fail", "skip": // also of a subtest: a skipped test proves nothing
		o.Action = action
	}
}
