// Package systems tests the features of older hook systems, and defects there that cannot occur here, as far as no
// package tests them. The file lines.txt lists them all. The tests run through the real loop or fire real points.
package systems

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readLines returns the tests that lines.txt names, by identity: the folder of their package, and their names.
func readLines(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	named := map[string][]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "#") {
			continue
		}
		fields := strings.Split(s.Text(), "\t")
		if len(fields) != 3 || fields[1] == "" || len(strings.Fields(fields[2])) < 2 {
			t.Errorf("%q is not an identity, a statement, and a folder with tests, with tabs between them", s.Text())
			continue
		}
		if named[fields[0]] != nil {
			t.Errorf("%s is there twice", fields[0])
		}
		named[fields[0]] = strings.Fields(fields[2])
	}
	return named
}

// testsOf returns the tests of a package, and whether each always runs.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = !calls(f.Body, "Skip", "Skipf", "SkipNow")
			}
		}
	}
	return found
}

func TestEveryLineHasItsTests(t *testing.T) {
	named := readLines(t)
	if len(named) != 213 {
		t.Errorf("lines.txt has %d identities, want 213", len(named))
	}
	folders, here := map[string]map[string]bool{}, map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(named)) {
		folder := named[id][0]
		if folders[folder] == nil {
			folders[folder] = testsOf(t, folder)
		}
		for _, name := range named[id][1:] {
			if !folders[folder][name] {
				t.Errorf("%s: %s has no test %s, or it can be skipped", id, folder, name)
			}
			here[name] = here[name] || folder == "tests/systems"
		}
	}
	others := []string{
		"TestEveryLineHasItsTests", "TestAThousandRunsShareNothing", "TestTheVocabularyIsComplete", "TestCounterpartsExist",
		"TestEachReadyMadeHookHasATest",
	}
	for name := range folders["tests/systems"] {
		if strings.HasPrefix(name, "Test") && name != "TestMain" && !here[name] && !slices.Contains(others, name) {
			t.Errorf("lines.txt has no line for %s", name)
		}
	}
}

// calls reports whether code calls a method of one of the names.
func calls(code ast.Node, names ...string) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
			found = true
		}
		return true
	})
	return found
}
