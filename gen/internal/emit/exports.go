package emit

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"

	"github.com/dave/jennifer/jen"
	"github.com/hookgen/hookgen/gen/model"
)

// exports re-exports the names of the spec's package from a generated package of its own: an alias for each type, and
// constants in the groups of the source.
func (e *emitter) exports(f *jen.File) {
	if !e.separate() {
		return
	}
	for _, x := range e.spec.Exports {
		if !x.Const {
			e.alias(f, x)
		}
	}
	for _, group := range constGroups(e.spec.Exports, e.spec.Fset) {
		e.constants(f, group)
	}
}

// alias emits the alias of a type. Documentation of Go shows neither the fields nor the methods of the type that an
// alias is for, so the comment lists and links them.
func (e *emitter) alias(f *jen.File, x model.Export) {
	see := fmt.Sprintf("[%s.%s]", e.names[e.to.SpecPath], x.Name)
	doc, last := docLines(x.Doc), "Its fields and methods are those of "+see+"."
	if x.Parts != "" {
		last = x.Parts + " See " + see + "."
	}
	if len(doc) == 0 {
		doc, last = []string{"// " + x.Name + " is " + see + "."}, x.Parts
	}
	comment(f, doc...)
	if last != "" {
		comment(f, "//")
		prose(f, last)
	}
	alias, args := f.Type().Id(x.Name), []jen.Code(nil)
	if len(x.Params) > 0 {
		alias.TypesFunc(func(g *jen.Group) {
			for _, p := range x.Params {
				g.Id(p.Name).Add(e.typ(p.Type.Expr))
				args = append(args, jen.Id(p.Name))
			}
		})
	}
	original := alias.Op("=").Qual(e.to.SpecPath, x.Name)
	if len(args) > 0 {
		original.Types(args...)
	}
}

// constants emits the declaration of one group.
func (e *emitter) constants(f *jen.File, group []model.Export) {
	if len(group) == 1 && group[0].GroupDoc == "" {
		comment(f, docLines(group[0].Doc)...)
		f.Const().Id(group[0].Name).Op("=").Qual(e.to.SpecPath, group[0].Name)
		return
	}
	comment(f, docLines(group[0].GroupDoc)...)
	f.Const().DefsFunc(func(g *jen.Group) {
		for _, x := range group {
			comment(g, docLines(x.Doc)...)
			g.Id(x.Name).Op("=").Qual(e.to.SpecPath, x.Name)
		}
	})
}

// constGroups returns the constants in the groups and order of the source. It sorts the files by name: they are parsed
// concurrently, so their positions differ from run to run.
func constGroups(exports []model.Export, fset *token.FileSet) [][]model.Export {
	var groups [][]model.Export
	at := map[token.Pos]int{}
	for _, x := range exports {
		if !x.Const {
			continue
		}
		i, ok := at[x.Group]
		if !ok {
			i = len(groups)
			at[x.Group] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	slices.SortFunc(groups, func(a, b []model.Export) int {
		one, other := fset.PositionFor(a[0].Group, false), fset.PositionFor(b[0].Group, false)
		return cmp.Or(cmp.Compare(one.Filename, other.Filename), cmp.Compare(one.Offset, other.Offset))
	})
	for _, g := range groups {
		slices.SortFunc(g, func(a, b model.Export) int { return cmp.Compare(a.Pos, b.Pos) })
	}
	return groups
}
