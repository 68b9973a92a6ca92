package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A generator is a program that is measured as a whole process on n types.
type generator struct {
	name   string
	source func(n int) string               // its input
	args   func(n int, out string) []string // its command line, in the directory of its source
}

// The generators with a bound.
const (
	nameHookgen  = "hookgen"
	nameStringer = "stringer"
	nameMockgen  = "mockgen -source"
)

// hookgenOn runs hookgen as a user would.
var hookgenOn = generator{nameHookgen,
	flowSpec,
	func(_ int, _ string) []string { return []string{"hookgen"} },
}

// stringerOn runs stringer on n types.
var stringerOn = generator{nameStringer, enums, func(n int, out string) []string {
	return []string{"stringer", "-type=" + list(n, "Kind%d", ","), "-output=" + out}
}}

// mockgenOn runs mockgen on a file of n interfaces.
var mockgenOn = generator{nameMockgen, interfaces, func(_ int, out string) []string {
	return []string{"mockgen", "-source=in.go", "-package=big", "-destination=" + out}
}}

func list(n int, format, between string) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(names, between)
}

// A workshop is a directory to build and run programs in.
type workshop struct {
	dir  string
	root string // of the repository
}

// newWorkshop builds the generators. Call it in the directory of the bench.
func newWorkshop(dir, root string) (workshop, error) {
	w := workshop{dir, root}
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator),
		"github.com/hookgen/hookgen/cmd/hookgen", "golang.org/x/tools/cmd/stringer", "go.uber.org/mock/mockgen")
	build.Env, build.Stderr = append(os.Environ(), "GOWORK=off"), os.Stderr
	return w, build.Run()
}

// A took holds the times of one process.
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
	return took{wall, c.ProcessState.UserTime() + c.ProcessState.SystemTime()}, nil
}

// module creates a module with one file, which requires the working copy of the repository.
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

// requireKit returns the requirements of a module that compiles against the working copy.
func (w workshop) requireKit() []string {
	return []string{
		"require github.com/hookgen/hookgen v0.0.0", "replace github.com/hookgen/hookgen => " + strconv.Quote(w.root),
	}
}

// A race holds the results of processes that ran in turn.
type race struct {
	entries []entry
}

// An entry is a generator on n types.
type entry struct {
	name string
	n    int
	wall timing // of the whole process, in nanoseconds on the clock
	cpu  timing // processor time
}

// An entrant is a generator that runs on n types.
type entrant struct {
	generator
	n int
}

// race runs the entrants in turn, each from no output.
func (w workshop) race(rounds int, all []entrant) (race, error) {
	r := race{make([]entry, len(all))}
	dirs := make([]string, len(all))
	for i, g := range all {
		var requires []string
		if g.name == nameHookgen {
			requires = w.requireKit()
		}
		dir, err := w.module(fmt.Sprintf("%s-%d", strings.Fields(g.name)[0], g.n), g.source(g.n), requires...)
		if err != nil {
			return r, err
		}
		dirs[i] = dir
		r.entries[i] = entry{g.name, g.n, timing{name: g.name}, timing{name: g.name}}
	}
	for round := range rounds {
		for k := range all {
			i := (k + round) % len(all)
			for _, out := range []string{"out.go", "hooks_gen.go"} {
				if err := os.RemoveAll(filepath.Join(dirs[i], out)); err != nil {
					return r, err
				}
			}
			t, err := w.run(dirs[i], all[i].args(all[i].n, "out.go")...)
			if err != nil {
				return r, err
			}
			e := &r.entries[i]
			e.wall.rounds = append(e.wall.rounds, float64(t.wall))
			e.cpu.rounds = append(e.cpu.rounds, float64(t.cpu))
		}
	}
	return r, nil
}
