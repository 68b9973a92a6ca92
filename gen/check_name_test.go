package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// Every name that generated code declares must be reserved by a check.
func TestGeneratedNamesAreReserved(t *testing.T) {
	s := mustRead(t, everyLaw)
	text, err := Emit(s, Output{Package: s.Package})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	reserved := slices.Clone(generatedNames.types)
	for _, p := range s.List {
		reserved = append(reserved, namesOf(p.Name)...)
	}
	kept := func(name string) bool {
		return slices.ContainsFunc(generatedNames.prefixes,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	taken := 0
	for _, d := range declarations(&file{tree: tree}) {
		if d.owner != "" || kept(d.name) {
			continue
		}
		taken++
		if !slices.Contains(reserved, d.name) {
			t.Errorf("generated code declares %s, and no check keeps a spec from doing so", d.name)
		}
	}
	if taken < len(s.List) {
		t.Errorf("%d names in the generated code", taken)
	}
	for _, l := range importLines(tree) {
		if name := l.names[0]; !slices.Contains(generatedNames.imports, name) &&
			!slices.Contains(s.info.importNames, name) {
			t.Errorf("generated code imports %s as %s, and no check keeps a package from declaring that name", l.path, name)
		}
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && receiver(f.Recv) == "Hooks" && f.Name.IsExported() {
			if !slices.Contains(generatedNames.methods, f.Name.Name) {
				t.Errorf("Hooks has a method %s, and no check keeps a point from having that name", f.Name.Name)
			}
		}
	}
}
