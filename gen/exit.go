package gen

import (
	"go/ast"
	"slices"
)

// readExits sets the exits of each point in the order of its list, and the exits of the spec in the order of
// declaration.
func (r *specInfo) readExits() {
	exits := map[*declaration]*Exit{}
	for _, m := range r.members {
		for _, e := range m.law {
			if e.kind != exitElement {
				continue
			}
			exit := exits[e.decl]
			if exit == nil {
				exit = &Exit{Name: e.decl.name, Doc: e.decl.doc.Text(), Pos: e.decl.pos, Fields: fieldsOf(e.decl.structure())}
				exits[e.decl] = exit
				r.Spec.Exits = append(r.Spec.Exits, exit)
			}
			m.Exits = append(m.Exits, exit.Name)
		}
	}
	slices.SortFunc(r.Spec.Exits, func(a, b *Exit) int { return int(a.Pos) - int(b.Pos) })
}

// fieldsOf returns one field for each name of a struct, so that A, B int becomes two fields.
func fieldsOf(s *ast.StructType) []Field {
	var fields []Field
	for _, f := range s.Fields.List {
		field := Field{Type: typeOf(f.Type), Doc: firstOf(f.Doc, f.Comment).Text()}
		if f.Tag != nil {
			field.Tag = f.Tag.Value
		}
		for _, name := range f.Names {
			field.Name = name.Name
			fields = append(fields, field)
		}
		if len(f.Names) == 0 {
			field.Name, field.Embedded = embeddedName(f.Type), true
			fields = append(fields, field)
		}
	}
	return fields
}

// embeddedName returns the field name of an embedded type: the type name without package, pointer and type arguments.
func embeddedName(expr ast.Expr) string {
	base, _ := instance(expr)
	if star, ok := base.(*ast.StarExpr); ok {
		base, _ = instance(star.X)
	}
	switch base := base.(type) {
	case *ast.Ident:
		return base.Name
	case *ast.SelectorExpr:
		return base.Sel.Name
	}
	return ""
}
