package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestLocalNamesAreKnown holds the names of variables in generated code against those that are kept free of types.
func TestLocalNamesAreKnown(t *testing.T) {
	s := mustRead(t, everyLaw)
	text, err := Emit(s, Output{Package: s.Package})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	known = append(append(append(known, locals...), inner...), "_")
	for _, p := range s.List {
		known = append(known, p.Param)
	}
	names := 0
	judge := func(name *ast.Ident) {
		names++
		if !slices.Contains(known, name.Name) {
			t.Errorf("generated code has a variable %s, and no check keeps types of that name out of it", name.Name)
			known = append(known, name.Name)
		}
	}
	fields := func(list *ast.FieldList) {
		if list != nil {
			for _, f := range list.List {
				for _, name := range f.Names {
					judge(name)
				}
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			fields(n.Recv)
		case *ast.FuncType:
			fields(n.Params)
			fields(n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					judge(e.(*ast.Ident))
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if name, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					judge(name)
				}
			}
		case *ast.DeclStmt:
			for _, spec := range n.Decl.(*ast.GenDecl).Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						judge(name)
					}
				}
			}
		}
		return true
	})
	if names < 100 {
		t.Errorf("only %d variables seen", names)
	}
}
