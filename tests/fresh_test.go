package tests

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/usermodule"
)

// A committedSpec is a spec of the repository with committed generated code.
type committedSpec struct {
	dir string // relative to the root
	out string // the directory of the generated file, relative to the root
}

var (
	pointsDirective = regexp.MustCompile(`(?m)^//hookgen:points$`)
	outputOption    = regexp.MustCompile(`(?m)^//go:generate .*hookgen -o (\S+)`)
)

// committedSpecs finds the specs. If the output is in another directory, the go:generate line of the spec names
// it.
func committedSpecs(t *testing.T) []committedSpec {
	t.Helper()
	root := os.DirFS(usermodule.Root(t))
	var all []committedSpec
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil || !pointsDirective.Match(text) {
			return err
		}
		spec := committedSpec{dir: path.Dir(name), out: path.Dir(name)}
		if option := outputOption.FindSubmatch(text); option != nil {
			spec.out = path.Join(spec.dir, string(option[1]))
		}
		all = append(all, spec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGeneratedCodeIsFresh generates the code of every spec again and compares it.
func TestGeneratedCodeIsFresh(t *testing.T) {
	specs := committedSpecs(t)
	for _, spec := range specs {
		t.Run(spec.dir, func(t *testing.T) {
			dir := filepath.Join(usermodule.Root(t), filepath.FromSlash(spec.dir))
			file := filepath.Join(usermodule.Root(t), filepath.FromSlash(spec.out), gen.FileName)
			read, found := gen.Read(dir)
			if len(found) > 0 {
				t.Fatal(found)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			to := gen.Output{Package: packageName(t, file), Source: importPath(t, dir)}
			if spec.out != spec.dir {
				to.SpecPath = to.Source
			}
			want, err := gen.Emit(read, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s is stale; run go generate in %s (-want +got):\n%s", file, spec.dir, diff)
			}
			for i, line := range strings.Split(string(got), "\n") {
				if utf8.RuneCountInString(line) > 120 {
					t.Errorf("%s:%d has more than 120 columns", file, i+1)
				}
			}
		})
	}
	if !slices.Contains(specs, committedSpec{"spec/agentspec", "generated/agent"}) {
		t.Errorf("found the specs %v, and not that of the agent", specs)
	}
}

// importPath returns the import path of a directory.
func importPath(t *testing.T, dir string) string {
	t.Helper()
	for module := dir; module != filepath.Dir(module); module = filepath.Dir(module) {
		text, err := os.ReadFile(filepath.Join(module, "go.mod"))
		if err != nil {
			continue
		}
		line, _, _ := strings.Cut(string(text), "\n")
		rest, err := filepath.Rel(module, dir)
		if err != nil {
			t.Fatal(err)
		}
		return path.Join(strings.TrimPrefix(line, "module "), filepath.ToSlash(rest))
	}
	t.Fatalf("%s is in no module", dir)
	return ""
}

// packageName returns the name in the package clause of a file.
func packageName(t *testing.T, file string) string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Name.Name
}

// TestPageOfTheAgentIsFresh compares docs/agents/agent-points.md with the spec of the agent.
func TestPageOfTheAgentIsFresh(t *testing.T) {
	made := filepath.Join(t.TempDir(), "agent-points.md")
	cmd := exec.CommandContext(t.Context(), usermodule.BuildHookgen(t), "doc", "-o", made, "spec/agentspec")
	cmd.Dir = usermodule.Root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(cmd.Dir, "docs/agents/agent-points.md"))
	if err != nil || !bytes.Equal(page, want) {
		t.Errorf("docs/agents/agent-points.md differs from the spec, %v; run go generate ./spec/agentspec", err)
	}
}
