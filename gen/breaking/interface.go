package breaking

import (
	"go/ast"
	"maps"
	"slices"

	"github.com/hookgen/hookgen/gen"
)

// sameElements reports whether two interfaces embed the same unions, and the same interfaces whose methods are unknown.
func (c *comparison) sameElements(old, now members) bool {
	was, is := slices.Collect(maps.Values(old.opaque)), slices.Collect(maps.Values(now.opaque))
	gone := func(e gen.Written) bool {
		return !slices.ContainsFunc(is, func(n gen.Written) bool { return c.same(e, n) })
	}
	added := func(n gen.Written) bool {
		return !slices.ContainsFunc(was, func(e gen.Written) bool { return c.same(e, n) })
	}
	return !slices.ContainsFunc(was, gone) && !slices.ContainsFunc(is, added)
}

// compareInterface compares the methods of an interface. A change of an interface that both versions embed is a finding
// about that one.
func (c *comparison) compareInterface(old, now *gen.SurfaceType, points []string) {
	before, after := c.membersOf(c.old, old), c.membersOf(c.now, now)
	if !c.sameElements(before, after) {
		c.report("type-changed", BreaksHooks, points, now.Pos, old.Pos,
			"%s is declared as %s and was %s: hooks that use it may not compile", now.Name, declaredAs(now), declaredAs(old))
		return
	}
	// Another package cannot implement a sealed interface.
	sealed := false
	for name := range before.chosen {
		sealed = sealed || !ast.IsExported(name)
	}
	for _, name := range slices.Sorted(maps.Keys(before.chosen)) {
		m := before.chosen[name]
		n, ok := after.chosen[name]
		switch {
		case m.owner != old.Name && (ok && m.owner == n.owner || !ok && after.types[m.owner]):
		case !ok && ast.IsExported(name):
			c.report("method-removed", BreaksHooks, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it do not compile%s", name, now.Name, deprecateFirst(m.Deprecated))
		case !ok:
			c.report("method-removed", Safe, points, now.Pos, m.Pos,
				"the method %s of %s is gone: other packages can implement the interface now", name, now.Name)
		case !c.same(m.typ, n.typ):
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s is %s and was %s: hooks that use it may not compile", name, now.Name, n.typ.Text,
				m.typ.Text)
		default:
			c.compareDeprecation(points, now.Name+"."+n.Name, m.SurfaceDecl, n.SurfaceDecl)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.chosen)) {
		n := after.chosen[name]
		_, had := before.chosen[name]
		switch {
		case had || n.owner != now.Name && before.types[n.owner]:
		case !sealed:
			c.report("method-added", BreaksHooks, points, n.Pos, old.Pos,
				"the interface %s has the new method %s: types that implement it do not compile until they have it", now.Name,
				name)
		case ast.IsExported(name):
			c.report("method-added", Safe, points, n.Pos, old.Pos, "the method %s of %s is new", name, now.Name)
		}
	}
}
