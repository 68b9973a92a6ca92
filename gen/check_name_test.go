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
	s := mustRead(t, strings.Replace(everyLaw, "//hookgen:points\n", "//hookgen:points\n//hookgen:wire\n", 1))
	reserved := slices.Concat(generatedNames.types, wireNames)
	for _, p := range s.Points {
		reserved = append(reserved, namesOf(p.Name)...)
	}
	kept := func(name string) bool {
		return slices.ContainsFunc(generatedNames.prefixes,
			func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	}
	for name, c := range map[string]struct {
		emit func(*Spec, Output) ([]byte, error)
		own  []string // an import that takes another name if the package declares this one
		want int      // declarations at least
	}{
		"points": {Emit, nil, len(s.Points)},
		"wire":   {EmitWire, []string{"wire", "hooklog", "wireimpl"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := c.emit(s, Output{Package: s.Package})
			if err != nil {
				t.Fatal(err)
			}
			tree, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
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
			if taken < c.want {
				t.Errorf("%d names in the generated code", taken)
			}
			for _, l := range importLines(tree) {
				if name := l.names[0]; !slices.Contains(c.own, name) && !slices.Contains(generatedNames.imports, name) &&
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
		})
	}
}
