package gen

import (
	_ "embed"
	"go/ast"
	"maps"
	"sync"
)

// incomparableText has one type of the standard library per line. Only declarations of the spec's module are read, so a
// test makes the list.
//
//go:embed incomparable.txt
var incomparableText string

// incomparableStandard returns the types of the standard library whose values == cannot compare.
var incomparableStandard = sync.OnceValue(func() map[string]bool { return words(incomparableText) })

// incomparable returns why == cannot compare values of a type, or "". Types of the standard library are known. Those of
// other modules count as comparable.
func (r *surfaceReader) incomparable(at scopeOf, expr ast.Expr, open map[*declaration]bool) string {
	switch e := ast.Unparen(expr).(type) {
	case *ast.MapType:
		return "a map"
	case *ast.FuncType:
		return "a function"
	case *ast.ArrayType:
		if e.Len == nil {
			return "a slice"
		}
		return r.incomparable(at, e.Elt, open)
	case *ast.StructType:
		for _, f := range e.Fields.List {
			if why := r.incomparable(at, f.Type, open); why != "" {
				return why
			}
		}
	}
	name, arguments := instance(expr)
	switch e := name.(type) {
	case *ast.Ident:
		if argument, ok := at.arguments[e.Name]; ok {
			return r.incomparable(argument.at, argument.typ, maps.Clone(argument.open))
		}
		return r.incomparableName(at, at.in, e.Name, arguments, open)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			return ""
		}
		importPath := at.in.path(at.file, x.Name)
		if in := r.packageOf(importPath); in != nil {
			return r.incomparableName(at, in, e.Sel.Name, arguments, open)
		}
		if name := importPath + "." + e.Sel.Name; incomparableStandard()[name] {
			return name
		}
	}
	return ""
}

// incomparableName is incomparable for a named type with type arguments that are written at a place.
func (r *surfaceReader) incomparableName(at scopeOf, in *surfacePackage, name string, arguments []ast.Expr,
	open map[*declaration]bool) string {
	d := in.scope[name]
	if d == nil || d.spec == nil || open[d] {
		return ""
	}
	inside := scopeOf{in: in, file: d.file, arguments: map[string]typeArgument{}}
	for i, p := range flatten(d.spec.TypeParams) {
		if p.name != nil && i < len(arguments) {
			inside.arguments[p.name.Name] = typeArgument{at, arguments[i], maps.Clone(open)}
		}
	}
	open[d] = true
	if len(arguments) > 0 {
		defer delete(open, d) // other arguments can have another result
	}
	return r.incomparable(inside, d.spec.Type, open)
}
