package gen

import (
	"go/ast"
)

// payloadStruct returns the struct of the spec file that a payload is, with what its type parameters stand
// for; nil if the payload is something else.
func (r *reading) payloadStruct(payload ast.Expr) (*declaration, map[string]string) {
	base, args := instance(payload)
	name, ok := base.(*ast.Ident)
	if !ok {
		return nil, nil
	}
	d := r.scope[name.Name]
	if d.structure() == nil || d.file != r.file {
		return nil, nil
	}
	parameters := map[string]string{}
	for i, p := range flatten(d.spec.TypeParams) {
		if i < len(args) {
			parameters[p.name.Name], _ = r.canonical(args[i], nil)
		}
	}
	return d, parameters
}

// editFields returns the names of the fields of the payload that have the type of an Edit.
func (r *reading) editFields(payload ast.Expr, edit Type) []string {
	d, parameters := r.payloadStruct(payload)
	if d == nil {
		return nil
	}
	want, ok := r.canonical(edit.Expr, nil)
	if !ok {
		return nil
	}
	var names []string
	for _, f := range fieldsOf(d.structure()) {
		if got, ok := r.canonical(f.Type.Expr, parameters); ok && got == want {
			names = append(names, f.selector())
		}
	}
	return names
}

// selector is the name by which a field is selected: its own, or that of the type that it embeds.
func (f Field) selector() string {
	if f.Name != "" {
		return f.Name
	}
	base, _ := instance(f.Type.Expr)
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
