package gen

import (
	_ "embed" // for unencodable.txt
	"go/ast"
	"go/token"
	"strings"
	"sync"
)

// checkWireType looks for fields that encoding/json cannot write and read. It follows types that the package declares.
// For a type of another package, the generated functions check when they are called.
func checkWireType(r *specInfo, report report) {
	if !r.Wire {
		return
	}
	w := &wireTypes{specInfo: r, report: report, met: map[string]bool{}, own: map[string]bool{}}
	for _, m := range r.methods {
		switch m.name {
		case "MarshalJSON", "MarshalText", "UnmarshalJSON", "UnmarshalText":
			w.own[m.owner] = true
		}
	}
	for _, p := range r.Points {
		if !r.Wired(p) {
			continue
		}
		w.walk(p.Payload.Expr, "the payload of "+p.Name)
		w.walk(p.Collect.Expr, "the contribution to "+p.Name)
		for _, exit := range p.Exits {
			w.walk(ast.NewIdent(exit), "an exit of "+p.Name)
		}
	}
}

// wireTypes visits the types of the wire points, each declared type once.
type wireTypes struct {
	*specInfo
	report report
	met    map[string]bool
	own    map[string]bool // types with methods of encoding/json
}

// unencodableText has the types of the standard library that JSON cannot hold, one per line: interfaces with methods,
// structs with functions or channels, and structs without exported fields, which would arrive empty. Types of other
// packages are checked when a program connects.
//
//go:embed unencodable.txt
var unencodableText string

var unencodable = sync.OnceValue(func() map[string]bool { return words(unencodableText) })

// walk visits a type that is written inside another one, or nil.
func (w *wireTypes) walk(expr ast.Expr, inside string) {
	switch t := expr.(type) {
	case *ast.ParenExpr:
		w.walk(t.X, inside)
	case *ast.StarExpr:
		w.walk(t.X, inside)
	case *ast.ArrayType:
		w.walk(t.Elt, inside)
	case *ast.MapType:
		if key := w.wrongKey(t.Key, 0); key != "" {
			w.refuse(t.Key.Pos(), inside, "a map with keys of type "+key)
		}
		w.walk(t.Value, inside)
	case *ast.IndexExpr:
		w.walk(t.X, inside)
		w.walk(t.Index, inside)
	case *ast.IndexListExpr:
		w.walk(t.X, inside)
		for _, arg := range t.Indices {
			w.walk(arg, inside)
		}
	case *ast.StructType:
		w.fields(t)
	case *ast.FuncType:
		w.refuse(t.Pos(), inside, "a func")
	case *ast.ChanType:
		w.refuse(t.Pos(), inside, "a chan")
	case *ast.SelectorExpr:
		x, _ := t.X.(*ast.Ident) // of code that compiles, it is the name of a package
		if x == nil {
			return
		}
		if line := w.qualifiers[x.Name]; line != nil && unencodable()[line.path+"."+t.Sel.Name] {
			w.refuse(t.Pos(), inside, "of type "+line.path+"."+t.Sel.Name)
		}
	case *ast.InterfaceType:
		if len(t.Methods.List) > 0 {
			w.refuse(t.Pos(), inside, "an interface with methods")
		}
	case *ast.Ident:
		w.name(t, inside)
	}
}

// wrongKey returns the type of the keys of a map if encoding/json cannot write them, or "". It accepts types of other
// packages.
func (w *wireTypes) wrongKey(expr ast.Expr, depth int) string {
	const deepest = 100 // of declarations, because a type may be declared by itself
	switch t := expr.(type) {
	case *ast.ParenExpr:
		return w.wrongKey(t.X, depth)
	case *ast.Ident:
		if d := w.scope[t.Name]; d != nil {
			if d.spec == nil || w.own[t.Name] || depth > deepest || w.wrongKey(d.spec.Type, depth+1) == "" {
				return ""
			}
			return t.Name
		}
		switch t.Name {
		case "bool", "float32", "float64", "complex64", "complex128", "any", "error":
			return t.Name
		}
	case *ast.ArrayType, *ast.StructType, *ast.StarExpr, *ast.InterfaceType, *ast.ChanType:
		return w.text(expr)
	}
	return ""
}

// name visits the declaration of a type of the package.
func (w *wireTypes) name(id *ast.Ident, inside string) {
	d := w.scope[id.Name]
	switch {
	case d == nil && id.Name == "error":
		w.refuse(id.Pos(), inside, "an error")
	case d == nil && strings.HasPrefix(id.Name, "complex"):
		w.refuse(id.Pos(), inside, "a "+id.Name)
	}
	if d == nil || d.spec == nil || w.met[id.Name] || w.own[id.Name] {
		return
	}
	w.met[id.Name] = true
	if _, isStruct := ast.Unparen(d.spec.Type).(*ast.StructType); !isStruct {
		inside = "type " + id.Name
	}
	w.walk(d.spec.Type, inside)
}

func (w *wireTypes) fields(t *ast.StructType) {
	for _, f := range t.Fields.List {
		if f.Tag != nil && jsonIgnores(f.Tag.Value) {
			continue
		}
		inside, exported := "an embedded field", true
		if len(f.Names) > 0 {
			inside, exported = "field "+f.Names[0].Name, f.Names[0].IsExported()
		}
		if exported {
			w.walk(f.Type, inside)
		}
	}
}

// jsonIgnores reports whether a field with the tag is left out by encoding/json.
func jsonIgnores(tag string) bool {
	return strings.Contains(tag, `json:"-"`)
}

func (w *wireTypes) refuse(pos token.Pos, inside, what string) {
	w.report(pos, "%s is %s, which JSON cannot hold, and the spec is marked %s: "+
		"change the type, leave the field out with the tag json:\"-\", or mark the point %s",
		inside, what, "//hookgen:wire", "//hookgen:local")
}
