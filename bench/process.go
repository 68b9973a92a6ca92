package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A generator is a program that is run as a whole process on so many types.
type generator struct {
	name   string
	source func(n int) string               // what it reads
	args   func(n int, out string) []string // how it is called, in the directory of its source
}

// hookgenOn runs hookgen as a person would.
var hookgenOn = generator{"hookgen",
	flowSpec,
	func(_ int, _ string) []string { return []string{"hookgen"} },
}

// others are the generators that hookgen is compared with, each on the same number of types.
var others = []generator{
	{"stringer", enums, func(n int, out string) []string {
		return []string{"stringer", "-type=" + list(n, "Kind%d", ","), "-output=" + out}
	}},
	{"mockgen -source", interfaces, func(_ int, out string) []string {
		return []string{"mockgen", "-source=in.go", "-package=big", "-destination=" + out}
	}},
	{"moq", interfaces, func(n int, out string) []string {
		return append([]string{"moq", "-out", out, "."}, strings.Fields(list(n, "Tool%d", " "))...)
	}},
	{"goverter", converters, func(_ int, _ string) []string { return []string{"goverter", "gen", "."} }},
}

func list(n int, format, between string) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(names, between)
}

// A workshop is where programs are built and run.
type workshop struct{ dir string }

// newWorkshop builds the generators. It must run in the directory of the bench.
func newWorkshop(dir string) (workshop, error) {
	w := workshop{dir}
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator),
		"github.com/hookgen/hookgen/cmd/hookgen", "golang.org/x/tools/cmd/stringer", "go.uber.org/mock/mockgen",
		"github.com/matryer/moq", "github.com/jmattheis/goverter/cmd/goverter")
	build.Stderr = os.Stderr
	return w, build.Run()
}

// A took is what one process took.
type took struct {
	wall, cpu time.Duration
}

// run runs a program of the workshop, or of the machine, in a directory.
func (w workshop) run(dir string, args ...string) (took, error) {
	program := filepath.Join(w.dir, args[0])
	if _, err := os.Stat(program); err != nil {
		program = args[0]
	}
	c := exec.Command(program, args[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	start := time.Now()
	err := c.Run()
	wall := time.Since(start)
	if err != nil {
		return took{}, fmt.Errorf("%s in %s: %w\n%s", strings.Join(args[:min(len(args), 4)], " "), dir, err, said.String())
	}
	r := c.ProcessState.SysUsage().(*syscall.Rusage)
	return took{wall, time.Duration(r.Utime.Nano() + r.Stime.Nano())}, nil
}

// module makes a module with one file.
func (w workshop) module(name, source string, requires ...string) (string, error) {
	dir := filepath.Join(w.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	mod := "module example.com/big\n\ngo 1.26.0\n" + strings.Join(requires, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "in.go"), []byte(source), 0o644)
}

// A race is a round of processes on n types.
type race struct {
	n    int
	runs []timing // of the whole process, in nanoseconds on the clock
	cpu  []timing // the same in processor time
}

// race runs the generators in turn.
func (w workshop) race(n, rounds int, gs ...generator) (race, error) {
	r := race{n: n, runs: make([]timing, len(gs)), cpu: make([]timing, len(gs))}
	dirs := make([]string, len(gs))
	for i, g := range gs {
		dir, err := w.module(fmt.Sprintf("%s-%d", strings.Fields(g.name)[0], n), g.source(n))
		if err != nil {
			return r, err
		}
		dirs[i] = dir
		r.runs[i].name, r.cpu[i].name = g.name, g.name
	}
	for range rounds {
		for i, g := range gs {
			for _, out := range []string{"out.go", "hooks_gen.go", "generated"} { // each starts from nothing
				if err := os.RemoveAll(filepath.Join(dirs[i], out)); err != nil {
					return r, err
				}
			}
			t, err := w.run(dirs[i], g.args(n, "out.go")...)
			if err != nil {
				return r, err
			}
			r.runs[i].rounds = append(r.runs[i].rounds, float64(t.wall))
			r.cpu[i].rounds = append(r.cpu[i].rounds, float64(t.cpu))
		}
	}
	return r, nil
}
