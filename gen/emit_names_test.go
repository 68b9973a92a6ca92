package gen

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// localNames returns the names of parameters, results, variables and type parameters in a Go file.
func localNames(t *testing.T, text string) map[string]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				names[name.Name] = true
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
			fields(n.TypeParams)
		case *ast.TypeSpec:
			fields(n.TypeParams)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					names[e.(*ast.Ident).Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	delete(names, "_")
	return names
}

// A spec may call its types as it likes, also like the variables of generated code.
func TestLocalNamesRestrictNoType(t *testing.T) {
	s := mustRead(t, everyLaw)
	text, err := Emit(s, Output{Package: s.Package})
	if err != nil {
		t.Fatal(err)
	}
	laws := []string{
		"(spec.Replace, spec.Edit[%[1]s], Stop, spec.Collect[%[1]s], spec.FailClosed)", "(spec.Replace, Stop, spec.FailOpen)",
		"(spec.Vote, Stop, Leave, spec.Collect[%[1]s], spec.FailOpen)", "spec.Collect[%[1]s]", "spec.Check",
		"spec.Around[%[1]s]", "",
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(localNames(t, string(text)))), func(name string) bool {
		return strings.HasSuffix(name, "Point") // variables of the package
	})
	all := "func(" + strings.Join(names, ", ") + ")"
	var methods, declarations strings.Builder
	fmt.Fprintf(&declarations, "type (\n\tStop struct{}\n\tLeave struct{}\n\tHolds struct{ One %s }\n)\n", all)
	for i, law := range laws {
		if strings.Contains(law, "%") {
			law = fmt.Sprintf(law, all)
		}
		payload := all
		if i == 0 {
			payload = "Holds"
		}
		fmt.Fprintf(&methods, "\tOn%d(%s) %s\n", i, payload, law)
	}
	for _, name := range names {
		fmt.Fprintf(&declarations, "type %s struct{ A int }\n", name)
	}
	spec := specOf(methods.String(), declarations.String())
	if len(names) < 30 {
		t.Errorf("only %d names", len(names))
	}
	typeCheck(t, spec, emitted(t, spec, Output{Package: "p"}))
}

// typeCheck type-checks the files of one package.
func typeCheck(t *testing.T, files ...string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var trees []*ast.File
	for i, text := range files {
		tree, err := parser.ParseFile(fset, fmt.Sprintf("file%d.go", i), text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(err error) { t.Error(err) }}
	_, _ = config.Check("example.com/p", fset, trees, nil) // errors are reported above
}

// Where a local of Match is renamed for a type, the parameter of an exit with such a name is another one.
func TestMatchParametersAvoidRenamedLocals(t *testing.T) {
	spec := specOf("\tA(none) (None, Exit, X, spec.FailOpen)\n",
		"type (\n\tnone struct{}\n\texit struct{}\n\tx struct{}\n\tNone struct{}\n\tExit struct{}\n\tX struct{}\n)\n")
	typeCheck(t, spec, emitted(t, spec, Output{Package: "p"}))
}

func TestPointsMayHaveNamesOfTheRuntime(t *testing.T) {
	var points strings.Builder
	for _, name := range []string{"Condition", "Replacement", "Act", "Snapshot", "Registry", "State"} {
		fmt.Fprintf(&points, "\t%s(int) spec.Check\n\tFrom%s(int) (spec.Replace, spec.FailOpen)\n\tWith%s(int) "+
			"spec.Around[int]\n", name, name, name)
	}
	spec := specOf(points.String(), "")
	typeCheck(t, spec, emitted(t, spec, Output{Package: "p"}))
}
