package emit

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/model"
)

// SpecName returns the qualifier of the spec's package in a generated package of its own.
func (e *emitter) SpecName() string { return e.Use(e.To.SpecPath) }

// See returns a link to a name of the spec's package.
func (e *emitter) See(x model.Export) string { return fmt.Sprintf("[%s.%s]", e.SpecName(), x.Name) }

// Parts says what a type consists of, because documentation of Go shows neither the fields nor the methods of the type
// that an alias is for.
func (e *emitter) Parts(x model.Export) string {
	switch {
	case docText(x.Doc) == "":
		return x.Parts
	case x.Parts == "":
		return "Its fields and methods are those of " + e.See(x) + "."
	}
	return x.Parts + " See " + e.See(x) + "."
}

// TypeParams returns the type parameters of an alias with their constraints, and TypeArguments their names.
func (e *emitter) TypeParams(x model.Export) string {
	return typeList(x, func(f model.Field) string { return f.Name + " " + e.Type(f.Type) })
}

func (e *emitter) TypeArguments(x model.Export) string {
	return typeList(x, func(f model.Field) string { return f.Name })
}

func typeList(x model.Export, text func(model.Field) string) string {
	if len(x.Params) == 0 {
		return ""
	}
	var list []string
	for _, p := range x.Params {
		list = append(list, text(p))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// ConstGroups returns the constants in the groups and order of the source. It sorts the files by name: they are parsed
// concurrently, so their positions differ from run to run.
func (e *emitter) ConstGroups() [][]model.Export {
	consts := slices.DeleteFunc(slices.Clone(e.Spec.Exports), func(x model.Export) bool { return !x.Const })
	at := func(pos token.Pos) token.Position { return e.Spec.Fset.PositionFor(pos, false) }
	slices.SortFunc(consts, func(a, b model.Export) int {
		one, other := at(a.Pos), at(b.Pos)
		return cmp.Or(cmp.Compare(one.Filename, other.Filename), cmp.Compare(one.Offset, other.Offset))
	})
	var groups [][]model.Export
	for _, x := range consts {
		if n := len(groups); n > 0 && groups[n-1][0].Group == x.Group {
			groups[n-1] = append(groups[n-1], x)
		} else {
			groups = append(groups, []model.Export{x})
		}
	}
	return groups
}
