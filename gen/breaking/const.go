package breaking

import (
	"cmp"
	"go/token"

	"github.com/hookgen/hookgen/gen"
)

// compareConsts compares the constants. users are the points that reach each type. Constants of another package are
// compared if both versions reach their type; otherwise a change of a point or of a field is reported.
func (c *comparison) compareConsts(users map[string][]string) {
	old := map[string]gen.SurfaceConst{}
	for _, k := range c.old.Consts {
		old[k.Name] = k
	}
	now := map[string]bool{}
	for _, k := range c.now.Consts {
		now[k.Name] = true
		before, met := old[k.Name]
		points := users[k.Of]
		switch {
		case !met && (c.old.Part || isForeign(k.Name) && c.old.Types[k.Of] == nil):
		case !met:
			c.report("const-added", Safe, points, k.Pos, token.Position{}, "the constant %s is new", k.Name)
		case k.Type != "" && untyped[before.Type] == k.Type && valueOf(before, k) == valueOf(k, before):
			c.report("const-changed", Safe, points, k.Pos, before.Pos, "the constant %s is %s and was of type %s",
				k.Name, k.Type, before.Type)
		case before.Type != k.Type && !(c.old.Part && before.Type == ""):
			c.report("const-changed", BreaksHooks, points, k.Pos, before.Pos,
				"the constant %s is of type %s and was of type %s: hooks that use it may not compile", k.Name,
				cmp.Or(k.Type, "unknown"), cmp.Or(before.Type, "unknown"))
		case valueOf(before, k) != valueOf(k, before):
			verdict := ChangesBehaviour
			if c.onWire(points) {
				verdict = BreaksWire
			}
			c.report("const-changed", verdict, points, k.Pos, before.Pos,
				"the constant %s is %s and was %s: values that were stored or sent with the old one mean something else",
				k.Name, valueOf(k, before), valueOf(before, k))
		}
		if met {
			c.compareDeprecation(points, k.Name, before.SurfaceDecl, k.SurfaceDecl)
		}
	}
	for _, k := range c.old.Consts {
		if now[k.Name] || isForeign(k.Name) && c.now.Types[k.Of] == nil {
			continue
		}
		c.report("const-removed", BreaksHooks, users[k.Of], c.now.Pos, k.Pos,
			"the constant %s is gone: hooks that use it do not compile%s", k.Name, deprecateFirst(k.Deprecated))
	}
}

// untyped are the kinds of constants without a type, by the types that they have in a variable.
var untyped = map[string]string{"int": "untyped int", "string": "untyped string", "bool": "untyped bool",
	"float64": "untyped float", "int32": "untyped rune"}

// valueOf returns the value of a constant, or how it is written if the value of either constant is unknown.
func valueOf(k, other gen.SurfaceConst) string {
	if k.Value == "" || other.Value == "" {
		return k.Written
	}
	return k.Value
}
