package main

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A target is a fuzz function.
type target struct {
	Package string // its folder below the root of the repository, with slashes
	Name    string
}

// find returns the targets of the module in root, by package and name.
func find(root string) ([]target, error) {
	var found []target
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == root {
				return nil
			}
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if name := d.Name(); other == nil || name == "testdata" || name[0] == '.' || name[0] == '_' {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") &&
				len(f.Type.Params.List) == 1 {
				found = append(found, target{filepath.ToSlash(folder), f.Name.Name})
			}
		}
		return nil
	})
	slices.SortFunc(found, func(a, b target) int {
		return strings.Compare(a.Package+" "+a.Name, b.Package+" "+b.Name)
	})
	return found, err
}

// A result is the outcome of one run of a target.
type result struct {
	Elapsed    time.Duration // of all workers together
	Executions int64
	Inputs     int      // inputs that cover new code, committed and cached
	Failed     []string // the inputs that failed
}

// fuzz runs the target. An interrupted run counts with its actual time.
func (t target) fuzz(ctx context.Context, each time.Duration, parallel int) (result, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.Name+"$", "-fuzztime", each.String(),
		"-fuzzminimizetime", "1s", // for each new input; the default is a minute
		"-parallel", strconv.Itoa(parallel), "./"+t.Package)
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
	ran.Elapsed *= time.Duration(parallel)
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
