package emit

import (
	"go/ast"
	"go/types"

	"github.com/dave/jennifer/jen"
)

const (
	// StaleCode names the guard. The compiler prints the name if the code is stale, so it says how to fix that.
	StaleCode = "staleCode_runHookgen"
	// StalePrefix begins the guard's names for types of the spec.
	StalePrefix = "stale_"
)

// RuntimeConstant is the constant of the runtime that generated code names. Raise its number, and declare the new
// constant in hookkit/hookimpl, when generated code needs something that older runtimes do not have.
const RuntimeConstant = "IsAtLeastVersion0_1_0"

// check emits the lines of the guard that are above Hooks: one, and two for each field that hooks edit. The compiler
// checks types first, stops after ten errors, and prints them by line. At the top of the file, the first line is its
// first error, whatever else changed in the spec. It is a single expression, because only its innermost error is
// reported.
func (e *emitter) check(f *jen.File) {
	guard, points := jen.Id(StaleCode), e.pointsType()
	same := points.Clone().Parens(guard.Clone().Parens(points.Clone().Parens(jen.Nil())))
	prose(f, "If the compiler reports this line, the spec changed: run hookgen (go generate) again.")
	f.Type().Id("_").Index(jen.Len(jen.Index(jen.Op("...")).Add(points).Values(same))).Struct()
	e.guardEdits(f)
}

// guard emits declarations that compile only if the spec is unchanged and the runtime is new enough. For that, it
// repeats the spec as an interface, which check compares with the spec, and names a constant of the runtime.
//
// If a type of the spec was deleted, each use is another error. The guard uses an alias of the type, so that it costs
// only one of the ten errors.
func (e *emitter) guard(f *jen.File) {
	r := &restatement{emitter: e, definitions: map[string]*jen.Statement{}}
	prose(f, StaleCode+" restates the spec. At the top of the file, the spec is converted to it and back, which",
		"compiles only if the two are identical.")
	f.Type().Id(StaleCode).Interface(r.elements()...)
	if len(r.names) > 0 {
		prose(f, "The types that the restatement uses.")
		f.Type().DefsFunc(func(g *jen.Group) {
			for _, n := range r.names {
				g.Id(StalePrefix + n).Op("=").Add(r.definitions[n])
			}
		})
	}
	if e.separate() && len(e.spec.Exits) > 0 {
		prose(f, "The exits have the fields of those of the spec.")
		f.Var().DefsFunc(func(g *jen.Group) {
			for _, x := range e.spec.Exits {
				g.Id("_").Op("=").Id(x.Name).Parens(jen.Id(StaleCode + "_" + x.Name).Values())
			}
		})
		f.Type().DefsFunc(func(g *jen.Group) {
			for _, x := range e.spec.Exits {
				g.Id(StaleCode + "_" + x.Name).Id(StalePrefix + x.Name)
			}
		})
	}
	prose(f, "If the next line does not compile, hookgen is newer than the runtime in go.mod. You can fix the build",
		"with: go get github.com/hookgen/hookgen@latest. If the rest of the file does not compile against the runtime,",
		"run hookgen again.")
	f.Const().Id("_").Op("=").Qual(impl, RuntimeConstant)
}

// guardEdits repeats which field each Edit changes. The spec only names the type of the field, so comparing the
// interfaces does not reveal that the field was renamed.
func (e *emitter) guardEdits(f *jen.File) {
	guarded := map[string]bool{}
	for _, p := range e.spec.Points {
		payload := e.text(p.Payload.Expr)
		if p.Edit.Expr == nil || guarded[payload+"."+p.EditField] {
			continue
		}
		guarded[payload+"."+p.EditField] = true
		alias := StaleCode + "_edit" + p.Name
		f.Type().Id(alias).Op("=").Add(e.typ(p.Payload.Expr))
		field := jen.Id(alias).Values().Dot(p.EditField)
		f.Type().Id("_").Index(jen.Len(jen.Index(jen.Op("...")).Add(e.typ(p.Edit.Expr)).Values(field))).Struct()
	}
}

// pointsType returns the spec's interface as the guard names it.
func (e *emitter) pointsType() *jen.Statement {
	if e.separate() {
		return jen.Qual(e.to.SpecPath, e.spec.Interface.Name.Name)
	}
	return jen.Id(e.spec.Interface.Name.Name)
}

// A restatement is the spec as the guard repeats it, with aliases for the types.
type restatement struct {
	*emitter
	names       []string // of the guard's names for types, without the prefix, in order of first use
	definitions map[string]*jen.Statement
}

// elements returns the embedded interfaces and the methods.
func (r *restatement) elements() []jen.Code {
	var list []jen.Code
	for _, p := range r.spec.Parents {
		list = append(list, jen.Qual(p.Import.Path, "Points"))
	}
	if r.spec.Env.Expr != nil {
		list = append(list, jen.Qual(r.spec.SpecPkg.Path, "Env").Types(r.specType(r.spec.Env.Expr)))
	}
	for _, p := range r.spec.Points {
		payload := r.specType(p.Payload.Expr)
		if _, named := p.Payload.Expr.(*ast.Ident); !named {
			payload = r.composite("of_"+p.Name, payload, p.Payload.Expr)
		}
		var results []param
		for _, x := range p.Results {
			result, width := r.result(p.Name, x), len(types.ExprString(x))
			if _, exit := x.(*ast.Ident); exit {
				width += len(StalePrefix)
			} else if _, typed := x.(*ast.IndexExpr); typed {
				width += len(StalePrefix+"of_") + len(p.Name)
			}
			results = append(results, param{"", typeCode{result, width}})
		}
		params := []param{{"", typeCode{payload, len(StalePrefix) + len(p.Payload.String())}}}
		list = append(list, signature(jen.Id(p.Name), len(p.Name), params, results))
	}
	return list
}

// result repeats one result, an exit or a marker.
func (r *restatement) result(point string, x ast.Expr) *jen.Statement {
	switch x := x.(type) {
	case *ast.Ident: // not the type that a generated package of its own makes of the exit
		if r.separate() {
			return r.name(x.Name, jen.Qual(r.to.SpecPath, x.Name))
		}
		return r.name(x.Name, jen.Id(x.Name))
	case *ast.IndexExpr:
		marker, _ := x.X.(*ast.SelectorExpr)
		return r.composite("of_"+point+"_"+marker.Sel.Name, r.typ(x.X).Types(r.specType(x.Index)), x.Index)
	}
	return r.typ(x)
}

// composite gives a name to a type that contains a type of the spec. For example, if Message was deleted, then
// []Message is invalid, and the compiler does not compare invalid types without a name.
func (r *restatement) composite(name string, typ *jen.Statement, part ast.Expr) *jen.Statement {
	declared := false
	ast.Inspect(part, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && types.Universe.Lookup(id.Name) == nil {
			declared = true
		}
		_, imported := n.(*ast.SelectorExpr)
		return !imported
	})
	if !declared {
		return typ
	}
	return r.name(name, typ)
}

// specType repeats a type of the spec that is not an exit. A generated package of its own already has an alias for it.
func (r *restatement) specType(x ast.Expr) *jen.Statement {
	if r.separate() {
		return r.typ(x)
	}
	switch x := x.(type) {
	case *ast.Ident:
		if types.Universe.Lookup(x.Name) == nil {
			return r.name(x.Name, jen.Id(x.Name))
		}
	case *ast.StarExpr:
		return jen.Op("*").Add(r.specType(x.X))
	case *ast.ArrayType:
		if x.Len == nil {
			return jen.Index().Add(r.specType(x.Elt))
		}
	}
	return r.typ(x)
}

// name returns the guard's alias for a type.
func (r *restatement) name(name string, definition *jen.Statement) *jen.Statement {
	if r.definitions[name] == nil {
		r.definitions[name] = definition
		r.names = append(r.names, name)
	}
	return jen.Id(StalePrefix + name)
}
