package main

import (
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// filesOf returns the files of a module but go.mod and go.sum, which the go command may write.
func filesOf(t *testing.T, m *usermodule.Module) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != "go.mod" && name != "go.sum" {
			files[name] = m.Read(name)
		}
	}
	return files
}

// checkInit runs the commands of a new user after init. They succeed, and leave the files as init wrote them.
func checkInit(t *testing.T, m *usermodule.Module) {
	t.Helper()
	before := filesOf(t, m)
	m.Run("go", "mod", "tidy")
	if out := m.Run("go", "test", "./..."); !strings.HasPrefix(out, "ok") {
		t.Errorf("go test printed %s", out)
	}
	m.Run("go", "vet", "./...")
	if out := m.Run("go", "generate", "./..."); !strings.HasPrefix(out, "unchanged hooks_gen.go: 2 points") {
		t.Errorf("go generate printed %s", out)
	}
	if out := m.Run("go", "tool", "hookgen", "check"); !strings.HasPrefix(out, "fresh hooks_gen.go") {
		t.Errorf("hookgen check printed %s", out)
	}
	for name, text := range filesOf(t, m) {
		if text != before[name] {
			t.Errorf("%s is no longer as init wrote it", name)
		}
	}
}

// checkChange adds a point to the spec. The build fails until go generate has run.
func checkChange(t *testing.T, m *usermodule.Module) {
	t.Helper()
	const point = "\tOnSent(Message)\n"
	m.Write("spec.go", strings.Replace(m.Read("spec.go"), point,
		point+"\n\t// OnRead fires when a message was read.\n\tOnRead(Message)\n", 1))
	if out, err := m.Try("go", "test", "./..."); err == nil || !strings.Contains(out, "staleCode_runHookgen") {
		t.Errorf("with a stale file, go test: %v\n%s", err, out)
	}
	if out := m.Run("go", "generate", "./..."); !strings.HasPrefix(out, "wrote hooks_gen.go: 3 points") {
		t.Errorf("go generate printed %s", out)
	}
	m.Run("go", "test", "./...")
}

func TestInitWithAReplaceLine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	replace := usermodule.Path + "=" + usermodule.Root(t)

	t.Run("in a new module", func(t *testing.T) {
		m := usermodule.New(t)
		m.Run(hookgen, "init")
		m.Run("go", "mod", "edit", "-replace", replace)
		checkInit(t, m)
		checkChange(t, m)
	})

	t.Run("in an existing module", func(t *testing.T) {
		m := usermodule.New(t)
		m.Run("go", "mod", "init", "example.com/existing")
		m.Run("go", "mod", "edit", "-replace", replace)
		out := m.Run(hookgen, "init")
		m.Run("go", "mod", "tidy")
		m.Run("go", "test", "./...")
		if !strings.Contains(out, "go get -tool "+usermodule.Path+"/cmd/hookgen") {
			t.Errorf("init does not say how go generate gets its tool:\n%s", out)
		}
		m.Run("go", "mod", "edit", "-tool", usermodule.Path+"/cmd/hookgen") // like go get -tool, without a network
		checkInit(t, m)
	})
}

func TestInitThroughAModuleProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	t.Parallel()
	const version = "v0.1.0"
	m := usermodule.New(t, usermodule.Publish(t, version)...)
	m.Run("go", "run", usermodule.Path+"/cmd/hookgen@"+version, "init")
	if !strings.Contains(m.Read("go.mod"), "require "+usermodule.Path+" "+version+"\n") {
		t.Errorf("the go.mod of init does not require the version that wrote it:\n%s", m.Read("go.mod"))
	}
	checkInit(t, m)
	checkChange(t, m)
	if text := m.Read("go.mod"); strings.Contains(text, "replace") {
		t.Errorf("a user's go.mod has no replace line:\n%s", text)
	}
}
