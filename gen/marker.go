package gen

import (
	"go/ast"
	"slices"

	"github.com/hookgen/hookgen/gen/model"
)

// markerNames are the names of all markers.
var markerNames = func() (names []string) {
	for _, m := range model.Markers {
		names = append(names, m.Name)
	}
	return names
}()

// markerNamed returns the marker of a name, and whether there is one.
func markerNamed(name string) (model.Marker, bool) {
	i := slices.IndexFunc(model.Markers, func(m model.Marker) bool { return m.Name == name })
	if i < 0 {
		return model.Marker{Name: name}, false
	}
	return model.Markers[i], true
}

// A markerUse is one use of the spec language: spec.Name or spec.Name[args].
type markerUse struct {
	model.Marker      // with its name only if no such marker exists
	known        bool // a marker of that name exists
	args         []ast.Expr
	sel          *ast.SelectorExpr
}

// markerUse returns the use of a marker that expr is, or nil if expr is another type.
func (r *specInfo) markerUse(expr ast.Expr) *markerUse {
	base, args := instance(expr)
	sel, ok := base.(*ast.SelectorExpr)
	if !ok || !r.language(sel) {
		return nil
	}
	m, known := markerNamed(sel.Sel.Name)
	return &markerUse{Marker: m, known: known, args: args, sel: sel}
}

// language reports whether the qualifier of sel is the import of the spec language.
func (r *specInfo) language(sel *ast.SelectorExpr) bool {
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	line := r.qualifiers[x.Name]
	return line != nil && line.language()
}

// instance splits an instantiated type into the generic type and its type arguments.
func instance(expr ast.Expr) (ast.Expr, []ast.Expr) {
	switch e := ast.Unparen(expr).(type) {
	case *ast.IndexExpr:
		return ast.Unparen(e.X), []ast.Expr{e.Index}
	case *ast.IndexListExpr:
		return ast.Unparen(e.X), e.Indices
	default:
		return e, nil
	}
}
