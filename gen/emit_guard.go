package gen

import (
	"go/ast"

	"github.com/dave/jennifer/jen"
)

const (
	// staleCode names the guard; it is what the compiler prints, so it says what to do.
	staleCode = "staleCode_runHookgen"
	// stale is put before the names that the guard has for types of the spec.
	stale = "stale_"
)

// guard restates the spec, so that code older than its spec does not compile, and names what the runtime
// must have, so that a runtime older than the code does not compile either.
//
// The compiler gives up after ten errors, and it looks at types before anything else. So the comparison is
// made in types, and at the top; and a type that the guard shares with the spec gets a name there, so that
// one which is gone is reported once, not at every point, before the comparison is.
func (e *emitter) guard(f *jen.File) {
	r := &restatement{emitter: e, seen: map[string]bool{}}
	comment(f, staleCode+" restates the spec. If the compiler reports it, the spec changed after this file was",
		"generated: run hookgen (go generate) again.")
	f.Type().Id(staleCode).Interface(r.elements()...)
	if len(r.names) > 0 {
		comment(f, "What it takes from the spec, so that a type which is gone is reported here once.")
		f.Type().DefsFunc(func(g *jen.Group) {
			for _, n := range r.names {
				g.Id(stale + n).Op("=").Add(r.original(n))
			}
		})
	}
	comment(f, "Spec and restatement are the same, or these are no types.")
	f.Type().DefsFunc(func(g *jen.Group) {
		same := func(to, from *jen.Statement) {
			g.Id("_").Index(jen.Len(jen.Index(jen.Op("...")).Add(to).Values(from))).Struct()
		}
		guard, points := jen.Id(staleCode), e.points()
		same(points, guard.Clone().Parens(jen.Nil()))
		same(guard, points.Clone().Parens(jen.Nil()))
		pointer := jen.Parens(jen.Op("*").Add(points)).Parens(jen.Nil())
		same(jen.Op("*").Add(guard), jen.Parens(jen.Op("*").Add(guard)).Parens(pointer))
	})
	if e.apart() {
		for _, x := range e.spec.Exits {
			name := staleCode + "_" + x.Name
			f.Type().Id(name).Id(stale + x.Name)
			f.Var().Id("_").Op("=").Id(x.Name).Parens(jen.Id(name).Values())
		}
	}
	comment(f, "If the next line does not compile, the runtime is older than this file:",
		"go get github.com/hookgen/hookgen@latest, then run hookgen again.")
	f.Const().Id("_").Op("=").Qual(kit, "RuntimeIsAtLeast1")
}

// points is the type of the spec's interface, as the guard must name it.
func (e *emitter) points() *jen.Statement {
	if e.apart() {
		return jen.Qual(e.to.SpecPath, e.spec.Points.Name.Name)
	}
	return jen.Id(e.spec.Points.Name.Name)
}

// A restatement is the spec in the words of the guard.
type restatement struct {
	*emitter
	names []string // the types that have a name of the guard's, in order of first use
	seen  map[string]bool
}

// elements are the embedded interfaces and the methods.
func (r *restatement) elements() []jen.Code {
	var list []jen.Code
	for _, p := range r.spec.Parents {
		list = append(list, jen.Qual(p.Import.Path, "Points"))
	}
	if r.spec.Env.Expr != nil {
		list = append(list, jen.Qual(r.spec.SpecPkg.Path, "Env").Types(r.shared(r.spec.Env.Expr)))
	}
	for _, p := range r.spec.List {
		m := jen.Id(p.Name).Params(r.shared(p.Payload.Expr))
		if len(p.Results) > 0 {
			m.ParamsFunc(func(g *jen.Group) {
				for _, x := range p.Results {
					g.Add(r.law(x))
				}
			})
		}
		list = append(list, m)
	}
	return list
}

// original is a type of the spec: of its exits not the one that a generated package of its own makes.
func (r *restatement) original(name string) *jen.Statement {
	if r.apart() {
		return jen.Qual(r.to.SpecPath, name)
	}
	return jen.Id(name)
}

// law is one result: an exit or a marker.
func (r *restatement) law(x ast.Expr) *jen.Statement {
	switch x := x.(type) {
	case *ast.Ident:
		return r.name(x.Name)
	case *ast.IndexExpr:
		return r.typ(x.X).Types(r.shared(x.Index))
	}
	return r.typ(x)
}

// shared is a type of the spec that is no exit. A generated package of its own has a name for it anyway.
func (r *restatement) shared(x ast.Expr) *jen.Statement {
	if r.apart() {
		return r.typ(x)
	}
	switch x := x.(type) {
	case *ast.Ident:
		if !predeclared[x.Name] {
			return r.name(x.Name)
		}
	case *ast.StarExpr:
		return jen.Op("*").Add(r.shared(x.X))
	case *ast.ArrayType:
		if x.Len == nil {
			return jen.Index().Add(r.shared(x.Elt))
		}
	}
	return r.typ(x)
}

// name is the guard's name of a type.
func (r *restatement) name(name string) *jen.Statement {
	if !r.seen[name] {
		r.seen[name] = true
		r.names = append(r.names, name)
	}
	return jen.Id(stale + name)
}
