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
		case entry.Name() == "go.mod" && path.Dir(name) != "lab/bench": // its versions change with its results
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

// Every workflow uses the Go release that the module needs, and ci.yml the newest one, too.
func TestWorkflowsUseTheGoVersion(t *testing.T) {
	root := usermodule.Root(t)
	_, version, _ := strings.Cut(readPage(t, filepath.Join(root, "go.mod")), "\ngo ")
	version, _, _ = strings.Cut(version, "\n") // such as 1.26.0
	version = version[:strings.LastIndex(version, ".")] + ".x"
	workflows, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("there are %d workflows: %v", len(workflows), err)
	}
	for _, name := range workflows {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, one, matrix := readPage(t, name), "go-version: "+version, "go: ["+version+", stable]"
			jobs := strings.Count(text, "uses: actions/setup-go@")
			if jobs == 0 || strings.Count(text, one) != jobs && (strings.Count(text, matrix) != jobs ||
				strings.Count(text, "go-version: ${{ matrix.go }}") != jobs) {
				t.Errorf("not each of %d jobs has %q or %q", jobs, one, matrix)
			}
		})
	}
}

// The program is built for these systems, with 64 bits and with 32.
func TestWorkflowCoversEveryPlatform(t *testing.T) {
	text := readPage(t, filepath.Join(usermodule.Root(t), ".github/workflows/ci.yml"))
	for _, platform := range []string{"linux/386", "linux/arm", "linux/arm64", "windows/386", "windows/amd64",
		"darwin/amd64", "darwin/arm64", "freebsd/386", "freebsd/amd64", "js/wasm"} {
		if !strings.Contains(text, "\n          - "+platform+"\n") {
			t.Errorf("ci.yml does not build for %s", platform)
		}
	}
}

// The site is published only when ci has passed for a push, and never by a push itself.
func TestSiteIsPublishedAfterTheChecks(t *testing.T) {
	text := readPage(t, filepath.Join(usermodule.Root(t), ".github/workflows/site.yml"))
	_, on, _ := strings.Cut(text, "\non:\n")
	on, _, _ = strings.Cut(on, "\n\n")
	if on != "  workflow_run:\n    workflows: [ci]\n    types: [completed]\n    branches: [main]" {
		t.Errorf("site.yml runs on\n%s", on)
	}
	for _, want := range []string{"workflow_run.conclusion == 'success' && github.event.workflow_run.event == 'push'",
		"ref: ${{ github.event.workflow_run.head_sha }}", "needs: build"} {
		if !strings.Contains(text, want) {
			t.Errorf("site.yml lacks %s", want)
		}
	}
}
