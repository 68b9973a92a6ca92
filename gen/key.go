package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// keyKinds are the predeclared types of keys.
var keyKinds = words(`string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune`)

// readKeys sets the key of each point that has a //hookgen:key line. Points with a key of the same name share its type.
func (r *specInfo) readKeys() {
	types := map[string]*member{}
	for _, m := range r.members {
		if m.keyLine == nil {
			continue
		}
		m.keyError = r.readKey(m)
		if m.keyError != "" {
			continue
		}
		first := types[m.Key.Name]
		if first == nil {
			types[m.Key.Name] = m
		} else if was, is := first.Key.Type.String(), m.Key.Type.String(); was != is {
			m.keyError = "is of type " + is + " here and of type " + was + " at " + first.Name +
				": give one of the keys another name"
		}
	}
}

// readKey sets the key of a point, and returns the reason if it cannot.
func (r *specInfo) readKey(m *member) string {
	words := strings.Fields(m.keyLine.args)
	if len(words) < 2 {
		return "names no field: write " + keyForm + ", for example //hookgen:key Tool Name"
	}
	name, field := words[0], words[1]
	if !token.IsIdentifier(name) || !token.IsExported(name) {
		return "has the name " + name + ", from which no exported function can be made: begin it with a capital letter"
	}
	m.Key.Name, m.Key.Field = name, field
	typ, reason := r.keyType(m.Payload.Expr, strings.Split(field, "."), len(words) > 2)
	if len(words) > 2 && reason == "" {
		given, err := parser.ParseExpr(strings.Join(words[2:], " "))
		if err != nil {
			return "has a type that does not parse: write the type of the field, for example string"
		}
		if typ != nil && (Type{Expr: typ}).String() != (Type{Expr: given}).String() {
			return "has the type " + (Type{Expr: given}).String() + ", and the field is of type " + (Type{Expr: typ}).String() +
				": leave the type out"
		}
		typ = given
	}
	if reason == "" && !r.isKeyType(typ, 0) {
		reason = "is of type " + (Type{Expr: typ}).String() +
			", which cannot be a key: choose a string, an integer, or an array or struct of them"
	}
	m.Key.Type = Type{Expr: typ, Pos: m.keyLine.pos}
	return reason
}

// keyType returns the type of a field of a payload. The result is nil if the path leaves the spec's package and the
// directive has the type.
func (r *specInfo) keyType(payload ast.Expr, path []string, given bool) (typ ast.Expr, reason string) {
	typ = payload
	if star, ok := payload.(*ast.StarExpr); ok {
		typ = star.X
	}
	for _, name := range path {
		if !token.IsIdentifier(name) || !token.IsExported(name) {
			return nil, "names the field " + name + ", which is not exported: export it"
		}
		if _, pointer := typ.(*ast.StarExpr); pointer {
			return nil, "leads through the pointer " + (Type{Expr: typ}).String() + ", which may be nil: " +
				"name a field that is in the payload itself"
		}
		structure := r.structureOf(typ)
		if structure == nil {
			if given {
				return nil, ""
			}
			return nil, "leads into " + (Type{Expr: typ}).String() + ", which is not a struct of this package: " +
				"add the type of the key at the end of the line"
		}
		fields := fieldsOf(structure)
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			return nil, "names " + name + ", which is not a field of " + (Type{Expr: typ}).String() + ": " +
				didYouMean(name, names, "", "name a field of the payload")
		}
		typ = fields[i].Type.Expr
	}
	return typ, ""
}

// structureOf returns the struct that a type of the spec's package is declared as, or nil.
func (r *specInfo) structureOf(typ ast.Expr) *ast.StructType {
	name, ok := ast.Unparen(typ).(*ast.Ident)
	if !ok || r.scope[name.Name] == nil {
		return nil
	}
	return r.scope[name.Name].structure()
}

// maxKeyLevels limits the levels of the type of a key.
const maxKeyLevels = 20

// isKeyType reports whether values of a type can be keys. Types of other packages are left to the compiler.
func (r *specInfo) isKeyType(typ ast.Expr, level int) bool {
	if level > maxKeyLevels {
		return false
	}
	switch x := ast.Unparen(typ).(type) {
	case *ast.SelectorExpr:
		return true
	case *ast.ArrayType:
		return x.Len != nil && r.isKeyType(x.Elt, level+1)
	case *ast.StructType:
		for _, f := range fieldsOf(x) {
			if !r.isKeyType(f.Type.Expr, level+1) {
				return false
			}
		}
		return true
	case *ast.Ident:
		d := r.scope[x.Name]
		if d == nil {
			return keyKinds[x.Name]
		}
		return d.spec != nil && !d.generic() && r.isKeyType(d.spec.Type, level+1)
	}
	return false
}

func checkKey(r *specInfo, report report) {
	for _, m := range r.members {
		if m.keyError != "" {
			report(m.keyLine.pos, "%s of %s %s", keyDirective, m.Name, m.keyError)
		}
	}
}

// keyDirective is the beginning of the line that gives a point a key.
const keyDirective = directivePrefix + "key"

// keyOptions returns the names of the generated functions for keys, for example ForTool.
func (r *specInfo) keyOptions() []string {
	var names []string
	for _, m := range r.members {
		if name := "For" + m.Key.Name; m.Key.Name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
