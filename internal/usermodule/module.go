// Package usermodule creates modules that depend on this one, like those of a user. They are in temporary
// directories, so that this repository's go.work does not apply. Tests that build, vet or run user code begin with
// New.
package usermodule

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Path is the path of this repository's module.
const Path = "github.com/hookgen/hookgen"

// A Module is a directory with a user's module.
type Module struct {
	Dir string
	t   testing.TB
	env []string // added to the environment of commands
}

// New makes an empty directory. The environment variables are for the commands that run there.
func New(t testing.TB, env ...string) *Module {
	t.Helper()
	return &Module{t.TempDir(), t, append([]string{"GOWORK=off", "GOFLAGS=-mod=mod"}, env...)}
}

// Init writes a go.mod that requires this module and replaces it by its directory on this machine.
func (m *Module) Init(path string) {
	m.t.Helper()
	readSources(m.t)
	root := Root(m.t)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.Write("go.sum", string(sums))
	m.Write("go.mod", "module "+path+"\n\ngo 1.26.0\n\nrequire "+Path+" v0.0.0\n\n"+
		"replace "+Path+" => "+strconv.Quote(root)+"\n") // it may have blanks
}

// In returns the module with dir as the working directory of commands and the base of file names.
func (m *Module) In(dir string) *Module {
	return &Module{filepath.Join(m.Dir, filepath.FromSlash(dir)), m.t, m.env}
}

// Write writes a file, and makes its directory if needed.
func (m *Module) Write(name, text string) {
	m.t.Helper()
	name = filepath.Join(m.Dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// Read returns the text of a file.
func (m *Module) Read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(name)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// Try runs a command in the directory and returns its output.
func (m *Module) Try(command ...string) (string, error) {
	cmd := exec.CommandContext(m.t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = m.Dir, append(os.Environ(), m.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Run is like Try for a command that must succeed.
func (m *Module) Run(command ...string) string {
	m.t.Helper()
	out, err := m.Try(command...)
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return out
}

// Root returns the directory of this repository: the nearest one above the test with the go.mod of [Path].
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+Path+"\n") {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the test runs outside of the repository")
		}
		dir = parent
	}
}

// BuildHookgen builds the command hookgen and returns the path of the program.
func BuildHookgen(t testing.TB) string { return Build(t, "hookgen") }

// Build builds a command of this repository and returns the path of the program, which has the name of the command.
func Build(t testing.TB, command string) string {
	t.Helper()
	readSources(t)
	path := filepath.Join(t.TempDir(), command)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, "./cmd/"+command)
	cmd.Dir = Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// readSources reads the files that other processes compile. The go command caches a test result until a file
// changes that the test itself has read.
func readSources(t testing.TB) {
	t.Helper()
	for _, dir := range []string{"cmd", "gen", "generated", "hookkit", "hookvet", "spec"} {
		err := filepath.WalkDir(filepath.Join(Root(t), dir), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return fs.SkipDir
			case !entry.IsDir():
				_, err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
