package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A binary is a compiled test package.
type binary struct {
	path, dir string
	args      []string
}

// A test is one top-level test.
type test struct {
	in      *binary
	name    string
	took    time.Duration
	reached []byte // by ID
	breadth int    // the number of mutants that it reaches
}

// reach reports whether the test runs the code of the mutant.
func (t *test) reach(m mutant) bool { return m.ID < len(t.reached) && t.reached[m.ID] != 0 }

// The outcome of a mutant.
type fate string

const (
	killed   fate = "killed"
	timedOut fate = "timed out"
	survived fate = "survived"
	missed   fate = "not reached by any test"
)

// Time limits of one test. A test that takes too long without mutants is not used.
const (
	longest  = 20 * time.Second
	patience = 2 * time.Second
	together = 100 * time.Millisecond // faster tests share one process
)

// memory is the memory limit of a process in KiB, because a mutant may append forever.
const memory = 6 << 20

// start runs a test binary and returns its output. The error is context.DeadlineExceeded if the process was
// stopped.
func (b *binary) start(env string, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	all := append([]string{
		"-c", `ulimit -v ` + strconv.Itoa(memory) + `; exec "$0" "$@"`, b.path, "-test.timeout=0",
	}, args...)
	cmd := exec.CommandContext(ctx, "/bin/sh", append(all, b.args...)...)
	cmd.Dir = b.dir
	scratch, err := os.MkdirTemp(filepath.Dir(b.path), "scratch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	cmd.Env = append(os.Environ(), env, "GOMAXPROCS=1", "TMPDIR="+scratch)
	endTogether(cmd)
	cmd.WaitDelay = 200 * time.Millisecond
	var out bytes.Buffer
	both := &head{to: &out}
	cmd.Stdout, cmd.Stderr = both, both
	err = cmd.Run()
	if ctx.Err() != nil {
		return out.String(), context.DeadlineExceeded
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), err
}

// head keeps the first part of the output.
type head struct{ to *bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if h.to.Len() < 1<<20 {
		h.to.Write(p)
	}
	return len(p), nil
}

// compile builds the test packages of a part with its mutants in them.
func (w *planted) compile(root string) ([]*binary, error) {
	var all []*binary
	for i, t := range w.tests {
		b := &binary{path: filepath.Join(w.temp, fmt.Sprintf("%d.test", i)), dir: filepath.Join(root, t.dir), args: t.args}
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", w.overlay, "-o", b.path, "./"+t.dir)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", t.dir, err, out)
		}
		if help, _ := b.start("HOOKGEN_MUTANT=0", time.Minute, "-test.list=^$", "-h"); strings.Contains(help, "-rapid.seed") {
			// the same draws each time; a counterexample need not be minimal
			b.args = append([]string{"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ns"}, b.args...)
		}
		all = append(all, b)
	}
	return all, nil
}

// record runs every test on its own and records the mutants that it reaches. It drops tests that fail or take too
// long.
func (w *planted) record(binaries []*binary, log io.Writer) ([]*test, error) {
	var all []*test
	for _, b := range binaries {
		out, err := b.start("HOOKGEN_MUTANT=0", time.Minute, "-test.list=.")
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", b.dir, err, out)
		}
		for _, name := range regexp.MustCompile(`(?m)^(Test|Fuzz|Example)\S*`).FindAllString(out, -1) {
			t, out, err := b.reaches(name, filepath.Join(w.temp, "reached"))
			if err != nil {
				fmt.Fprintf(log, "left out: %s of %s: %v\n", name, b.dir, err)
				if !errors.Is(err, context.DeadlineExceeded) {
					fmt.Fprint(log, out)
				}
				continue
			}
			if t.breadth > 0 {
				all = append(all, t)
			}
		}
	}
	return all, nil
}

// reaches runs one test and records the mutants that it reaches.
func (b *binary) reaches(name, file string) (*test, string, error) {
	_ = os.Remove(file)
	start := time.Now()
	out, err := b.start("HOOKGEN_MUTANTS_REACHED="+file, longest, "-test.run=^"+name+"$")
	t := &test{in: b, name: name, took: time.Since(start)}
	t.reached, _ = os.ReadFile(file)
	t.breadth = bytes.Count(t.reached, []byte{1})
	return t, out, err
}

// try runs the tests that reach a mutant until one finds it, and returns that test. It starts with the few tests
// that reach the fewest mutants, because they are the most specific. Then come the fast ones, then the slow ones,
// one by one.
func try(m mutant, binaries []*binary, all []*test) fate {
	var reach []*test
	for _, t := range all {
		if t.reach(m) {
			reach = append(reach, t)
		}
	}
	if len(reach) == 0 {
		return missed
	}
	slices.SortStableFunc(reach, func(a, b *test) int { return cmp.Compare(a.breadth, b.breadth) })
	quick := slices.DeleteFunc(slices.Clone(reach), func(t *test) bool { return t.took > together })
	slow := slices.DeleteFunc(reach, func(t *test) bool { return t.took <= together })
	slices.SortFunc(slow, func(a, b *test) int { return cmp.Compare(a.took, b.took) })
	for _, some := range [][]*test{quick[:min(few, len(quick))], quick[min(few, len(quick)):]} {
		for _, b := range binaries {
			here := slices.DeleteFunc(slices.Clone(some), func(t *test) bool { return t.in != b })
			if f := m.run(b, here...); f != survived {
				return f
			}
		}
	}
	for _, t := range slow {
		if f := m.run(t.in, t); f != survived {
			return f
		}
	}
	return survived
}

// few is the number of tests in the first run.
const few = 4

// run runs tests of one binary with the mutant.
func (m mutant) run(b *binary, tests ...*test) fate {
	if len(tests) == 0 {
		return survived
	}
	var names []string
	var took time.Duration
	for _, t := range tests {
		names, took = append(names, t.name), took+t.took
	}
	_, err := b.start("HOOKGEN_MUTANT="+strconv.Itoa(m.ID), patience+10*took, "-test.failfast",
		"-test.run=^("+strings.Join(names, "|")+")$")
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut
	case err != nil:
		return killed
	}
	return survived
}
