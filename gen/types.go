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

// text returns the source of an expression of the spec file on one line, for messages. Long expressions are truncated.
func (r *specInfo) text(expr ast.Expr) string { return r.file.shortLine(expr) }

// shortLine returns the source of an expression of the file on one line. Long expressions are truncated.
func (f *file) shortLine(expr ast.Expr) string {
	const longest = 48
	text := f.span(expr)
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
func (r *specInfo) source(expr ast.Expr) string { return r.file.line(expr) }

// line returns the source of an expression of the file on one line.
func (f *file) line(expr ast.Expr) string {
	return string(bytes.Join(bytes.Fields(f.span(expr)), []byte(" ")))
}

// span returns the bytes of the file that an expression covers.
func (f *file) span(expr ast.Expr) []byte {
	start, end := int(expr.Pos()-f.tree.FileStart), int(expr.End()-f.tree.FileStart)
	if start < 0 || end > len(f.text) || start > end {
		return []byte("this")
	}
	return f.text[start:end]
}

// canonical returns a text that is equal for two spellings of the same type. It resolves aliases of the spec file,
// writes import paths for qualifiers, and replaces the type parameters. It reports false if the type is too large to
// compare.
func (r *specInfo) canonical(expr ast.Expr, parameters map[string]string) (string, bool) {
	names := &namespace{scope: r.scope, path: func(_ *file, qualifier string) string {
		if line := r.qualifiers[qualifier]; line != nil {
			return line.path
		}
		return ""
	}}
	w := typeWriter{in: names, file: r.file, parameters: parameters, open: map[*declaration]bool{},
		expands: func(d *declaration) bool { return d.file == r.file }}
	w.write(expr)
	return w.String(), w.Len() < w.limit()
}

// A namespace resolves the names in the files of one package.
type namespace struct {
	prefix string // of its names in a canonical type, with the dot; "" for the package of the spec
	scope  map[string]*declaration
	path   func(f *file, qualifier string) string // the import path for a qualifier; "" if it is unknown
}

// A typeWriter writes one type in canonical form.
type typeWriter struct {
	strings.Builder
	in         *namespace
	file       *file // that the type is written in
	parameters map[string]string
	expands    func(alias *declaration) bool // whether an alias is written as its type
	open       map[*declaration]bool         // aliases being resolved
	length     func(ast.Expr) string         // the length of an array, or "" if it is unknown; can be nil
}

// lengthOf returns the length of an array as a number, or "" if it is unknown. A slice has none.
func (w *typeWriter) lengthOf(expr ast.Expr) string {
	if w.length == nil || expr == nil {
		return ""
	}
	return w.length(expr)
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
			w.WriteString(w.file.line(e))
			return
		}
		qualifier := x.Name
		if path := w.in.path(w.file, x.Name); path != "" {
			qualifier = path
		}
		w.WriteString(qualifier + "." + e.Sel.Name)
	case *ast.StarExpr:
		w.sequence("*", e.X)
	case *ast.Ellipsis:
		w.sequence("...", e.Elt)
	case *ast.ArrayType:
		w.WriteString("[")
		if length := w.lengthOf(e.Len); length != "" {
			w.WriteString(length)
		} else if e.Len != nil {
			w.write(e.Len)
		}
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
		w.WriteString(w.file.line(e))
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
	d := w.in.scope[name]
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
	case d.spec != nil && d.spec.Assign.IsValid() && !d.generic() && !w.open[d] && w.expands(d):
		w.open[d] = true
		file := w.file
		w.file = d.file
		w.write(d.spec.Type)
		w.file = file
		delete(w.open, d)
	default:
		w.WriteString(w.in.prefix + name)
	}
}
