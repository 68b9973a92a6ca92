package gen

import (
	"go/ast"
	"maps"
	"slices"
)

// envOf returns the environment of the spec in a package, or of one that this spec extends. It reports false if that
// cannot be read, for example because the package is generated and its spec is elsewhere.
func (r *surfaceReader) envOf(importPath string, met map[string]bool) (env Written, read bool) {
	in := r.packageOf(importPath)
	if in == nil || met[importPath] {
		return env, false
	}
	met[importPath] = true
	for _, name := range slices.Sorted(maps.Keys(in.scope)) {
		d := in.scope[name]
		if d.spec == nil || !marksPoints(d.doc) {
			continue
		}
		points, ok := d.spec.Type.(*ast.InterfaceType)
		if !ok {
			continue
		}
		at := scopeOf{in: in, file: d.file}
		for _, f := range points.Methods.List {
			base, args := instance(f.Type)
			x, ok := base.(*ast.SelectorExpr)
			if !ok || len(f.Names) > 0 {
				continue // a point, or a group of points
			}
			qualifier, ok := x.X.(*ast.Ident)
			if !ok {
				continue
			}
			from := in.path(d.file, qualifier.Name)
			switch {
			case from != LanguagePath:
				return r.envOf(from, met) // all that it extends have the same environment
			case x.Sel.Name == "Env" && len(args) == 1:
				return r.written(at, args[0]), true
			}
		}
		return env, true
	}
	return env, false
}

// marksPoints reports whether a comment has the directive that marks a spec.
func marksPoints(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		d, ok := directiveOf(c)
		return ok && d.marksSpec()
	})
}
