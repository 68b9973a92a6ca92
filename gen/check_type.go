package gen

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// checkUndefinedType reports misspelled types in the spec. Without it, the compiler would report each of them about a
// dozen times in generated code.
func checkUndefinedType(r *specInfo, report report) {
	r.mentioned(func(name *ast.Ident, length bool) {
		if message := r.undefined(name.Name, length); message != "" {
			report(name.Pos(), "%s", message)
		}
	})
}

// mentionsUndefined reports whether a type contains an undeclared name.
func (r *specInfo) mentionsUndefined(expr ast.Expr) bool {
	is := false
	mentions(expr, false, func(name *ast.Ident, length bool) { is = is || r.undefined(name.Name, length) != "" })
	return is
}

// checkTypeArguments compares the number of type arguments with the declaration of each generic type.
func checkTypeArguments(r *specInfo, report report) {
	checkUse := func(use ast.Expr, name *ast.Ident, args int) {
		d := r.scope[name.Name]
		if d == nil || d.spec == nil || len(d.file.errors) > 0 {
			return
		}
		switch params := len(flatten(d.spec.TypeParams)); {
		case params == args:
		case params == 0:
			report(use.Pos(), "%s takes no type arguments: write %s", name.Name, name.Name)
		default:
			report(use.Pos(), "%s has %d type arguments and takes %d: write %s[%s]", name.Name, args, params, name.Name,
				strings.Repeat(", T", params)[2:])
		}
	}
	for _, t := range r.usedTypes() {
		uses(t.expr, checkUse)
	}
}

// dotImport reports whether the spec file has a dot import.
func (r *specInfo) dotImport() bool {
	return slices.ContainsFunc(r.imports, func(l *importLine) bool { return l.name == "." })
}

// undefined explains why a name is not a type, or not a constant if it is in the length of an array. It returns "" if
// the name is declared, or may be declared in a file that does not parse.
func (r *specInfo) undefined(name string, length bool) string {
	if message, known := r.undefinedNames[name]; known && !length {
		return message
	}
	message := r.undefinedMessage(name, length)
	if !length {
		r.undefinedNames[name] = message
	}
	return message
}

// undefinedMessage is undefined without the cache.
func (r *specInfo) undefinedMessage(name string, length bool) string {
	d, what := r.scope[name], "type"
	if length {
		what = "constant"
	}
	switch {
	case d != nil && !length && d.kind != token.TYPE:
		return name + " is " + article(d.kind) + ", not a type: write the name of a type"
	case d != nil || r.generates(name) || len(r.broken) > 0:
		return ""
	case predeclared[name] && (length || !values[name]) || length && builtins[name]:
		return ""
	case predeclared[name] || builtins[name] || name == "_":
		return name + " is not a type: write the name of a type"
	}
	undefined := "undefined " + what + " " + name
	if len(r.candidates[name]) > 0 {
		return undefined + ", which is an imported package: write " + name + ".Name"
	}
	if r.suggestions < maxSuggestions { // listing the names takes long
		if meant := r.suggest(name, r.namesLike(length)); meant != "" {
			return undefined + "; did you mean " + meant + "?"
		}
	}
	return undefined + ": declare it in this package, in a file of every build"
}

// values are the predeclared names that are not types of payloads or fields.
var values = words("true false iota nil comparable")

// article returns a kind of declaration with its article, for messages.
func article(kind token.Token) string {
	return map[token.Token]string{token.CONST: "a constant", token.VAR: "a variable", token.FUNC: "a function",
		token.TYPE: "a type"}[kind]
}

// generates reports whether hookgen generates a public declaration of that name. The package may use it before the code
// exists.
func (r *specInfo) generates(name string) bool {
	return !hasPrivatePrefix(name) && r.generatedFor(name) != ""
}

// namesLike returns the candidates for a suggestion: types of the package and of Go, or constants of the package.
func (r *specInfo) namesLike(constants bool) []string {
	var names []string
	for _, name := range r.Declared {
		if kind := r.scope[name].kind; kind == token.TYPE && !constants || kind == token.CONST && constants {
			names = append(names, name)
		}
	}
	if !constants {
		for _, name := range slices.Sorted(maps.Keys(predeclared)) {
			if !values[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

func checkTypeForm(r *specInfo, report report) {
	r.eachOutputType(func(inside string, expr ast.Node, _ map[string]bool) {
		arguments := func(exprs ...ast.Expr) {
			for _, e := range exprs {
				if !isType(e) {
					report(e.Pos(), "%s in %s is not a type: write a type", r.text(e), inside)
				}
			}
		}
		ast.Inspect(expr, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				arguments(n.Index)
			case *ast.IndexListExpr:
				arguments(n.Indices...)
			case *ast.ArrayType:
				if e, ok := n.Len.(*ast.Ellipsis); ok {
					report(e.Pos(), "an array in %s has no length: write a number, or [] for a slice", inside)
					return false
				}
			case *ast.CompositeLit, *ast.FuncLit, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.KeyValueExpr, *ast.BadExpr:
				report(n.Pos(), "the length of an array in %s is computed: declare a constant and write its name", inside)
				return false
			}
			return true
		})
	})
}

// isType reports whether an expression can be a type. The parser accepts every expression as a type argument.
func isType(expr ast.Expr) bool {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return isType(e.X)
	case *ast.StarExpr:
		return isType(e.X)
	case *ast.IndexExpr:
		return isType(e.X)
	case *ast.IndexListExpr:
		return isType(e.X)
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.StructType,
		*ast.InterfaceType:
		return true
	}
	return false
}

// Limits for one type, in nodes of its syntax tree. Generated code repeats a type about thirty times for each point.
// gofmt needs minutes for a sum of ten thousand terms, or for deeply nested structs.
const (
	maxTypeDepth = 200
	maxTypeNodes = 10_000
)

func checkTypeSize(r *specInfo, report report) {
	r.eachOutputType(func(inside string, expr ast.Node, _ map[string]bool) {
		depth, nodes, done := 0, 0, false
		ast.Inspect(expr, func(n ast.Node) bool {
			if n == nil {
				depth--
				return false
			}
			depth, nodes = depth+1, nodes+1
			switch {
			case done:
			case nodes > maxTypeNodes:
				done = true
				report(expr.Pos(), "the type in %s has more than %d parts: declare it under a name, and write the name here",
					inside, maxTypeNodes)
			case depth > maxTypeDepth:
				done = true
				report(expr.Pos(), "the type in %s is nested deeper than %d levels: "+
					"declare its inner part under a name, and write the name here", inside, maxTypeDepth)
			}
			if done {
				depth-- // Inspect does not announce the end of a node whose children it skips
			}
			return !done
		})
	})
}
