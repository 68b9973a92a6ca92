package gen

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// A scopeOf is the place where a type is written: its package, its file, and the type parameters there.
type scopeOf struct {
	in         *surfacePackage
	file       *file
	parameters map[string]string
	arguments  map[string]typeArgument // of the generic type that it is in
}

// A typeArgument is a type argument, with the place where it is written, and the declarations around it.
type typeArgument struct {
	at   scopeOf
	typ  ast.Expr
	open map[*declaration]bool
}

// written reads a type expression, and follows the types that it names. A nil expression is the zero Written.
func (r *surfaceReader) written(at scopeOf, expr ast.Expr) Written {
	w := r.spelled(at, expr)
	if w.IsZero() {
		return w
	}
	names := map[string]bool{}
	r.follow(at, expr, func(name string) {
		if !names[name] {
			names[name] = true
			w.Types = append(w.Types, name)
		}
	})
	return w
}

// spelled reads a type expression without the types that it names. A nil expression is the zero Written.
func (r *surfaceReader) spelled(at scopeOf, expr ast.Expr) Written {
	if expr == nil {
		return Written{}
	}
	w := Written{Text: at.file.shortLine(expr), Pos: r.position(expr.Pos())}
	for _, expand := range []bool{false, true} {
		writer := typeWriter{in: &at.in.namespace, file: at.file, parameters: at.parameters,
			open: map[*declaration]bool{}, expands: func(*declaration) bool { return expand }, length: at.in.length}
		writer.write(expr)
		if expand {
			w.Meaning = writer.String()
		} else {
			w.Name = writer.String()
		}
	}
	return w
}

// follow declares the types of the module that an expression names, and calls visit for each.
func (r *surfaceReader) follow(at scopeOf, expr ast.Node, visit func(name string)) {
	model.EachName(expr, func(id *ast.Ident) {
		if at.parameters[id.Name] == "" {
			if name := r.declareType(at.in, id.Name); name != "" {
				visit(name)
			} else if types.Universe.Lookup(id.Name) == nil {
				r.unread[at.in.prefix+id.Name] = true
			}
		}
	})
	qualified(expr, func(x *ast.Ident, sel *ast.SelectorExpr) {
		importPath := at.in.path(at.file, x.Name)
		if in := r.packageOf(importPath); in != nil {
			if name := r.declareType(in, sel.Sel.Name); name != "" {
				visit(name)
			}
		} else if strings.HasPrefix(importPath, ".") {
			r.unread[importPath+"."+sel.Sel.Name] = true
		}
	})
}
