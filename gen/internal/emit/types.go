package emit

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// typ converts a type expression of the spec into code. Types of the spec's package keep their names, because a
// generated package of its own has an alias for each.
func (e *emitter) typ(x ast.Expr) *jen.Statement {
	switch x := x.(type) {
	case *ast.Ident:
		return jen.Id(x.Name)
	case *ast.SelectorExpr:
		if q, ok := x.X.(*ast.Ident); ok {
			if p, ok := e.paths[q.Name]; ok {
				return jen.Qual(p, x.Sel.Name)
			}
		}
		return e.typ(x.X).Dot(x.Sel.Name)
	case *ast.StarExpr:
		return jen.Op("*").Add(e.typ(x.X))
	case *ast.ParenExpr:
		return jen.Parens(e.typ(x.X))
	case *ast.ArrayType:
		if x.Len == nil {
			return jen.Index().Add(e.typ(x.Elt))
		}
		return jen.Index(e.typ(x.Len)).Add(e.typ(x.Elt))
	case *ast.Ellipsis:
		if x.Elt == nil {
			return jen.Op("...")
		}
		return jen.Op("...").Add(e.typ(x.Elt))
	case *ast.MapType:
		return jen.Map(e.typ(x.Key)).Add(e.typ(x.Value))
	case *ast.ChanType:
		switch x.Dir {
		case ast.SEND:
			return jen.Chan().Op("<-").Add(e.typ(x.Value))
		case ast.RECV:
			return jen.Op("<-").Chan().Add(e.typ(x.Value))
		}
		if c, ok := x.Value.(*ast.ChanType); ok && c.Dir == ast.RECV {
			return jen.Chan().Parens(e.typ(x.Value))
		}
		return jen.Chan().Add(e.typ(x.Value))
	case *ast.IndexExpr:
		return e.typ(x.X).Types(e.typ(x.Index))
	case *ast.IndexListExpr:
		return e.typ(x.X).Types(e.types(x.Indices)...)
	case *ast.FuncType:
		return jen.Func().Add(e.signature(x))
	case *ast.StructType:
		return jen.StructFunc(func(g *jen.Group) { e.members(g, x.Fields) })
	case *ast.InterfaceType:
		return jen.InterfaceFunc(func(g *jen.Group) { e.members(g, x.Methods) })
	case *ast.BasicLit:
		return jen.Op(literal(x.Value))
	case *ast.UnaryExpr:
		return jen.Op(x.Op.String()).Add(e.typ(x.X))
	case *ast.BinaryExpr:
		return e.typ(x.X).Op(x.Op.String()).Add(e.typ(x.Y))
	case *ast.CallExpr:
		return e.typ(x.Fun).Call(e.types(x.Args)...)
	}
	panic(fmt.Sprintf("emit: %T is not part of a type", x))
}

func (e *emitter) types(list []ast.Expr) []jen.Code {
	codes := make([]jen.Code, len(list))
	for i, x := range list {
		codes[i] = e.typ(x)
	}
	return codes
}

// signature returns the parameters and results of a function type.
func (e *emitter) signature(x *ast.FuncType) *jen.Statement {
	s := jen.Params(e.fields(x.Params)...)
	if x.Results != nil {
		s.Params(e.fields(x.Results)...)
	}
	return s
}

func (e *emitter) fields(l *ast.FieldList) []jen.Code {
	var codes []jen.Code
	for _, f := range l.List {
		if len(f.Names) == 0 {
			codes = append(codes, e.typ(f.Type))
		}
		for _, n := range f.Names {
			codes = append(codes, jen.Id(n.Name).Add(e.typ(f.Type)))
		}
	}
	return codes
}

// members adds the fields of a struct, or the methods and elements of an interface.
func (e *emitter) members(g *jen.Group, l *ast.FieldList) {
	for _, f := range l.List {
		add := func(c *jen.Statement) {
			if f.Tag != nil {
				c.Op(literal(f.Tag.Value))
			}
			g.Add(c)
		}
		if len(f.Names) == 0 {
			add(e.typ(f.Type))
		}
		for _, n := range f.Names {
			if ft, ok := f.Type.(*ast.FuncType); ok && ft.Func == token.NoPos {
				add(jen.Id(n.Name).Add(e.signature(ft)))
				continue
			}
			add(jen.Id(n.Name).Add(e.typ(f.Type)))
		}
	}
}

// literal returns a literal. It converts a raw string of several lines to one line.
func literal(text string) string {
	if !strings.Contains(text, "\n") {
		return text
	}
	value, err := strconv.Unquote(text)
	if err != nil {
		return text // it was parsed, so it is a string
	}
	return strconv.Quote(value)
}

// text returns an expression as it appears in the spec, without the qualifier of the spec language.
func (e *emitter) text(x ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), x); err != nil {
		return "" // printing into memory an expression that was parsed
	}
	return strings.Join(strings.Fields(strings.TrimPrefix(b.String(), e.spec.SpecPkg.Name+".")), " ")
}

// code returns a type as the template writes it.
func (e *emitter) code(typ typeCode) string {
	if typ.Statement == nil {
		return ""
	}
	raw, err := e.render(func(f *jen.File) { f.Type().Id("_").Add(typ) })
	if err != nil {
		return err.Error() // jennifer fails only where it formats
	}
	return strings.TrimPrefix(strings.TrimSpace(string(raw)), "type _ ")
}
