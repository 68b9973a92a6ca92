// Package systems has one test for each line of lines.txt, or the line names tests of another package. A line states a
// feature of an older hook system, or a defect there that cannot occur here. The tests run through the real loop or
// fire real points.
package systems

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testName is the form of a test's name: the line number, then words.
var testName = regexp.MustCompile(`^Test([A-Z][0-9]{2})_[A-Z]\w*$`)

// lines reads lines.txt. A line has an identity, a tab and a statement; the word later in front marks a planned
// feature. A second tab precedes the tests of another package, which lines returns in elsewhere: the folder, and names.
func lines(t *testing.T) (now, later map[string]string, elsewhere map[string][]string) {
	t.Helper()
	f, err := os.Open("lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now, later, elsewhere = make(map[string]string), make(map[string]string), make(map[string][]string)
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "#") {
			continue
		}
		rest, isLater := strings.CutPrefix(s.Text(), "later\t")
		id, text, ok := strings.Cut(rest, "\t")
		if statement, tests, named := strings.Cut(text, "\t"); named {
			text, elsewhere[id] = statement, strings.Fields(tests)
		}
		if !ok || text == "" {
			t.Errorf("%q is not an identity, a tab and a text", s.Text())
		}
		if now[id]+later[id] != "" {
			t.Errorf("%s is there twice", id)
		}
		if isLater {
			later[id] = text
		} else {
			now[id] = text
		}
	}
	return now, later, elsewhere
}

func TestEveryLineHasItsTest(t *testing.T) {
	now, later, elsewhere := lines(t)
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	tests := make(map[string]string) // test names by line
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		of, others := 0, []string(nil) // a file has only tests of lines, or none of them
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestEveryLineHasItsTest" {
				continue
			}
			match := testName.FindStringSubmatch(f.Name.Name)
			switch {
			case match == nil:
				others = append(others, f.Name.Name)
				continue
			case tests[match[1]] != "":
				t.Errorf("%s has two tests: %s and %s", match[1], tests[match[1]], f.Name.Name)
			case later[match[1]] != "":
				t.Errorf("%s: %s is for later, says lines.txt", name, f.Name.Name)
			case elsewhere[match[1]] != nil:
				t.Errorf("%s: %s is tested elsewhere, says lines.txt", name, f.Name.Name)
			case now[match[1]] == "":
				t.Errorf("%s: %s has no line in lines.txt", name, f.Name.Name)
			}
			of++
			tests[match[1]] = f.Name.Name
			if calls(f.Body, "Skip", "Skipf", "SkipNow") {
				t.Errorf("%s: %s can be skipped", name, f.Name.Name)
			}
		}
		if of > 0 && len(others) > 0 {
			t.Errorf("%s: %v are not named after a line, as its other tests are", name, others)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		switch {
		case elsewhere[id] != nil:
			areTests(t, id, elsewhere[id][0], elsewhere[id][1:])
		case tests[id] == "":
			t.Errorf("%s has no test: %s", id, now[id])
		}
	}
}

// areTests checks that a package has the tests that a line names, and that none can be skipped.
func areTests(t *testing.T, id, folder string, names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && slices.Contains(names, f.Name.Name) {
				found[f.Name.Name] = !calls(f.Body, "Skip", "Skipf", "SkipNow")
			}
		}
	}
	for _, name := range names {
		if !found[name] {
			t.Errorf("%s: %s has no test %s, or it can be skipped", id, folder, name)
		}
	}
	if len(names) == 0 {
		t.Errorf("%s names no test of %s", id, folder)
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
