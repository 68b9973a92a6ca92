package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// A group selects the tests of some files of one package, with their arguments.
type group struct {
	title  string
	dir    string   // of the package, relative to the root
	files  string   // glob, in dir
	except string   // glob of files to skip
	args   []string // of the test binary
	whole  bool     // one figure for all tests instead of one per test
}

// groups are the tests for the guarantees of the framework.
var groups = []group{
	{title: "Invariants", dir: "tests/runtime", files: "*_test.go", args: []string{"-rapid.checks=100"}},
	{title: "Invariants", dir: "tests/runtime", files: "*_test.go", except: "allocations_test.go", whole: true,
		args: []string{"-race", "-rapid.checks=10"}},
	{title: "Invariants", dir: "tests/remote", files: "remote_test.go", args: []string{"-specs=30", "-fires=100"}},
	{title: "Generated code", dir: "gen", files: "generation_test.go", args: []string{"-rapid.checks=300"}},
	{title: "Generated code", dir: "tests/compile", files: "*_test.go"},
	{title: "hookgen", dir: "gen", files: "wrong_test.go"},
	{title: "hookgen", dir: "cmd/hookgen", files: "scripts_test.go"},
	{title: "Laws of the loop", dir: "loop", files: "laws_test.go"},
	{title: "Laws of the loop", dir: "loop", files: "chaos_test.go", args: []string{"-rapid.checks=1000"}},
	{title: "Laws of the loop", dir: "tests/systems", files: "isolation_test.go"},
	{title: "Ready-made hooks", dir: "builtin", files: "conformance_test.go"},
	{title: "Ready-made hooks", dir: "hooktest", files: "check_test.go"},
	{title: "What five other systems do", dir: "tests/systems", files: "*_test.go", except: "isolation_test.go",
		whole: true},
}

// A test is one test function.
type test struct {
	name      string
	statement string // the doc comment, or the name in words
}

// tests returns the tests of the group, in order of file and position.
func (g group) tests(root string) ([]test, error) {
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(g.dir), g.files))
	if err != nil {
		return nil, err
	}
	var all []test
	for _, path := range paths {
		if except, _ := filepath.Match(g.except, filepath.Base(path)); except {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				all = append(all, test{f.Name.Name, statement(f.Name.Name, f.Doc.Text())})
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no test in %s/%s", g.dir, g.files)
	}
	return all, nil
}

// statement returns the doc comment of a test as one line, or the name of the test in words if there is no
// comment. If the comment begins with the name and a colon, the words of the name come first.
func statement(name, doc string) string {
	text := strings.Join(strings.Fields(doc), " ")
	rest, named := strings.CutPrefix(text, name)
	switch {
	case text == "":
		text = words(name)
	case named:
		text = strings.TrimSpace(rest)
		if strings.HasPrefix(rest, ":") {
			text = words(name) + rest
		}
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// numbered matches the number of a law of the loop: "P10_".
var numbered = regexp.MustCompile(`^(P\d+)_`)

// words returns the name of a test in words: "a failure is shown" for TestAFailureIsShown.
func words(name string) string {
	var b strings.Builder
	name = strings.TrimPrefix(name, "Test")
	if n := numbered.FindStringSubmatch(name); n != nil {
		b.WriteString(n[1] + ",")
		name = strings.TrimPrefix(name, n[0])
	}
	for _, r := range name {
		switch {
		case 'A' <= r && r <= 'Z':
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}
