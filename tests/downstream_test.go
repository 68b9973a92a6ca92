package tests

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/hookgen/hookgen"

// A downstream is a user's module, in a directory of its own, where no go.work reaches it.
type downstream struct {
	t   *testing.T
	dir string
	env []string // beside the process's
}

func newDownstream(t *testing.T, env ...string) *downstream {
	t.Helper()
	return &downstream{t, t.TempDir(), append([]string{"GOWORK=off", "GOFLAGS=-mod=mod"}, env...)}
}

// requireThisModule writes a go.mod that replaces the module by this directory's.
func (d *downstream) requireThisModule() {
	d.t.Helper()
	d.write("go.mod", "module example.com/downstream\n\ngo 1.26.0\n\n"+
		"require "+modulePath+" v0.0.0\n\nreplace "+modulePath+" => "+root(d.t)+"\n")
}

// in is the module, with commands run in a directory of it.
func (d *downstream) in(dir string) *downstream {
	return &downstream{d.t, filepath.Join(d.dir, filepath.FromSlash(dir)), d.env}
}

// write writes a file of the module.
func (d *downstream) write(name, text string) {
	d.t.Helper()
	name = filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// read returns the text of a file of the module.
func (d *downstream) read(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// try runs a command in the module's directory and returns all that it printed.
func (d *downstream) try(command ...string) (string, error) {
	cmd := exec.CommandContext(d.t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = d.dir, append(os.Environ(), d.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run is try for a command that must succeed.
func (d *downstream) run(command ...string) string {
	d.t.Helper()
	out, err := d.try(command...)
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return out
}

// root is the directory of this module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// readModule reads what other processes will: the go command repeats a test's last result as long as what the test itself
// has read is the same.
func readModule(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd/hookgen", "gen", "hookkit", "spec"} {
		err := filepath.WalkDir(filepath.Join(root(t), dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// buildHookgen builds the command and returns its path.
func buildHookgen(t *testing.T) string {
	t.Helper()
	readModule(t)
	path := filepath.Join(t.TempDir(), "hookgen.exe")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, "./cmd/hookgen")
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// all returns the files of the module but go.mod and go.sum, which the go command may write to.
func (d *downstream) all() map[string]string {
	d.t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "go.mod" && name != "go.sum" {
			files[name] = d.read(name)
		}
	}
	return files
}

// keeps runs the road of a new user behind init: no file that init wrote is edited, and the code generated from
// the spec is what go generate makes of it.
func (d *downstream) keeps() {
	d.t.Helper()
	before := d.all()
	d.run("go", "mod", "tidy")
	if out := d.run("go", "test", "./..."); !strings.HasPrefix(out, "ok") {
		d.t.Errorf("go test printed %s", out)
	}
	d.run("go", "vet", "./...")
	if out := d.run("go", "generate", "./..."); !strings.HasPrefix(out, "unchanged hooks_gen.go: 2 points") {
		d.t.Errorf("go generate printed %s", out)
	}
	if out := d.run("go", "tool", "hookgen", "check"); !strings.HasPrefix(out, "fresh hooks_gen.go") {
		d.t.Errorf("hookgen check printed %s", out)
	}
	for name, text := range d.all() {
		if text != before[name] {
			d.t.Errorf("%s is no longer as init wrote it", name)
		}
	}
}

// generates changes the spec and expects that go generate follows it.
func (d *downstream) generates() {
	d.t.Helper()
	d.write("spec.go", strings.Replace(d.read("spec.go"), "\tOnSent(Message)\n", "\tOnSent(Message)\n\n\t// OnRead fires when a message was read.\n\tOnRead(Message)\n", 1))
	if out, err := d.try("go", "test", "./..."); err == nil || !strings.Contains(out, guard) {
		d.t.Errorf("with a stale file, go test: %v\n%s", err, out)
	}
	if out := d.run("go", "generate", "./..."); !strings.HasPrefix(out, "wrote hooks_gen.go: 3 points") {
		d.t.Errorf("go generate printed %s", out)
	}
	d.run("go", "test", "./...")
}

func TestANewModuleWithAReplaceLine(t *testing.T) {
	t.Parallel()
	hookgen := buildHookgen(t)

	t.Run("added to the go.mod that init wrote", func(t *testing.T) {
		d := newDownstream(t)
		d.run(hookgen, "init")
		d.run("go", "mod", "edit", "-replace", modulePath+"="+root(t))
		d.keeps()
		d.generates()
	})

	t.Run("in a go.mod that was there", func(t *testing.T) {
		d := newDownstream(t)
		d.run("go", "mod", "init", "example.com/downstream")
		d.run("go", "mod", "edit", "-replace", modulePath+"="+root(t))
		out := d.run(hookgen, "init")
		d.run("go", "mod", "tidy")
		d.run("go", "test", "./...")
		if !strings.Contains(out, "go get -tool "+modulePath+"/cmd/hookgen") {
			t.Errorf("init does not say how go generate gets its tool:\n%s", out)
		}
		d.run("go", "mod", "edit", "-tool", modulePath+"/cmd/hookgen") // what go get -tool does, without asking for a newer version
		d.keeps()
	})
}

func TestANewModuleThroughAModuleProxy(t *testing.T) {
	t.Parallel()
	const version = "v0.1.0"
	proxy := newModuleProxy(t, version)
	d := newDownstream(t, proxy.env()...)
	d.env = append(d.env, "GOBIN="+t.TempDir())

	d.run("go", "run", modulePath+"/cmd/hookgen@"+version, "init")
	if !strings.Contains(d.read("go.mod"), "require "+modulePath+" "+version+"\n") {
		t.Errorf("the go.mod of init does not require the version that wrote it:\n%s", d.read("go.mod"))
	}
	d.keeps()
	d.generates()
	if text := d.read("go.mod"); strings.Contains(text, "replace") {
		t.Errorf("not what a user has:\n%s", text)
	}
}
