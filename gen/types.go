package gen

import (
	"bytes"
	"go/ast"
	"strings"
)

// predeclared are the types and constants that Go predeclares, and nil.
var predeclared = words(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16
	int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil`)

// builtins are the functions that Go predeclares.
var builtins = words("append cap clear close complex copy delete imag len make max min new panic print println real " +
	"recover")

// typeNames calls visit for every unqualified name in an expression, except the names of fields and methods.
func typeNames(node ast.Node, visit func(*ast.Ident)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			typeNames(n.Type, visit)
			return false
		case *ast.SelectorExpr:
			return false
		case *ast.Ident:
			visit(n)
		}
		return true
	})
}

// text returns the source of an expression of the spec file on one line, for messages. Long expressions are truncated.
func (r *specInfo) text(expr ast.Expr) string {
	const longest = 48
	text := r.span(expr)
	if enough := 16 * longest; len(text) > enough && len(bytes.Join(bytes.Fields(text[:enough]), nil)) > 4*longest {
		text = text[:enough]
	}
	line := string(bytes.Join(bytes.Fields(text), []byte(" ")))
	if runes := []rune(line); len(runes) > longest {
		return string(runes[:longest-3]) + "..."
	}
	return line
}

// source returns the source of an expression of the spec file on one line.
func (r *specInfo) source(expr ast.Expr) string {
	return string(bytes.Join(bytes.Fields(r.span(expr)), []byte(" ")))
}

// span returns the bytes of the spec file that an expression covers.
func (r *specInfo) span(expr ast.Expr) []byte {
	start, end := r.offset(expr.Pos()), r.offset(expr.End())
	if start < 0 || end > len(r.file.text) || start > end {
		return []byte("this")
	}
	return r.file.text[start:end]
}

// canonical returns a text that is equal for two spellings of the same type. It resolves aliases of the spec file,
// writes import paths for qualifiers, and replaces the type parameters. It reports false if the type is too large to
// compare.
func (r *specInfo) canonical(expr ast.Expr, parameters map[string]string) (string, bool) {
	w := typeWriter{specInfo: r, parameters: parameters, open: map[*declaration]bool{}}
	w.write(expr)
	return w.String(), w.Len() < w.limit()
}

// A typeWriter writes one type in canonical form.
type typeWriter struct {
	strings.Builder
	*specInfo
	parameters map[string]string
	open       map[*declaration]bool // aliases being resolved
}

// limit is the size after which nothing is added. An alias of a struct with two aliases can double the text at every
// step.
func (w *typeWriter) limit() int { return 1 << 14 }

func (w *typeWriter) write(expr ast.Expr) {
	if w.Len() >= w.limit() {
		return
	}
	switch e := expr.(type) {
	case *ast.Ident:
		w.name(e.Name)
	case *ast.ParenExpr:
		w.write(e.X)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		if !ok {
			w.WriteString(w.source(e))
			return
		}
		qualifier := x.Name
		if line := w.qualifiers[x.Name]; line != nil {
			qualifier = line.path
		}
		w.WriteString(qualifier + "." + e.Sel.Name)
	case *ast.StarExpr:
		w.sequence("*", e.X)
	case *ast.Ellipsis:
		w.sequence("...", e.Elt)
	case *ast.ArrayType:
		w.sequence("[", e.Len)
		w.sequence("]", e.Elt)
	case *ast.MapType:
		w.sequence("map[", e.Key)
		w.sequence("]", e.Value)
	case *ast.ChanType:
		w.WriteString([]string{"chan ", "chan<- ", "<-chan ", "chan "}[e.Dir&3])
		w.sequence("(", e.Value)
		w.WriteString(")")
	case *ast.IndexExpr:
		w.write(e.X)
		w.sequence("[", e.Index)
		w.WriteString("]")
	case *ast.IndexListExpr:
		w.write(e.X)
		w.sequence("[", e.Indices...)
		w.WriteString("]")
	case *ast.FuncType:
		w.WriteString("func")
		w.fields(e.Params, false)
		w.fields(e.Results, false)
	case *ast.StructType:
		w.WriteString("struct")
		w.fields(e.Fields, true)
	case *ast.InterfaceType:
		w.WriteString("interface")
		w.fields(e.Methods, true)
	case *ast.BasicLit:
		w.WriteString(e.Value)
	default:
		w.WriteString(w.source(e))
	}
}

// sequence writes a prefix and then the types, separated by commas.
func (w *typeWriter) sequence(before string, exprs ...ast.Expr) {
	w.WriteString(before)
	for i, e := range exprs {
		if i > 0 {
			w.WriteString(",")
		}
		if e != nil {
			w.write(e)
		}
	}
}

// fields writes a list of fields. Names and tags are part of a struct type, but not of a function type.
func (w *typeWriter) fields(list *ast.FieldList, named bool) {
	w.WriteString("(")
	if list != nil {
		for _, f := range list.List {
			for i := range max(1, len(f.Names)) {
				if named && len(f.Names) > 0 {
					w.WriteString(f.Names[i].Name + " ")
				}
				w.write(f.Type)
				if named && f.Tag != nil {
					w.WriteString(f.Tag.Value)
				}
				w.WriteString(";")
			}
		}
	}
	w.WriteString(")")
}

// name writes an unqualified name. An alias is written as its type, a type parameter as its argument.
func (w *typeWriter) name(name string) {
	if value, ok := w.parameters[name]; ok {
		w.WriteString(value)
		return
	}
	d := w.scope[name]
	switch {
	case d == nil:
		switch name {
		case "byte":
			name = "uint8"
		case "rune":
			name = "int32"
		case "any":
			name = "interface()"
		}
		w.WriteString(name)
	case d.file == w.file && d.spec != nil && d.spec.Assign.IsValid() && !d.generic() && !w.open[d]:
		w.open[d] = true
		w.write(d.spec.Type)
		delete(w.open, d)
	default:
		w.WriteString(name)
	}
}
