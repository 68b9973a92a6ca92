package gen

import (
	"cmp"
	"go/ast"
	"slices"
	"strconv"
)

// declareType adds a type and the types that it mentions to the surface, and returns its name. It returns "" if the
// package declares no such type.
func (r *surfaceReader) declareType(in *surfacePackage, name string) string {
	d := in.scope[name]
	if d == nil || d.spec == nil {
		return ""
	}
	full := in.prefix + name
	if r.types[full] != nil {
		return full
	}
	t := &SurfaceType{SurfaceDecl: r.decl(full, d.doc.Text(), d.pos), Exported: ast.IsExported(name),
		Alias: d.spec.Assign.IsValid()}
	r.types[full] = t
	at := scopeOf{in: in, file: d.file, parameters: map[string]string{}}
	list := flatten(d.spec.TypeParams)
	for i, p := range list {
		if p.name != nil {
			at.parameters[p.name.Name] = "$" + strconv.Itoa(i)
		}
	}
	for _, p := range list {
		t.Params += r.mention(t, at, p.typ).Name + ";"
	}
	switch body := ast.Unparen(d.spec.Type).(type) {
	case *ast.StructType:
		t.Struct = true
		t.Fields = r.fields(t, at, body)
	case *ast.InterfaceType:
		t.Interface = true
		r.readMethods(t, at, body)
	default:
		t.Underlying = r.mention(t, at, body)
	}
	for _, m := range in.methods {
		if m.owner == d.name {
			r.addMethod(t, at, m)
		}
	}
	slices.SortFunc(t.Methods, func(a, b SurfaceMethod) int { return cmp.Compare(a.Name, b.Name) })
	t.Incomparable = r.incomparable(at, d.spec.Type, map[*declaration]bool{d: true})
	return full
}

// mention reads a type expression in the declaration of t.
func (r *surfaceReader) mention(t *SurfaceType, at scopeOf, expr ast.Expr) Written {
	w := r.written(at, expr)
	for _, name := range w.Types {
		if !slices.Contains(t.Types, name) {
			t.Types = append(t.Types, name)
		}
	}
	return w
}

// fields reads the fields of a struct.
func (r *surfaceReader) fields(t *SurfaceType, at scopeOf, body *ast.StructType) []SurfaceField {
	var all []SurfaceField
	for _, f := range body.Fields.List {
		field, doc := SurfaceField{Type: r.spelled(at, f.Type)}, firstOf(f.Doc, f.Comment).Text()
		// Hooks cannot reach the type of a hidden field.
		if slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) || len(f.Names) == 0 {
			field.Type = r.mention(t, at, f.Type)
		}
		if f.Tag != nil {
			field.Tag = f.Tag.Value
			if tag, err := strconv.Unquote(f.Tag.Value); err == nil {
				field.Tag = tag
			}
		}
		for _, name := range f.Names {
			field.SurfaceDecl, field.Exported = r.decl(name.Name, doc, name.Pos()), name.IsExported()
			all = append(all, field)
		}
		if len(f.Names) == 0 {
			field.SurfaceDecl, field.Embedded = r.decl(embeddedName(f.Type), doc, f.Type.Pos()), true
			field.Exported = ast.IsExported(field.Name)
			all = append(all, field)
		}
	}
	return all
}

// readMethods reads the methods and the embedded elements of an interface.
func (r *surfaceReader) readMethods(t *SurfaceType, at scopeOf, body *ast.InterfaceType) {
	for _, f := range body.Methods.List {
		if len(f.Names) == 0 {
			t.Embeds = append(t.Embeds, r.mention(t, at, f.Type))
			continue
		}
		for _, name := range f.Names {
			doc := firstOf(f.Doc, f.Comment).Text()
			t.Methods = append(t.Methods, SurfaceMethod{SurfaceDecl: r.decl(name.Name, doc, name.Pos()),
				Signature: r.mention(t, at, f.Type), Exported: name.IsExported()})
		}
	}
}

// addMethod adds a declared method to its type.
func (r *surfaceReader) addMethod(t *SurfaceType, at scopeOf, m *declaration) {
	same := func(other SurfaceMethod) bool { return other.Name == m.name }
	if !ast.IsExported(m.name) || slices.ContainsFunc(t.Methods, same) {
		return
	}
	method := SurfaceMethod{SurfaceDecl: r.decl(m.name, "", m.pos), Exported: true}
	for _, decl := range m.file.tree.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Name.Pos() != m.pos {
			continue
		}
		method.SurfaceDecl = r.decl(m.name, f.Doc.Text(), m.pos)
		receiver := ast.Unparen(f.Recv.List[0].Type)
		if star, pointer := receiver.(*ast.StarExpr); pointer {
			method.Pointer, receiver = true, star.X
		}
		of := scopeOf{in: at.in, file: m.file, parameters: map[string]string{}}
		_, parameters := instance(receiver)
		for i, p := range parameters {
			if name, ok := p.(*ast.Ident); ok {
				of.parameters[name.Name] = "$" + strconv.Itoa(i)
			}
		}
		method.Signature = r.mention(t, of, f.Type)
	}
	t.Methods = append(t.Methods, method)
}
