package gen

import "go/token"

// A TypeDecl is a type that a file of the spec's package declares.
type TypeDecl struct {
	Name   string
	Doc    string
	Pos    token.Pos
	Params []Field // type parameters with their constraints, for a generic type
	Alias  bool
	Type   Type    // the right side of the declaration
	Fields []Field // of a struct type, in source order

	Encodes bool // it has a method MarshalJSON or MarshalText, so its JSON need not be that of its fields
}

// TypeDecl returns the declaration of a type of the spec's package, or nil if no file that was read declares it. Use it
// to follow the types of payloads and exits. Tests, generated files, and files with build constraints do not count.
func (s *Spec) TypeDecl(name string) *TypeDecl {
	if s.info == nil {
		return nil
	}
	d := s.info.scope[name]
	if d == nil || d.spec == nil || d.spec.Type == nil || unparsed(d.spec.TypeParams) {
		return nil
	}
	t := &TypeDecl{
		Name: name, Doc: d.doc.Text(), Pos: d.pos, Alias: d.spec.Assign.IsValid(), Type: typeOf(d.spec.Type),
	}
	for _, p := range flatten(d.spec.TypeParams) {
		t.Params = append(t.Params, Field{Name: p.name.Name, Type: typeOf(p.typ)})
	}
	if body := d.structure(); body != nil {
		t.Fields = fieldsOf(body)
	}
	for _, m := range s.info.methods {
		t.Encodes = t.Encodes || m.owner == name && (m.name == "MarshalJSON" || m.name == "MarshalText")
	}
	return t
}
