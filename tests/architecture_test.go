package tests

import (
	"go/ast"
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

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/internal/usermodule"
)

// An architecturePage is the parsed docs/hooks/architecture.md.
type architecturePage struct {
	text     string
	diagrams []string // the contents of the Mermaid blocks
}

func readArchitecture(t *testing.T) architecturePage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(usermodule.Root(t), "docs", "hooks", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := architecturePage{text: string(text)}
	for _, block := range strings.Split(page.text, "```mermaid\n")[1:] {
		diagram, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatal("a diagram has no end")
		}
		page.diagrams = append(page.diagrams, diagram)
	}
	return page
}

var (
	// A function and its file, in a row of a table or in a sentence.
	placedFunction = regexp.MustCompile("`([A-Za-z][A-Za-z.]*)`(?: \\| | \\()`([a-z][a-z0-9_/]*\\.go)`")
	shownPath      = regexp.MustCompile("`([a-z][a-z0-9_*]*(?:/[a-z0-9_.*]+)*)`")
	diagramCall    = regexp.MustCompile(`(\w+)\(\)`)
	diagramNode    = regexp.MustCompile(`(\w+)\["([^"]+)"\]`)
	diagramArrow   = regexp.MustCompile(`(?m)^ *(\w+)(?:\["[^"]+"\])? --> (\w+)`)
)

func TestArchitectureNamesExistingFunctions(t *testing.T) {
	page := readArchitecture(t)
	found := placedFunction.FindAllStringSubmatch(page.text, -1)
	if len(found) < 20 {
		t.Fatalf("the page names %d functions", len(found))
	}
	for _, f := range found {
		name, file := f[1], f[2]
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(declarationsOf(t, file), name) {
				t.Errorf("%s does not declare %s", file, name)
			}
		})
	}
}

func TestArchitectureNamesExistingFiles(t *testing.T) {
	page := readArchitecture(t)
	for _, p := range shownPath.FindAllStringSubmatch(page.text, -1) {
		name := p[1]
		if strings.HasPrefix(name, "mail/") || !strings.ContainsAny(name, "/.") && !isDirectory(t, name) {
			continue // the example's own files, and names of functions
		}
		t.Run(name, func(t *testing.T) {
			matches, err := filepath.Glob(filepath.Join(usermodule.Root(t), filepath.FromSlash(name)))
			if err != nil || len(matches) == 0 {
				t.Errorf("%s does not exist: %v", name, err)
			}
		})
	}
}

// TestArchitectureDiagramsAgreeWithTheTables compares the calls in the diagrams with the functions in the text.
func TestArchitectureDiagramsAgreeWithTheTables(t *testing.T) {
	page := readArchitecture(t)
	explained := map[string]bool{}
	for _, f := range placedFunction.FindAllStringSubmatch(page.text, -1) {
		explained[f[1][strings.LastIndexByte(f[1], '.')+1:]] = true
	}
	calls := diagramCall.FindAllStringSubmatch(strings.Join(page.diagrams, ""), -1)
	if len(calls) < 8 {
		t.Fatalf("the diagrams have %d calls", len(calls))
	}
	for _, c := range calls {
		if !explained[c[1]] {
			t.Errorf("a diagram calls %s, which no table explains", c[1])
		}
	}
}

// TestArchitectureWalksAreShort counts the functions and files of each walk: a fire, one with an observer, one of an
// around point, and a spec.
func TestArchitectureWalksAreShort(t *testing.T) {
	bounds := []struct{ functions, files int }{{8, 8}, {10, 5}, {8, 8}, {12, 10}}
	walks := strings.Split(readArchitecture(t).text, "| hop |")[1:]
	if len(walks) != len(bounds) {
		t.Fatalf("the page has %d walks, want %d", len(walks), len(bounds))
	}
	for i, walk := range walks {
		table, _, _ := strings.Cut(walk, "\n\n")
		functions, files := map[string]bool{}, map[string]bool{}
		for _, f := range placedFunction.FindAllStringSubmatch(table, -1) {
			functions[f[1]], files[f[2]] = true, true
		}
		if most := bounds[i]; len(functions) == 0 || len(functions) > most.functions || len(files) > most.files {
			t.Errorf("walk %d has %d functions in %d files, want at most %d in %d", i+1, len(functions), len(files),
				most.functions, most.files)
		}
	}
}

// TestArchitectureArrowsAreTheImports compares the first diagram with the imports between its packages.
func TestArchitectureArrowsAreTheImports(t *testing.T) {
	diagram := readArchitecture(t).diagrams[0]
	dirs := map[string]string{}
	for _, n := range diagramNode.FindAllStringSubmatch(diagram, -1) {
		dirs[n[1]] = n[2]
	}
	var drawn, imported []string
	for _, a := range diagramArrow.FindAllStringSubmatch(diagram, -1) {
		drawn = append(drawn, dirs[a[1]]+" -> "+dirs[a[2]])
	}
	nearest := func(dir string) (node string) {
		for _, d := range dirs {
			if within(dir, d) && len(d) > len(node) {
				node = d
			}
		}
		return node
	}
	module := os.DirFS(usermodule.Root(t))
	for _, dir := range dirs {
		err := fs.WalkDir(module, dir, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case name != dir && entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "internal"):
				return fs.SkipDir
			}
			if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || nearest(path.Dir(name)) != dir {
				return nil
			}
			imports, err := importsOf(module, name)
			for _, i := range imports {
				local, ours := strings.CutPrefix(i, usermodule.Path+"/")
				if to := nearest(local); ours && to != "" && to != dir {
					imported = append(imported, dir+" -> "+to)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(drawn)
	slices.Sort(imported)
	if diff := cmp.Diff(drawn, slices.Compact(imported)); diff != "" {
		t.Errorf("the diagram -, the imports +:\n%s", diff)
	}
}

func isDirectory(t *testing.T, name string) bool {
	t.Helper()
	info, err := os.Stat(filepath.Join(usermodule.Root(t), name))
	return err == nil && info.IsDir()
}

// declarationsOf returns the functions, methods (as Type.Method) and types that a file declares.
func declarationsOf(t *testing.T, file string) []string {
	t.Helper()
	name := filepath.Join(usermodule.Root(t), filepath.FromSlash(file))
	tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, receiverOf(d)+d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of a method's receiver type and a dot, or "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return name == ""
	})
	return name
}

func TestGeneratedCodeLinksNoCryptography(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./generated/agent")
	list.Dir = usermodule.Root(t)
	packages, err := list.Output()
	if err != nil || len(packages) == 0 {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(packages)) {
		if strings.HasPrefix(path, "crypto") {
			t.Errorf("generated/agent links %s, which makes every program larger", path)
		}
	}
}
