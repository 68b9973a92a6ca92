package breaking

import (
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// compareTypes compares every type that both versions have.
func (c *comparison) compareTypes() {
	users := c.users()
	c.compareConsts(users)
	for _, name := range slices.Sorted(maps.Keys(c.old.Types)) {
		old, now, points := c.old.Types[name], c.now.Types[name], users[name]
		if now == nil {
			if old.Exported && !c.explained[name] && !isForeign(name) {
				c.report("type-removed", BreaksHooks, points, c.now.Pos, old.Pos,
					"the type %s is gone: hooks that use it do not compile%s", name, deprecateFirst(old.Deprecated))
			}
			continue
		}
		c.compareType(old, now, points)
	}
}

// maxAliases bounds how many aliases of aliases are followed. Only code that does not compile has a cycle of them.
const maxAliases = 10

// resolved returns the type that an alias of another type of the surface means, or t itself.
func resolved(v Version, t *gen.SurfaceType) *gen.SurfaceType {
	for range maxAliases {
		next := v.Types[t.Underlying.Name]
		if !t.Alias || next == nil {
			break
		}
		t = next
	}
	return t
}

// compareType compares one type in both versions.
func (c *comparison) compareType(old, now *gen.SurfaceType, points []string) {
	c.compareDeprecation(points, now.Name, old.SurfaceDecl, now.SurfaceDecl)
	oldPos, pos := old.Pos, now.Pos
	target := resolved(c.now, now)
	switch _, known := c.old.Types[target.Name]; {
	case old.Alias == now.Alias && (!old.Alias || c.same(old.Underlying, now.Underlying)):
	case !old.Alias && target != now && !known:
		c.report("type-renamed", Safe, points, pos, oldPos, "%s is declared as an alias of %s now", now.Name,
			now.Underlying.Text)
	default:
		// For example, a hook that passes a Text as a string needs the alias, and one with a case for each needs two types.
		c.report("type-changed", BreaksHooks, points, pos, oldPos, "%s is declared as %s and was %s: "+
			"hooks that use it may not compile", now.Name, declaredAs(now), declaredAs(old))
		return
	}
	old, now = resolved(c.old, old), target
	if c.old.Types[now.Name] != nil && old.Name == now.Name && (oldPos != old.Pos || pos != now.Pos) {
		return // two aliases of one type, which is compared by itself
	}
	report := func(rule string, verdict Verdict, format string, args ...any) {
		c.report(rule, verdict, points, pos, oldPos, format, args...)
	}
	if old.Params != now.Params && loosened(old, now) {
		report("type-changed", Safe, "the type parameters of %s are %s and were %s: they accept more types", now.Name,
			parameters(now), parameters(old))
	}
	if old.Struct != now.Struct || old.Interface != now.Interface || old.Params != now.Params && !loosened(old, now) ||
		!c.same(old.Underlying, now.Underlying) {
		report("type-changed", BreaksHooks, "%s is declared as %s and was %s: hooks that use it may not compile", now.Name,
			declaredAs(now), declaredAs(old))
		return
	}
	if now.Interface {
		c.compareInterface(old, now, points)
		return
	}
	c.compareFields(old, now, points)
	c.compareMethods(old, now, points)
	c.compareMembers(old, now, points)
	if old.Incomparable == "" && now.Incomparable != "" && !c.old.Part {
		report("not-comparable", BreaksHooks, "%s holds %s, so its values can no longer be compared: "+
			"hooks that compare them or use them as keys of a map do not compile", now.Name, now.Incomparable)
	}
}

// declaredAs describes the declaration of a type.
func declaredAs(t *gen.SurfaceType) string {
	params := ""
	if t.Params != "" {
		params = " with the type parameters " + parameters(t)
	}
	switch {
	case t.Alias:
		return "an alias of " + t.Underlying.Text
	case t.Struct:
		return "a struct" + params
	case t.Interface && len(t.Embeds) > 0:
		var embeds []string
		for _, e := range t.Embeds {
			embeds = append(embeds, e.Text)
		}
		return "an interface that embeds " + strings.Join(embeds, " and ") + params
	case t.Interface:
		return "an interface" + params
	}
	return t.Underlying.Text + params
}

// parameters describes the constraints of the type parameters of a type.
func parameters(t *gen.SurfaceType) string {
	list := strings.TrimSuffix(strings.ReplaceAll(t.Params, ";", ", "), ", ")
	return "[" + strings.ReplaceAll(list, anyType, "any") + "]"
}

// anyType is the canonical form of the type any.
const anyType = "interface()"

// loosened reports whether the type parameters accept every type that they accepted before.
func loosened(old, now *gen.SurfaceType) bool {
	return slices.EqualFunc(strings.Split(old.Params, ";"), strings.Split(now.Params, ";"), func(was, is string) bool {
		return was == is || is == anyType
	})
}
