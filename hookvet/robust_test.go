package hookvet

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"
)

// TestRightCodeHasNoFindings runs all checks on code that is right: in forms that people rarely write, and in some that
// look like mistakes.
func TestRightCodeHasNoFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	m := newModule(t)
	for _, name := range []string{"odd", "right"} {
		t.Run(name, func(t *testing.T) {
			m.write(t, name, "testdata/"+name+".txtar")
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.LoadAllSyntax, Dir: m.Dir, Tests: true, Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"),
			}, "./"+name+"/...")
			if err != nil || packages.PrintErrors(loaded) > 0 {
				t.Fatal("the archive does not compile: ", err)
			}
			for _, found := range analyze(t, loaded...) {
				t.Error(found)
			}
		})
	}
}

// analyze runs all checks and returns their findings.
func analyze(t testing.TB, loaded ...*packages.Package) []string {
	t.Helper()
	graph, err := checker.Analyze(Analyzers(), loaded, &checker.Options{Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for act := range graph.All() {
		if act.Err != nil {
			t.Fatal(act, act.Err)
		}
		for _, d := range act.Diagnostics {
			found = append(found, fmt.Sprintf("%s: %s: %s", act.Package.Fset.Position(d.Pos), act.Analyzer, d.Message))
		}
	}
	return found
}

// A user may run the checks on code that does not compile, for example in an editor.
func TestBrokenCodeDoesNotPanic(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages")
	}
	c := newBroken(t)
	all := sources(t)
	all["generated"] = c.generated
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			c.analyze(t, text)
			lines := strings.SplitAfter(text, "\n")
			for i := 0; i < len(lines); i += 1 + len(lines)/20 {
				c.analyze(t, strings.Join(lines[:i], "")+strings.Join(lines[i+1:], ""))
			}
			for i := 0; i < len(text); i += 41 + len(text)/20 {
				c.analyze(t, text[:i])
				c.analyze(t, text[:i]+text[min(i+5, len(text)):])
			}
		})
	}
}

func FuzzAnalyzers(f *testing.F) {
	if testing.Short() {
		f.Skip("builds packages")
	}
	c := newBroken(f)
	for _, text := range sources(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { c.analyze(t, text) })
}

// FuzzDroppedTokens drops some tokens of a file of the archives. The rest often parses, and rarely compiles.
func FuzzDroppedTokens(f *testing.F) {
	if testing.Short() {
		f.Skip("builds packages")
	}
	c := newBroken(f)
	all := sources(f)
	names := slices.Sorted(maps.Keys(all))
	for i := range names {
		f.Add(uint(i), uint(40+7*i), uint(1+i%5))
	}
	f.Fuzz(func(t *testing.T, file, first, count uint) {
		text := all[names[file%uint(len(names))]]
		offsets := tokens(text)
		from := first % uint(len(offsets))
		to := min(from+count%50, uint(len(offsets)-1))
		c.analyze(t, text[:offsets[from]]+text[offsets[to]:])
	})
}

// tokens returns the offsets of the tokens of a file, and its length.
func tokens(text string) []int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("a.go", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, scanner.ScanComments)
	var offsets []int
	for {
		pos, tok, _ := s.Scan()
		offsets = append(offsets, file.Offset(pos))
		if tok == token.EOF {
			return offsets
		}
	}
}

// sources returns the Go files of all archives.
func sources(t testing.TB) map[string]string {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	all := map[string]string{}
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".go") {
				all[path.Join(filepath.Base(archive), f.Name)] = string(f.Data)
			}
		}
	}
	return all
}

// broken type-checks code that may be wrong.
type broken struct {
	importer  types.Importer
	generated string // the code of one of the specs, together with the spec
}

func newBroken(t testing.TB) broken {
	t.Helper()
	m := newModule(t)
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile,
		Dir:  m.Dir, Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"),
	}, "./...", "context", "errors", "maps", "slices", "sort", "strings", "sync", "sync/atomic", "testing", "time")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal("the specs do not compile: ", err)
	}
	files := map[string]string{}
	packages.Visit(loaded, nil, func(p *packages.Package) { files[p.PkgPath] = p.ExportFile })
	_, spec, _ := strings.Cut(m.Read("mail/spec.go"), "type Account")
	return broken{importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if files[path] == "" {
			return nil, os.ErrNotExist
		}
		return os.Open(files[path])
	}), m.Read("mail/hooks_gen.go") + "\ntype Account" + spec}
}

// analyze runs all checks on a file, as far as the parser and the type checker understand it.
func (b broken) analyze(t *testing.T, text string) {
	t.Helper()
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "a.go", text, parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors)
	if file == nil || file.Name == nil {
		return
	}
	if slices.ContainsFunc(file.Decls, declaresParenthesized) {
		return // go/types never returns for a composite literal of type A (A)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
	config := types.Config{Importer: b.importer, Error: func(error) {}, FakeImportC: true}
	pkg, _ := config.Check("user/broken", fset, []*ast.File{file}, info)
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 1<<14)
			t.Fatalf("%v on\n%s\n%s", p, text, stack[:runtime.Stack(stack, false)])
		}
	}()
	analyze(t, &packages.Package{
		ID: "user/broken", Name: "broken", PkgPath: pkg.Path(), Types: pkg, Fset: fset, Syntax: []*ast.File{file},
		TypesInfo: info, TypesSizes: types.SizesFor("gc", "amd64"),
	})
}

// declaresParenthesized reports whether a declaration is one of a type in parentheses.
func declaresParenthesized(d ast.Decl) bool {
	group, ok := d.(*ast.GenDecl)
	return ok && slices.ContainsFunc(group.Specs, func(s ast.Spec) bool {
		t, ok := s.(*ast.TypeSpec)
		if !ok {
			return false
		}
		_, ok = t.Type.(*ast.ParenExpr)
		return ok
	})
}
