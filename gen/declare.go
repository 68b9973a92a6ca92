package gen

import (
	"go/ast"
	"go/token"
)

// A declaration is one package-level name, or a method of a type of the package.
type declaration struct {
	name  string
	kind  token.Token // TYPE, CONST, VAR or FUNC
	pos   token.Pos
	file  *file
	doc   *ast.CommentGroup
	spec  *ast.TypeSpec // of a type
	owner string        // of a method: the name of its receiver's type

	group    token.Pos         // of a constant: its declaration, perhaps with others in parentheses
	groupDoc *ast.CommentGroup // the comment on a declaration with parentheses
}

// structure returns the struct type of the declaration, or nil if it is not declared with a struct literal.
func (d *declaration) structure() *ast.StructType {
	if d == nil || d.spec == nil {
		return nil
	}
	s, _ := ast.Unparen(d.spec.Type).(*ast.StructType)
	return s
}

// generic reports whether the declaration has type parameters.
func (d *declaration) generic() bool { return d.spec != nil && d.spec.TypeParams != nil }

// declarations returns the declarations of a file in source order.
func declarations(f *file) []*declaration {
	var all []*declaration
	add := func(d declaration, name *ast.Ident) {
		if name == nil || name.Name == "_" || name.Name == "" {
			return
		}
		d.name, d.pos, d.file = name.Name, name.Pos(), f
		all = append(all, &d)
	}
	for _, decl := range f.tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			switch {
			case decl.Recv != nil:
				add(declaration{kind: token.FUNC, owner: receiver(decl.Recv)}, decl.Name)
			case decl.Name.Name != "init":
				add(declaration{kind: token.FUNC}, decl.Name)
			}
		case *ast.GenDecl:
			doc, groupDoc := decl.Doc, (*ast.CommentGroup)(nil)
			if decl.Lparen.IsValid() {
				doc, groupDoc = nil, decl.Doc
			}
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(declaration{kind: token.TYPE, doc: firstOf(spec.Doc, doc, spec.Comment), spec: spec}, spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(declaration{kind: decl.Tok, doc: firstOf(spec.Doc, doc, spec.Comment), group: decl.Pos(), groupDoc: groupDoc},
							name)
					}
				}
			}
		}
	}
	return all
}

// scopeOfFiles returns the declarations of files by their names, the first of each name, and all methods.
func scopeOfFiles(files []*file) (scope map[string]*declaration, methods []*declaration) {
	scope = map[string]*declaration{}
	for _, f := range files {
		for _, d := range declarations(f) {
			switch {
			case d.owner != "":
				methods = append(methods, d)
			case scope[d.name] == nil:
				scope[d.name] = d
			}
		}
	}
	return scope, methods
}

// receiver returns the type name of a receiver, or "" if the receiver does not parse.
func receiver(list *ast.FieldList) string {
	if len(list.List) != 1 {
		return ""
	}
	if name := baseName(list.List[0].Type); name != nil {
		return name.Name
	}
	return ""
}

// baseName returns the identifier of a type without its pointers, parentheses and type arguments. It returns nil if
// that leaves no plain identifier, for example for []T.
func baseName(expr ast.Expr) *ast.Ident {
	for {
		switch e := expr.(type) {
		case *ast.Ident:
			return e
		case *ast.ParenExpr:
			expr = e.X
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		default:
			return nil
		}
	}
}

// firstOf returns the first comment that is not nil.
func firstOf(groups ...*ast.CommentGroup) *ast.CommentGroup {
	for _, g := range groups {
		if g != nil {
			return g
		}
	}
	return nil
}
