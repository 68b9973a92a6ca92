package main

import (
	_ "embed"
	"encoding/json"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A part is a package to plant bugs in, and the packages whose tests should find them.
type part struct {
	name  string            // a part of a folder is named after both, as builtin/shell
	bound float64           // the percentage of mutants that tests must find
	dir   string            // of the package, below the root
	files func(string) bool // files of the package; nil: all
	like  *regexp.Regexp    // functions to skip because they repeat others
	tests []tests
}

// tests are the tests of one package.
type tests struct {
	dir  string
	args []string
}

// The tests of other packages that run the mutants. They skip tests that build programs, because those programs
// would not contain the mutants.
var (
	runtimeTests = tests{dir: "tests/runtime", args: []string{
		"-programs=400", "-test.skip=StackOverflow|FailingPrograms",
	}}
	fixtureTests = tests{dir: "tests/fixture"}
	// Two tests run every hook of builtin for 25 s, which each survivor would cost again.
	builtinTests = tests{dir: "builtin", args: []string{"-test.skip=EveryHookConforms|TenantsNeverMeet"}}
)

var parts = append([]part{
	{
		name: "hookkit", bound: 95, dir: "hookkit",
		tests: []tests{{dir: "hookkit"}, runtimeTests},
	},
	{
		name: "hookimpl", bound: 95, dir: "hookkit/hookimpl",
		tests: []tests{{dir: "hookkit/hookimpl"}, {dir: "hookkit"}, runtimeTests, {dir: "loop"}},
	},
	{
		name: "gen", bound: 95, dir: "gen",
		files: func(name string) bool {
			return !strings.HasPrefix(name, "emit") && name != "doc.go" && name != "export.go"
		},
		tests: []tests{
			{dir: "gen", args: []string{"-test.skip=VetsClean", "-rapid.checks=15"}},
			{dir: "gen/breaking"},
			{dir: "gen/export"},
			{dir: "tests/breaking"},
			fixtureTests,
			{dir: "cmd/hookgen", args: []string{"-test.skip=Scripts|InitWith|InitThrough"}},
			{dir: "tests", args: []string{"-test.skip=Readme|Pages|Arrows|Architecture"}},
		},
	},
	{
		name: "generated", bound: 95, dir: "tests/fixture",
		like:  regexp.MustCompile(`On[A-Z]|\bon[A-Z]`), // points that differ only in their payload
		files: func(name string) bool { return name == "hooks_gen.go" },
		tests: []tests{runtimeTests, fixtureTests},
	},
	{name: "loop", bound: 90, dir: "loop", tests: []tests{{dir: "loop"}, {dir: "loop/looptest"}, builtinTests}},
}, rooms("permission", "shell", "redact", "guardrail", "record", "limit", "declared", "declared/claudecode", "session",
	"memory", "answer", "retry", "repair", "window", "prompt", "observe")...)

// rooms returns the parts for packages of builtin.
func rooms(names ...string) []part {
	var all []part
	for _, name := range names {
		dir := "builtin/" + name
		p := part{name: dir, bound: 90, dir: dir, tests: []tests{{dir: dir}, builtinTests}}
		if name == "memory" { // the contract of its stores is tested there
			p.tests = append(p.tests, tests{dir: dir + "/memorytest"})
		}
		all = append(all, p)
	}
	return all
}

// helperFile is added to the instrumented package. A program runs with one mutant. Or it runs without mutants and
// records in a file, one byte each, which mutants it reaches. The file is mapped into memory, so that a crash
// loses nothing.
//
//go:embed helper.tmpl
var helperFile string

// A planted is a part with its mutants.
type planted struct {
	part
	mutants []mutant // by ID, from 1
	overlay string   // the file for -overlay
	temp    string
}

// plant writes the instrumented copy of a part's package to temp.
func (p part) plant(root, temp string) (*planted, error) {
	fset := token.NewFileSet()
	loaded, err := load(fset, filepath.Join(root, p.dir))
	if err != nil {
		return nil, err
	}
	w := &planted{part: p, temp: temp, overlay: filepath.Join(temp, "overlay.json")}
	replace := map[string]string{}
	write := func(path, text string) error {
		to := filepath.Join(temp, filepath.Base(path))
		replace[path] = to
		return os.WriteFile(to, []byte(text), 0o644)
	}
	for _, f := range loaded.Syntax {
		path := fset.File(f.FileStart).Name()
		if p.files != nil && !p.files(filepath.Base(path)) {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		relative, _ := filepath.Rel(root, path)
		pl := &planter{
			fset: fset, src: src, path: filepath.ToSlash(relative), info: loaded.TypesInfo, pkg: loaded.Types,
			names: qualifiers(f, loaded.TypesInfo, loaded.Types), like: p.like,
		}
		pl.next = func(m mutant) int {
			m.ID = len(w.mutants) + 1
			w.mutants = append(w.mutants, m)
			return m.ID
		}
		pl.plant(f)
		if err := write(path, pl.edits.apply(src)); err != nil {
			return nil, err
		}
	}
	helper := strings.Replace(helperFile, "package helper", "package "+loaded.Name, 1)
	helper = strings.Replace(helper, "reachedSize = 0", "reachedSize = "+strconv.Itoa(len(w.mutants)+1), 1)
	if err := write(filepath.Join(root, p.dir, "zz_mutants.go"), helper); err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return w, os.WriteFile(w.overlay, data, 0o644)
}

// load parses a package without its tests and checks its types.
func load(fset *token.FileSet, dir string) (*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir, Fset: fset}, ".")
	if err != nil {
		return nil, err
	}
	if failed := loaded[0].Errors; len(failed) > 0 {
		return nil, failed[0]
	}
	return loaded[0], nil
}

// qualifiers returns the names under which a file imports packages.
func qualifiers(f *ast.File, info *types.Info, own *types.Package) map[*types.Package]string {
	names := map[*types.Package]string{own: ""}
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		for _, pkg := range own.Imports() {
			if pkg.Path() == path {
				names[pkg] = pkg.Name()
				if i.Name != nil {
					names[pkg] = i.Name.Name
				}
			}
		}
	}
	return names
}
