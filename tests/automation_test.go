package tests

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// A new module of contrib gets no updates until the dependency bot knows it.
func TestDependencyBotUpdatesEveryModule(t *testing.T) {
	root := os.DirFS(usermodule.Root(t))
	var want []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir
		case entry.Name() == "go.mod" && path.Dir(name) != "bench": // its versions change with its results
			want = append(want, path.Join("/", path.Dir(name)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, modules, _ := strings.Cut(readPage(t, filepath.Join(usermodule.Root(t), ".github/dependabot.yml")), "gomod\n")
	modules, _, ok := strings.Cut(modules, "package-ecosystem")
	if !ok {
		t.Fatal("dependabot.yml has no list of Go modules that other lists follow")
	}
	var got []string
	for line := range strings.Lines(modules) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "- /"); ok {
			got = append(got, "/"+dir)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("dependabot.yml has the modules %q, want %q", got, want)
	}
}

// The workflows use the Go release that the module needs.
func TestWorkflowsUseTheGoVersion(t *testing.T) {
	root := usermodule.Root(t)
	_, version, _ := strings.Cut(readPage(t, filepath.Join(root, "go.mod")), "\ngo ")
	version, _, _ = strings.Cut(version, "\n") // such as 1.26.0
	want := "go-version: " + version[:strings.LastIndex(version, ".")] + ".x"
	workflows, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("there are %d workflows: %v", len(workflows), err)
	}
	for _, name := range workflows {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if !strings.Contains(readPage(t, name), want) {
				t.Errorf("the workflow does not have %q", want)
			}
		})
	}
}
