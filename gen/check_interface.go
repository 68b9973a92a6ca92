package gen

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/hookgen/hookgen/internal/spelling"
)

func checkPointsInterface(r *specInfo, report report) {
	if r.Interface == nil {
		return
	}
	name := r.Interface.Name
	switch {
	case !name.IsExported():
		report(name.Pos(), "the points interface %s is not exported, so no other package can extend it: name it Points",
			name.Name)
	case r.Interface.TypeParams != nil:
		report(r.Interface.TypeParams.Pos(), "the points interface is generic: write the types of its payloads out")
	case r.Interface.Assign.IsValid():
		report(r.Interface.Assign, "the points interface is an alias: remove the = sign")
	}
}

// checkNoPoints reports a spec without points. A spec that only joins the points of several packages is allowed.
func checkNoPoints(r *specInfo, report report) {
	if r.Interface == nil || len(r.members) > 0 || r.wrongEmbeds() {
		return
	}
	switch parents := r.parents(); len(parents) {
	case 0:
		report(r.Interface.Name.Pos(), "%s declares no point: add a method such as OnStart(Start)", r.Interface.Name.Name)
	case 1:
		report(r.Interface.Name.Pos(), "%s adds no point to %s: add a method such as OnStart(Start), embed the Points of a "+
			"second package, or use that package as it is", r.Interface.Name.Name, r.text(parents[0].expr))
	}
}

// parents returns the embedded Points of other packages.
func (r *specInfo) parents() []*embedding {
	return slices.DeleteFunc(slices.Clone(r.embeds), func(e *embedding) bool { return e.kind != parentEmbed })
}

// wrongEmbeds reports whether an invalid embedded element may have been meant to add points.
func (r *specInfo) wrongEmbeds() bool {
	return slices.ContainsFunc(r.embeds, func(e *embedding) bool {
		return e.kind == wrongEmbed || e.kind == cycleEmbed || e.kind == markerEmbed
	})
}

func checkEmbedding(r *specInfo, report report) {
	for _, e := range r.embeds {
		if e.kind == wrongEmbed {
			report(e.expr.Pos(), "%s", r.wrongEmbed(e))
		}
	}
}

// wrongEmbed explains why a type cannot be embedded, and what to write instead.
func (r *specInfo) wrongEmbed(e *embedding) string {
	const otherwise = "declare its methods in an interface of this file, without type parameters"
	base, args := instance(e.expr)
	switch x := base.(type) {
	case *ast.SelectorExpr:
		if len(args) == 0 {
			if spelling.Suggest(x.Sel.Name, []string{"Points"}) != "" {
				return r.text(x) + " cannot be embedded: did you mean Points, to extend the points of that package?"
			}
			return r.text(x) + " cannot be embedded: of another package only Points can be, to extend its points"
		}
	case *ast.Ident:
		d := r.scope[x.Name]
		switch {
		case d == nil && slices.Contains(markerNames, x.Name):
			return x.Name + " is not declared in this package: did you mean " + r.languageName() + "." + x.Name + "?"
		case len(args) > 0:
			return r.text(e.expr) + " is generic: " + otherwise
		case d == nil && predeclared[x.Name]:
			return x.Name + " declares no points: remove it"
		case d == nil:
			if meant := r.suggest(x.Name, r.interfaces); meant != "" {
				return x.Name + " is not declared in this file: did you mean " + meant + "?"
			}
			return x.Name + " is not declared in this file: declare it here as an interface"
		case d.spec == nil:
			return x.Name + " is not a type: embed an interface of this file"
		case d.file != r.file:
			return x.Name + " is declared in " + d.file.name + ": a group of points is declared in the file of the spec; " +
				"move it here"
		case d.generic():
			return x.Name + " is generic: " + otherwise
		}
		return x.Name + " is not written as an interface: " + otherwise
	case *ast.BinaryExpr, *ast.UnaryExpr:
		return r.text(e.expr) + " is a constraint, not a group of points: embed one interface on each line"
	case *ast.InterfaceType:
		return "an interface without a name cannot be a group of points: " +
			"declare its methods here, or give it a name in this file"
	}
	return r.text(e.expr) + " cannot be embedded: embed spec.Env, an interface of this file, or Points of another package"
}

func checkEmbeddingCycle(r *specInfo, report report) {
	for _, e := range r.embeds {
		if e.kind == cycleEmbed {
			report(e.expr.Pos(), "%s embeds itself: remove this line", e.group.name)
		}
	}
}

func checkDuplicatePoint(r *specInfo, report report) {
	for _, m := range r.members {
		if m.first != nil && m.Name != "_" {
			report(m.Pos, "point %s is declared twice; the first is in line %d: remove or rename one",
				m.Name, r.line(m.first.Pos))
		}
	}
	for _, e := range r.embeds {
		if e.kind == repeatedEmbed {
			report(e.expr.Pos(), "%s is embedded twice, so its points come twice: remove this line", e.group.name)
		}
	}
}

// line returns the line of a position in the spec file.
func (r *specInfo) line(pos token.Pos) int { return r.Fset.PositionFor(pos, false).Line }

func checkEnvOnce(r *specInfo, report report) {
	var first *embedding
	for _, e := range r.embeds {
		switch {
		case e.kind != envEmbed:
		case first == nil:
			first = e
		default:
			report(e.expr.Pos(), "spec.Env is embedded twice; the first is in line %d: "+
				"there is one environment, so put both into one struct", r.line(first.expr.Pos()))
		}
	}
}

func checkEnvParent(r *specInfo, report report) {
	parents := r.parents()
	for _, e := range r.embeds {
		if len(parents) > 0 && e.kind == envEmbed {
			report(e.expr.Pos(), "spec.Env next to %s: an extension has its parent's environment; remove spec.Env",
				r.text(parents[0].expr))
		}
	}
}

func checkParentOnce(r *specInfo, report report) {
	seen := map[string]bool{}
	for _, e := range r.parents() {
		if line := r.qualifiers[e.sel.X.(*ast.Ident).Name]; line != nil {
			if seen[line.path] {
				report(e.expr.Pos(), "%s is embedded twice: remove one", r.text(e.expr))
			}
			seen[line.path] = true
		}
	}
}
