package gen

import (
	"go/ast"
	"slices"
)

// A marker is one name of the spec language. Its entry in markers decides how a result list with it is read and which
// rules it is under. A new marker also needs a page section, a wrong spec for each of its rules, and a point in
// tests/fixture; TestEveryMarkerIsKnownEverywhere names the places that do not know it.
type marker struct {
	name     string
	typed    bool  // it takes one type argument
	place    place // in a result list
	kind     Kind  // of a point that lists it, unless the list selects a stronger one
	set      func(law *Law[Type], argument Type)
	with     []string // of a marker that is alone: the markers that may be listed with it
	noPolicy string   // of a marker that is alone: the reason why a policy would mean nothing
}

// A place is where a marker is written.
type place int

const (
	between  place = iota // in a result list, with exits and other markers
	first                 // at the beginning of a list: it says how hooks run
	alone                 // the only entry of a list
	last                  // at the end of a list: a policy
	embedded              // in the points interface
)

// markers are the names of the spec language in the order of its manual.
var markers = []marker{
	{name: "Replace", kind: Flow, set: func(l *Law[Type], _ Type) { l.Replace = true }},
	{name: "Edit", typed: true, kind: Flow, set: func(l *Law[Type], t Type) { l.Edit = t }},
	{name: "Vote", place: first, kind: Vote},
	{name: "Collect", typed: true, kind: Collect, set: func(l *Law[Type], t Type) { l.Collect = t }},
	{name: "Check", place: alone, kind: Check, noPolicy: "a check's error always stops the act"},
	{name: "CheckAll", place: alone, kind: CheckAll, noPolicy: "every error of a check stops the act"},
	{name: "Around", typed: true, place: alone, kind: Around, with: []string{"Reverse"},
		set:      func(l *Law[Type], t Type) { l.Around = t },
		noPolicy: "errors propagate through the wrapping"},
	{name: "Reverse", place: first, set: func(l *Law[Type], _ Type) { l.Reverse = true }},
	{name: "FailClosed", place: last, set: func(l *Law[Type], _ Type) { l.Policy = FailClosed }},
	{name: "FailOpen", place: last, set: func(l *Law[Type], _ Type) { l.Policy = FailOpen }},
	{name: "Env", typed: true, place: embedded},
}

// markerNames are the names of all markers, and listed those that belong into result lists.
var (
	markerNames = namesIn(markers)
	listed      = namesIn(slices.DeleteFunc(slices.Clone(markers), func(m marker) bool { return m.place == embedded }))
)

func namesIn(list []marker) []string {
	var names []string
	for _, m := range list {
		names = append(names, m.name)
	}
	return names
}

// markerNamed returns the marker of a name, and whether there is one.
func markerNamed(name string) (marker, bool) {
	i := slices.IndexFunc(markers, func(m marker) bool { return m.name == name })
	if i < 0 {
		return marker{name: name}, false
	}
	return markers[i], true
}

// A markerUse is one use of the spec language: spec.Name or spec.Name[args].
type markerUse struct {
	marker      // with its name only if no such marker exists
	known  bool // a marker of that name exists
	args   []ast.Expr
	sel    *ast.SelectorExpr
}

// markerUse returns the use of a marker that expr is, or nil if expr is another type.
func (r *specInfo) markerUse(expr ast.Expr) *markerUse {
	base, args := instance(expr)
	sel, ok := base.(*ast.SelectorExpr)
	if !ok || !r.language(sel) {
		return nil
	}
	m, known := markerNamed(sel.Sel.Name)
	return &markerUse{marker: m, known: known, args: args, sel: sel}
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
