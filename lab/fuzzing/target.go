package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookgen/hookgen/lab/figures"
)

// A target is a fuzz function.
type target struct {
	Package string // its folder below the root of the repository, with slashes
	Name    string
}

func (t target) String() string { return t.Package + " " + t.Name }

// find returns the targets of the module in root that git knows, by package and name.
func find(root string) ([]target, error) {
	modules, err := figures.Git(root, "ls-files", "*/go.mod")
	if err != nil {
		return nil, err
	}
	declared, err := figures.Git(root, "grep", "-E", `^func Fuzz[A-Za-z0-9_]+\([a-z]+ \*testing\.F\)`, "--", "*_test.go",
		":!*/testdata/*")
	if err != nil {
		return nil, err
	}
	var found []target
	for line := range strings.Lines(declared) {
		file, declaration, _ := strings.Cut(line, ":func ")
		name, _, _ := strings.Cut(declaration, "(")
		foreign := slices.ContainsFunc(strings.Fields(modules), func(mod string) bool {
			return strings.HasPrefix(file, path.Dir(mod)+"/")
		})
		if !foreign {
			found = append(found, target{path.Dir(file), name})
		}
	}
	slices.SortFunc(found, func(a, b target) int {
		return strings.Compare(a.String(), b.String())
	})
	return found, nil
}

// A result is the outcome of one run of a target.
type result struct {
	Elapsed    time.Duration
	Executions int64
	Inputs     int      // inputs that cover new code, committed and cached
	Failed     []string // the inputs that failed
}

// fuzz runs the target. An interrupted run counts with its actual time.
func (t target) fuzz(ctx context.Context, each time.Duration) (result, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "1s", // for each new input; the default is a minute
		"-parallel", "1", "./"+t.Package)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // go forwards it to its test
	cmd.WaitDelay = 20 * time.Second
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	fmt.Println(cmd)
	var failure error
	go func() {
		failure = cmd.Run()
		in.Close()
	}()
	ran, text := read(io.TeeReader(out, os.Stdout))
	if failure != nil && len(ran.Failed) == 0 && ran.Executions == 0 {
		return ran, fmt.Errorf("%s %s did not run: %w\n%s", t.Package, t.Name, failure, text)
	}
	return ran, nil
}

var (
	progress = regexp.MustCompile(`^fuzz: elapsed: (\S+), execs: (\d+) .*\(total: (\d+)\)`)
	written  = regexp.MustCompile(`^\s*Failing input written to testdata/fuzz/\S+/(\S+)`)
	ofSeed   = regexp.MustCompile(`^failure while testing seed corpus entry: \S+/(\S+)`)
)

// read parses the output of go test -fuzz. It converts times to those of one worker, and returns the text too. go
// test reports a failure when the time is up; read does not, because only inputs can fail.
func read(out io.Reader) (ran result, text string) {
	var all strings.Builder
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if m := progress.FindStringSubmatch(line); m != nil {
			ran.Elapsed, _ = time.ParseDuration(m[1])
			ran.Executions, _ = strconv.ParseInt(m[2], 10, 64)
			ran.Inputs, _ = strconv.Atoi(m[3])
		}
		for _, found := range []*regexp.Regexp{written, ofSeed} {
			if m := found.FindStringSubmatch(line); m != nil {
				ran.Failed = append(ran.Failed, m[1])
			}
		}
		if err != nil {
			return ran, all.String()
		}
	}
}
