package emit

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// Type returns a type of the spec as generated code writes it, and imports its packages. Types of the spec's package
// keep their names, because a generated package of its own has an alias for each.
func (e *emitter) Type(t model.Type) string { return e.typ(t.Expr) }

func (e *emitter) typ(x ast.Expr) string {
	text := printed(x)
	tree, err := parser.ParseExpr(text) // a copy, without comments
	if err != nil {
		return text // it was parsed before
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if q, ok := n.X.(*ast.Ident); ok && e.paths[q.Name] != "" {
				q.Name = e.Use(e.paths[q.Name])
			}
		case *ast.BasicLit:
			n.Value = literal(n.Value)
		}
		return true
	})
	return printed(tree)
}

// printed returns an expression as gofmt writes it, without the line breaks of the source.
func printed(x ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), x); err != nil {
		return "" // printing into memory an expression that was parsed
	}
	return b.String()
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
	return strings.Join(strings.Fields(strings.TrimPrefix(printed(x), e.Spec.SpecPkg.Name+".")), " ")
}
