package emit

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hookgen/hookgen/gen/model"
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

// GuardedEdits returns a point for each field that an Edit changes. The spec only names the type of the field, so
// comparing the interfaces does not reveal that the field was renamed.
func (e *emitter) GuardedEdits() []*model.Point {
	guarded := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(e.Spec.Points), func(p *model.Point) bool {
		field := e.text(p.Payload.Expr) + "." + p.EditField
		met := guarded[field]
		guarded[field] = met || p.Edits()
		return met || !p.Edits()
	})
}

// PointsType returns the spec's interface as the guard names it.
func (e *emitter) PointsType() string { return e.ofSpec(e.Spec.Interface.Name.Name) }

// ofSpec returns a name of the spec's package.
func (e *emitter) ofSpec(name string) string {
	if e.Separate() {
		return e.SpecName() + "." + name
	}
	return name
}

// A restatement is the spec as the guard repeats it, with aliases for the types.
type restatement struct {
	*emitter
	Elements []string // the embedded interfaces and the methods
	Aliases  []string // of the types, in order of first use
	defined  map[string]bool
}

// Restatement restates the spec.
func (e *emitter) Restatement() *restatement {
	r := &restatement{emitter: e, defined: map[string]bool{}}
	for _, p := range e.Spec.Parents {
		r.Elements = append(r.Elements, e.Use(p.Import.Path)+".Points")
	}
	if !e.Spec.Env.IsZero() {
		r.Elements = append(r.Elements, e.Use(e.Spec.SpecPkg.Path)+".Env["+r.specType(e.Spec.Env.Expr)+"]")
	}
	for _, p := range e.Spec.Points {
		payload := r.specType(p.Payload.Expr)
		if _, named := p.Payload.Expr.(*ast.Ident); !named {
			payload = r.composite("of_"+p.Name, payload, p.Payload.Expr)
		}
		var results []param
		for _, x := range p.Results {
			results = append(results, param{"", r.result(p.Name, x)})
		}
		r.Elements = append(r.Elements, p.Name+signature(len(p.Name), []param{{"", payload}}, results))
	}
	return r
}

// result repeats one result, an exit or a marker.
func (r *restatement) result(point string, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident: // not the type that a generated package of its own makes of the exit
		return r.name(x.Name, r.ofSpec(x.Name))
	case *ast.IndexExpr:
		marker, _ := x.X.(*ast.SelectorExpr)
		return r.composite("of_"+point+"_"+marker.Sel.Name, r.typ(x.X)+"["+r.specType(x.Index)+"]", x.Index)
	}
	return r.typ(x)
}

// composite gives a name to a type that contains a type of the spec. For example, if Message was deleted, then
// []Message is invalid, and the compiler does not compare invalid types without a name.
func (r *restatement) composite(name string, typ string, part ast.Expr) string {
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
func (r *restatement) specType(x ast.Expr) string {
	if r.Separate() {
		return r.typ(x)
	}
	switch x := x.(type) {
	case *ast.Ident:
		if types.Universe.Lookup(x.Name) == nil {
			return r.name(x.Name, x.Name)
		}
	case *ast.StarExpr:
		return "*" + r.specType(x.X)
	case *ast.ArrayType:
		if x.Len == nil {
			return "[]" + r.specType(x.Elt)
		}
	}
	return r.typ(x)
}

// name returns the guard's alias for a type.
func (r *restatement) name(name, definition string) string {
	if !r.defined[name] {
		r.defined[name] = true
		r.Aliases = append(r.Aliases, StalePrefix+name+" = "+definition)
	}
	return StalePrefix + name
}
