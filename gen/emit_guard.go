package gen

import (
	"go/ast"

	"github.com/dave/jennifer/jen"
)

const (
	// staleCode names the guard; it is what the compiler prints, so it says what to do.
	staleCode = "staleCode_runHookgen"
	// stale is put before the names that the guard has for types of the spec.
	stalePrefix = "stale_"
)

// guard restates the spec, so that code older than its spec does not compile, and names what the runtime
// must have, so that a runtime older than the code does not compile either.
//
// Whatever changed in the spec, the first error should be the comparison's, and best the only one. The compiler checks
// types before anything else, gives up after ten errors and prints them by line. So the comparison is a type at the
// top of the file, and one expression, of which only the innermost error is reported. If a type is gone, each use of
// it is an error as well; the guard uses it under a name of its own, to use up only one of the ten.
func (e *emitter) guard(f *jen.File) {
	r := &restatement{emitter: e, definitions: map[string]*jen.Statement{}}
	guard, points := jen.Id(staleCode), e.points()
	same := points.Clone().Parens(guard.Clone().Parens(points.Clone().Parens(jen.Nil())))
	comment(f, "If the compiler reports the next line, the spec changed after this file was generated: "+
		"run hookgen (go generate)",
		"again. The line converts the spec to its restatement and back, which compiles only if the two are identical.")
	f.Type().Id("_").Index(jen.Len(jen.Index(jen.Op("...")).Add(points).Values(same))).Struct()
	comment(f, staleCode+" restates the spec.")
	f.Type().Id(staleCode).Interface(r.elements()...)
	if len(r.names) > 0 {
		comment(f, "The types that the restatement uses.")
		f.Type().DefsFunc(func(g *jen.Group) {
			for _, n := range r.names {
				g.Id(stalePrefix + n).Op("=").Add(r.definitions[n])
			}
		})
	}
	if e.separate() {
		for _, x := range e.spec.Exits {
			name := staleCode + "_" + x.Name
			f.Type().Id(name).Id(stalePrefix + x.Name)
			f.Var().Id("_").Op("=").Id(x.Name).Parens(jen.Id(name).Values())
		}
	}
	e.guardEdits(f)
	comment(f, "If the next line does not compile, hookgen is newer than the runtime in go.mod. You can fix the build "+
		"with:",
		"go get github.com/hookgen/hookgen@latest. If the rest of the file does not compile against the runtime, run "+
			"hookgen again.")
	f.Const().Id("_").Op("=").Qual(impl, runtimeConstant)
}

// guardEdits restates which field each Edit changes. The spec names only its type, so the comparison of the interfaces
// does not show that the field was renamed.
func (e *emitter) guardEdits(f *jen.File) {
	guarded := map[string]bool{}
	for _, p := range e.spec.List {
		payload := e.text(p.Payload.Expr)
		if p.Edit.Expr == nil || guarded[payload+"."+p.EditField] {
			continue
		}
		guarded[payload+"."+p.EditField] = true
		alias := staleCode + "_edit" + p.Name
		f.Type().Id(alias).Op("=").Add(e.typ(p.Payload.Expr))
		field := jen.Id(alias).Values().Dot(p.EditField)
		f.Type().Id("_").Index(jen.Len(jen.Index(jen.Op("...")).Add(e.typ(p.Edit.Expr)).Values(field))).Struct()
	}
}

// points is the type of the spec's interface, as the guard must name it.
func (e *emitter) points() *jen.Statement {
	if e.separate() {
		return jen.Qual(e.to.SpecPath, e.spec.Points.Name.Name)
	}
	return jen.Id(e.spec.Points.Name.Name)
}

// A restatement is the spec in the words of the guard.
type restatement struct {
	*emitter
	names       []string // of the guard's names for types, without the prefix, in order of first use
	definitions map[string]*jen.Statement
}

// elements are the embedded interfaces and the methods.
func (r *restatement) elements() []jen.Code {
	var list []jen.Code
	for _, p := range r.spec.Parents {
		list = append(list, jen.Qual(p.Import.Path, "Points"))
	}
	if r.spec.Env.Expr != nil {
		list = append(list, jen.Qual(r.spec.SpecPkg.Path, "Env").Types(r.specType(r.spec.Env.Expr)))
	}
	for _, p := range r.spec.List {
		payload := r.specType(p.Payload.Expr)
		if _, named := p.Payload.Expr.(*ast.Ident); !named {
			payload = r.composite("of_"+p.Name, payload, p.Payload.Expr)
		}
		m := jen.Id(p.Name).Params(payload)
		if len(p.Results) > 0 {
			m.ParamsFunc(func(g *jen.Group) {
				for _, x := range p.Results {
					g.Add(r.result(p.Name, x))
				}
			})
		}
		list = append(list, m)
	}
	return list
}

// result restates one result: an exit or a marker.
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

// composite names a type that is made of a type of the spec. For example, if Message is gone then []Message is an invalid
// type, and the compiler does not report that two invalid types differ. It does if they have names.
func (r *restatement) composite(name string, typ *jen.Statement, part ast.Expr) *jen.Statement {
	declared := false
	ast.Inspect(part, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !predeclared[id.Name] {
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

// specType restates a type of the spec that is not an exit. A generated package of its own has a name for it anyway.
func (r *restatement) specType(x ast.Expr) *jen.Statement {
	if r.separate() {
		return r.typ(x)
	}
	switch x := x.(type) {
	case *ast.Ident:
		if !predeclared[x.Name] {
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

// name is the guard's name of a type.
func (r *restatement) name(name string, definition *jen.Statement) *jen.Statement {
	if r.definitions[name] == nil {
		r.definitions[name] = definition
		r.names = append(r.names, name)
	}
	return jen.Id(stalePrefix + name)
}
