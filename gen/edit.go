package gen

import (
	"go/ast"
)

// maxEditable limits the fields of a payload with an Edit, because each Edit is compared with every field.
const maxEditable = 1000

// An editable is a payload that an Edit can change: a struct of the spec file. Each instance of a generic struct is an
// editable of its own.
type editable struct {
	*declaration
	fields int
	byType map[string][]string // names of fields by canonical type; empty beyond maxEditable
}

// editable returns the struct of a payload, or nil if the payload is not a struct of the spec file. Results are cached,
// because many points can have the same payload.
func (r *specInfo) editable(payload ast.Expr) *editable {
	base, args := instance(payload)
	name, ok := base.(*ast.Ident)
	if !ok {
		return nil
	}
	d := r.scope[name.Name]
	if d.structure() == nil || d.file != r.file {
		return nil
	}
	key := r.source(payload)
	if have := r.editables[key]; have != nil {
		return have
	}
	parameters := map[string]string{}
	for i, p := range flatten(d.spec.TypeParams) {
		if i < len(args) {
			parameters[p.name.Name], _ = r.canonical(args[i], nil)
		}
	}
	fields := fieldsOf(d.structure())
	e := &editable{declaration: d, fields: len(fields), byType: map[string][]string{}}
	if len(fields) <= maxEditable {
		for _, f := range fields {
			if t, ok := r.canonical(f.Type.Expr, parameters); ok {
				e.byType[t] = append(e.byType[t], f.Name)
			}
		}
	}
	r.editables[key] = e
	return e
}

// fieldsOfType returns the names of the fields with a type.
func (e *editable) fieldsOfType(r *specInfo, t Type) []string {
	if want, ok := r.canonical(t.Expr, nil); ok {
		return e.byType[want]
	}
	return nil
}
