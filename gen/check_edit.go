package gen

import (
	"go/ast"
	"go/token"
	"strings"
)

// edits calls visit for every Edit that has a type argument and a payload.
func (r *specInfo) edits(visit func(m *member, e *element)) {
	for m, e := range r.elements() {
		if e.is("Edit") && !e.argument().IsZero() && !m.Payload.IsZero() {
			visit(m, e)
		}
	}
}

func checkEditPayload(r *specInfo, report report) {
	r.edits(func(m *member, e *element) {
		if d := r.editable(m.Payload.Expr); d != nil {
			if d.fields > maxEditable {
				report(e.expr.Pos(), "%s has %d fields, and the one to edit is looked for among %d at most: "+
					"move some into a struct of their own", d.name, d.fields, maxEditable)
			}
			return
		}
		if name := baseName(m.Payload.Expr); name != nil && r.undefined(name.Name, false) != "" {
			return // reported as such
		}
		payload := r.text(m.Payload.Expr)
		why := "is not a struct declared in this file"
		if _, ok := ast.Unparen(m.Payload.Expr).(*ast.StarExpr); ok {
			why = "is a pointer, through which a hook could change every field"
		}
		report(e.expr.Pos(), "%s edits one field of a struct, and the payload %s %s: "+
			"declare the struct here and take it by value, or list spec.Replace", r.text(e.expr), payload, why)
	})
}

func checkEditField(r *specInfo, report report) {
	r.edits(func(m *member, e *element) {
		d := r.editable(m.Payload.Expr)
		edit := e.argument()
		if d == nil || d.fields > maxEditable || r.mentionsUndefined(edit.Expr) {
			return // reported as such
		}
		fields := d.fieldsOfType(r, edit)
		switch {
		case len(fields) == 0:
			report(e.expr.Pos(), "%s has no field of type %s: name the type of the field that hooks may change",
				d.name, r.text(edit.Expr))
		case len(fields) > 1:
			report(e.expr.Pos(), "%s has %d fields of type %s (%s): give the one that hooks may change a type of its own",
				d.name, len(fields), r.text(edit.Expr), strings.Join(fields, ", "))
		case !token.IsExported(fields[0]):
			report(e.expr.Pos(), "field %s of %s is not exported, so hooks cannot see what they edit: %s", fields[0], d.name,
				exportedForm(fields[0]))
		}
	})
}
