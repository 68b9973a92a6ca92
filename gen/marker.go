package gen

import (
	"go/ast"
	"slices"
)

// markers are the names of the spec language in the order of its manual.
var markers = []string{"Replace", "Edit", "Vote", "Collect", "Check", "Around", "Reverse", "FailClosed", "FailOpen",
	"Env"}

// typedMarkers take one type argument; the others take none.
var typedMarkers = []string{"Edit", "Collect", "Around", "Env"}

// A markerUse is one use of the spec language: spec.Name or spec.Name[args].
type markerUse struct {
	name  string
	known bool // a marker of that name exists
	args  []ast.Expr
	sel   *ast.SelectorExpr
}

// typed reports whether the marker takes a type argument.
func (m *markerUse) typed() bool { return slices.Contains(typedMarkers, m.name) }

// isPolicy reports whether the marker is FailClosed or FailOpen.
func (m *markerUse) isPolicy() bool { return isPolicy(m.name) }

// isPolicy reports whether a marker is a policy, FailClosed or FailOpen.
func isPolicy(marker string) bool { return marker == "FailClosed" || marker == "FailOpen" }

// markerUse returns the use of a marker that expr is, or nil if expr is another type.
func (r *specInfo) markerUse(expr ast.Expr) *markerUse {
	base, args := instance(expr)
	sel, ok := base.(*ast.SelectorExpr)
	if !ok || !r.language(sel) {
		return nil
	}
	return &markerUse{name: sel.Sel.Name, known: slices.Contains(markers, sel.Sel.Name), args: args, sel: sel}
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
