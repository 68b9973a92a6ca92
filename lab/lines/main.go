// Command lines counts the lines of Go code of each package, without tests, generated code, testdata and examples. Run
// it from the root of the repository:
//
//	go run ./lab/lines [DIR...]
//
// A line of code is neither blank nor a comment. The share of comments is that of all lines that are not blank. Without
// folders, the command counts all packages and adds the totals of the core and of the repository.
package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// others matches the files that are not counted.
var others = regexp.MustCompile(`_test\.go$|_gen\.go$|/testdata/|(^|/)examples?/`)

// core matches the packages of the core.
var core = regexp.MustCompile(`^(gen|hookkit|hooktest|hookvet|cmd/hookgen|cmd/hookvet)(/|$)|^spec$`)

// A count is the number of lines of a package, or of several.
type count struct {
	name           string
	code, comments int
}

// share is the share of comments, in percent.
func (c count) share() float64 { return 100 * float64(c.comments) / float64(max(1, c.code+c.comments)) }

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lines:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dirs []string) error {
	counts, err := countAll(dirs)
	if err != nil {
		return err
	}
	for _, c := range counts {
		fmt.Fprintf(out, "%7d  %4.1f %% comments  %s\n", c.code, c.share(), c.name)
	}
	return nil
}

// countAll counts the lines of the work tree. The totals follow the packages, unless folders are given.
func countAll(dirs []string) ([]*count, error) {
	code, err := grep(dirs, "-v", `^[[:space:]]*(//.*)?$`)
	if err != nil {
		return nil, err
	}
	comments, err := grep(dirs, `^[[:space:]]*//`)
	if err != nil {
		return nil, err
	}
	packages := map[string]*count{}
	ofCore, all := &count{name: "core"}, &count{name: "all"}
	for file, n := range code {
		dir := path.Dir(file)
		if packages[dir] == nil {
			packages[dir] = &count{name: dir}
		}
		of := []*count{packages[dir], all}
		if core.MatchString(dir) {
			of = append(of, ofCore)
		}
		for _, c := range of {
			c.code, c.comments = c.code+n, c.comments+comments[file]
		}
	}
	var counts []*count
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		counts = append(counts, packages[dir])
	}
	if len(dirs) == 0 {
		counts = append(counts, ofCore, all)
	}
	return counts, nil
}

// grep returns the number of lines of each counted file that git grep finds with the arguments.
func grep(dirs []string, args ...string) (map[string]int, error) {
	args = append([]string{"grep", "-c", "-E"}, args...)
	out, err := exec.Command("git", append(append(args, "--"), dirs...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) == 0 { // no file has such a line
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("git grep: %w", err)
	}
	lines := map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(string(out))) {
		file, number, _ := strings.Cut(strings.TrimSpace(line), ":")
		if path.Ext(file) == ".go" && !others.MatchString(file) {
			if lines[file], err = strconv.Atoi(number); err != nil {
				return nil, err
			}
		}
	}
	return lines, nil
}
