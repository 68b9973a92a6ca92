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
	"syscall"
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
	reaches []byte // by ID
}

// reach reports whether the test runs the code of the mutant.
func (t *test) reach(m mutant) bool { return m.ID < len(t.reaches) && t.reaches[m.ID] != 0 }

// The fate of a mutant.
type fate string

const (
	killed   fate = "killed"
	timedOut fate = "timed out"
	survived fate = "survived"
	missed   fate = "not reached by any test"
)

// limits of one test: one that takes longer by itself is left out, and one is never stopped before the other.
const (
	longest  = 8 * time.Second
	patience = 2 * time.Second
	together = 100 * time.Millisecond // tests quicker than that are run in one process
)

// memory is what a process may take, in KiB: mutants that never stop to append must not harm the machine.
const memory = 6 << 20

// start runs a test binary and returns what it printed, and context.DeadlineExceeded if it was stopped.
func (b *binary) start(env string, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	all := append([]string{"-c", `ulimit -v ` + strconv.Itoa(memory) + `; exec "$0" "$@"`, b.path, "-test.timeout=0"}, args...)
	cmd := exec.CommandContext(ctx, "/bin/sh", append(all, b.args...)...)
	cmd.Dir = b.dir
	scratch := filepath.Join(filepath.Dir(b.path), "scratch")
	defer os.RemoveAll(scratch)
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return "", err
	}
	cmd.Env = append(os.Environ(), env, "GOMAXPROCS=1", "TMPDIR="+scratch)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // and what it has started
	cmd.WaitDelay = 200 * time.Millisecond
	var out bytes.Buffer
	both := &head{to: &out}
	cmd.Stdout, cmd.Stderr = both, both
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.String(), context.DeadlineExceeded
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), err
}

// head keeps the first part of what is written.
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
			// the same draws each time; a counterexample is enough, however large
			b.args = append([]string{"-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ns"}, b.args...)
		}
		all = append(all, b)
	}
	return all, nil
}

// record runs every test by itself and notes what it reaches; tests that fail or take long are left out.
func (w *planted) record(binaries []*binary, log io.Writer) ([]*test, error) {
	var all []*test
	for _, b := range binaries {
		out, err := b.start("HOOKGEN_MUTANT=0", time.Minute, "-test.list=.")
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", b.dir, err, out)
		}
		for _, name := range strings.Fields(out) {
			if !regexp.MustCompile(`^(Test|Fuzz|Example)`).MatchString(name) {
				continue
			}
			file := filepath.Join(w.temp, "reached")
			_ = os.Remove(file)
			start := time.Now()
			out, err := b.start("HOOKGEN_MUTANTS_REACHED="+file, longest, "-test.run=^"+name+"$")
			t := &test{in: b, name: name, took: time.Since(start)}
			if err != nil {
				fmt.Fprintf(log, "left out: %s of %s: %v\n", name, b.dir, err)
				if !errors.Is(err, context.DeadlineExceeded) {
					fmt.Fprint(log, out)
				}
				continue
			}
			if t.reaches, _ = os.ReadFile(file); slices.Contains(t.reaches, 1) {
				all = append(all, t)
			}
		}
	}
	return all, nil
}

// try runs the tests that reach a mutant, the quick ones first, until one finds it, which it returns.
func try(m mutant, binaries []*binary, all []*test) (fate, string) {
	env := "HOOKGEN_MUTANT=" + strconv.Itoa(m.ID)
	found := missed
	var slow []*test
	for _, b := range binaries {
		var names []string
		var took time.Duration
		for _, t := range all {
			switch {
			case t.in != b || !t.reach(m):
			case t.took > together:
				slow = append(slow, t)
			default:
				names, took = append(names, t.name), took+t.took
			}
		}
		if len(names) == 0 {
			continue
		}
		found = survived
		if f := verdict(b.start(env, patience+10*took, "-test.failfast", "-test.run=^("+strings.Join(names, "|")+")$")); f != survived {
			return f, filepath.Base(b.dir)
		}
	}
	slices.SortFunc(slow, func(a, b *test) int { return cmp.Compare(a.took, b.took) })
	for _, t := range slow {
		found = survived
		if f := verdict(t.in.start(env, patience+10*t.took, "-test.failfast", "-test.run=^"+t.name+"$")); f != survived {
			return f, filepath.Base(t.in.dir) + "." + t.name
		}
	}
	return found, ""
}

func verdict(_ string, err error) fate {
	switch {
	case err == nil:
		return survived
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut
	}
	return killed
}
