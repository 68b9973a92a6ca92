package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// An outcome is the result of one test function.
type outcome struct {
	Action string            // pass, fail or skip; fail or skip also if a subtest failed or was skipped
	Listed int               // subtests
	Attrs  map[string]string // of testing.T.Attr
}

// goTest runs tests of the package in dir, a folder below root, with further arguments of go test. It returns the
// outcome of each test by its name, and an error if one of the named tests has not passed.
func goTest(root, dir string, names []string, args ...string) (map[string]*outcome, error) {
	cmd := exec.Command("go", append([]string{"test", "-json", "-count=1", "-run", only(names), "./" + dir}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	outcomes, err := readEvents(out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), waited)
	}
	if err != nil {
		return nil, err
	}
	return outcomes, passed(outcomes, dir, names)
}

// only returns the expression for -run that matches the named tests.
func only(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// passed returns an error if one of the named tests has not passed.
func passed(outcomes map[string]*outcome, dir string, names []string) error {
	for _, name := range names {
		if o := outcomes[name]; o == nil || o.Action != "pass" {
			return fmt.Errorf("%s has not passed; run go test -run '^%s$' ./%s", name, name, dir)
		}
	}
	return nil
}

// readEvents parses the events of go test -json; see go doc test2json.
func readEvents(events io.Reader) (map[string]*outcome, error) {
	outcomes := map[string]*outcome{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Action, Test, Key, Value string
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
			o = &outcome{Attrs: map[string]string{}}
			outcomes[name] = o
		}
		o.event(e.Action, sub)
		if e.Action == "attr" {
			o.Attrs[e.Key] = e.Value
		}
	}
	return outcomes, lines.Err()
}

func (o *outcome) event(action string, sub bool) {
	switch action {
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
