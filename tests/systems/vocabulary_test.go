package systems_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// A row is one line of the tables in docs/evidence/five-systems.md.
type row struct{ system, kind, theirs, ours string }

// readTables reads the rows of docs/evidence/five-systems.md, with their headings.
func readTables(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "evidence", "five-systems.md"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{"Fire points": "point", "Decisions of a hook": "outcome", "Ready-made hooks": "hook"}
	var rows []row
	var system, kind string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "### "):
			if kind = kinds[line[4:]]; kind == "" {
				t.Errorf("unknown heading %q", line)
			}
		case strings.HasPrefix(line, "## "):
			system = line[3:]
		case strings.HasPrefix(line, "| ") && line != "| theirs | here |":
			theirs, ours, _ := strings.Cut(strings.Trim(line, "| "), " | ")
			rows = append(rows, row{system, kind, theirs, ours})
		}
	}
	return rows
}

// TestTheVocabularyIsComplete compares the page with the list: each point, outcome and hook of the five systems
// has its row, and each row is in the list.
func TestTheVocabularyIsComplete(t *testing.T) {
	text, err := os.ReadFile("vocabulary.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			listed[line]++
		}
	}
	for _, r := range readTables(t) {
		key := r.system + "\t" + r.kind + "\t" + r.theirs
		if listed[key] == 0 {
			t.Errorf("docs/evidence/five-systems.md has %q, which is not in the list or is there twice", key)
		}
		listed[key]--
		if r.ours == "" {
			t.Errorf("%q has nothing in its place", key)
		}
	}
	for key, n := range listed {
		if n > 0 {
			t.Errorf("%q has no row in docs/evidence/five-systems.md", key)
		}
	}
	if len(listed) < 150 {
		t.Errorf("the list has only %d lines", len(listed))
	}
}

// exportedTypes returns the exported types and functions of a package's source.
func exportedTypes(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s (%v)", dir, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					names[s.(*ast.TypeSpec).Name.Name] = true
				}
			}
		}
	}
	return names
}

var identifier = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// TestCounterpartsExist checks the names on the right of the page: each hook is a type of builtin, of a package below
// it, of contrib/otel or of loop, and each point and outcome is in the reference spec.
func TestCounterpartsExist(t *testing.T) {
	hooks, spec := map[string]bool{}, exportedTypes(t, "../../generated/agent")
	dirs, err := filepath.Glob("../../builtin/*/doc.go")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no packages below builtin (%v)", err)
	}
	for _, dir := range append(dirs, "../../builtin/doc.go", "../../contrib/otel/doc.go", "../../loop/doc.go") {
		dir = filepath.Dir(dir)
		for name := range exportedTypes(t, dir) {
			hooks[filepath.Base(dir)+"."+name] = true
		}
	}
	var points []string
	for _, p := range new(agent.Hooks).Points() {
		points = append(points, p.Name)
	}
	for _, r := range readTables(t) {
		switch r.kind {
		case "hook":
			if strings.HasPrefix(r.ours, "not yet: ") {
				continue
			}
			for _, name := range strings.Split(r.ours, ", ") {
				if !hooks[name] {
					t.Errorf("%s %s: builtin has no %s", r.system, r.theirs, name)
				}
			}
		case "point":
			known := slices.ContainsFunc(points, func(p string) bool { return strings.Contains(r.ours, p) })
			said := slices.ContainsFunc([]string{
				"Bind(", "no point of an agent loop", "a spec of its own", "one interface per point", "every point",
			},
				func(s string) bool { return strings.Contains(r.ours, s) })
			if !known && !said {
				t.Errorf("%s %s: %q names no point", r.system, r.theirs, r.ours)
			}
		}
		for _, name := range identifier.FindAllString(r.ours, -1) {
			if strings.HasPrefix(name, "On") || strings.HasPrefix(name, "Before") || strings.HasPrefix(name, "After") ||
				strings.HasPrefix(name, "Around") {
				if !spec[name] {
					t.Errorf("%s %s: the reference spec has no %s", r.system, r.theirs, name)
				}
			}
		}
	}
}

// TestEachReadyMadeHookHasATest looks for a test that builds the hook, here or in the hook's package.
func TestEachReadyMadeHookHasATest(t *testing.T) {
	source := make(map[string]string) // of all tests, by directory
	read := func(dir string) string {
		if text, known := source[dir]; known {
			return text
		}
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		source[dir] = all.String()
		return source[dir]
	}
	for _, r := range readTables(t) {
		if r.kind != "hook" || strings.HasPrefix(r.ours, "not yet: ") {
			continue
		}
		for _, hook := range strings.Split(r.ours, ", ") {
			room, name, _ := strings.Cut(hook, ".")
			built := func(text, how string) bool {
				return strings.Contains(text, how+"{") || strings.Contains(text, "new("+how+")") || strings.Contains(text, how+"(")
			}
			if !built(read("."), hook) && !built(read(filepath.Join("../../builtin", room)), hook) &&
				!built(read("../../builtin"), name) && !built(read(filepath.Join("../../contrib", room)), name) {
				t.Errorf("%s %s: no test builds a %s", r.system, r.theirs, hook)
			}
		}
	}
}
