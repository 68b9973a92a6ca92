package loop_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// files returns the package's own sources.
func files(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]*ast.File)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	return out
}

func TestEachPointIsFiredAtOnePlace(t *testing.T) {
	places := make(map[string][]string)
	for name, f := range files(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if fire, ok := call.Fun.(*ast.SelectorExpr); ok && (fire.Sel.Name == "Fire" || fire.Sel.Name == "FireBy") {
				if point, ok := fire.X.(*ast.SelectorExpr); ok {
					places[point.Sel.Name] = append(places[point.Sel.Name], name)
				}
			}
			return true
		})
	}
	points := new(agent.Hooks).Points()
	for _, p := range points {
		if len(places[p.Name]) != 1 {
			t.Errorf("%s is fired in %v, want one place", p.Name, places[p.Name])
		}
	}
	if len(places) != len(points) || len(points) != 31 {
		t.Errorf("%d points are fired of %d", len(places), len(points))
	}
}

func TestTheLoopImportsNeitherBuiltinNorLooptest(t *testing.T) {
	for name, f := range files(t) {
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, "hookgen/builtin") || strings.Contains(i.Path.Value, "hookgen/hooktest") {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

func TestEveryFileIsShort(t *testing.T) {
	for name := range files(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 300 {
			t.Errorf("%s has %d lines, want at most 300", name, n)
		}
	}
}
