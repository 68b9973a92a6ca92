package breaking

import (
	"go/ast"
	"maps"
	"slices"

	"github.com/hookgen/hookgen/gen"
)

// A methodSet has the methods and elements of an interface and of the interfaces that it embeds. To hooks, a method of
// an embedded interface is like one that is written out.
type methodSet struct {
	methods  map[string]demand
	embedded map[string]bool // the names of embedded interfaces whose methods are known
	elements []gen.Written   // embedded unions, and other interfaces
}

// A demand is one method of an interface.
type demand struct {
	gen.SurfaceMethod
	from string // the embedded interface that has the method; "" for a method that is written out
}

// methodsOf returns the method set of an interface in one of the versions.
func (c *comparison) methodsOf(v Version, t *gen.SurfaceType) methodSet {
	set := methodSet{map[string]demand{}, map[string]bool{}, nil}
	var visit func(t *gen.SurfaceType, from string)
	visit = func(t *gen.SurfaceType, from string) {
		for _, m := range t.Methods {
			if _, ok := set.methods[m.Name]; !ok {
				set.methods[m.Name] = demand{m, from}
			}
		}
		for _, e := range t.Embeds {
			embedded := v.Types[e.Name]
			if embedded != nil {
				embedded = resolved(v, embedded)
			}
			// If only a part of the old package is known, an interface that is missing there may exist elsewhere.
			if embedded == nil || !embedded.Interface || c.old.Part && c.old.Types[embedded.Name] == nil {
				set.elements = append(set.elements, e)
			} else if full := embedded.Name; !set.embedded[full] && embedded != t {
				set.embedded[full] = true
				visit(embedded, full)
			}
		}
	}
	visit(t, "")
	return set
}

// sameElements reports whether two interfaces embed the same unions, and the same interfaces whose methods are unknown.
func (c *comparison) sameElements(old, now methodSet) bool {
	gone := func(e gen.Written) bool {
		return !slices.ContainsFunc(now.elements, func(n gen.Written) bool { return c.same(e, n) })
	}
	added := func(n gen.Written) bool {
		return !slices.ContainsFunc(old.elements, func(e gen.Written) bool { return c.same(e, n) })
	}
	return !slices.ContainsFunc(old.elements, gone) && !slices.ContainsFunc(now.elements, added)
}

// compareInterface compares the methods of an interface. A change of an interface that both versions embed is a finding
// about that one.
func (c *comparison) compareInterface(old, now *gen.SurfaceType, points []string) {
	before, after := c.methodsOf(c.old, old), c.methodsOf(c.now, now)
	if !c.sameElements(before, after) {
		c.report("type-changed", BreaksHooks, points, now.Pos, old.Pos,
			"%s is declared as %s and was %s: hooks that use it may not compile", now.Name, declaredAs(now), declaredAs(old))
		return
	}
	// Another package cannot implement a sealed interface.
	sealed := false
	for name := range before.methods {
		sealed = sealed || !ast.IsExported(name)
	}
	for _, name := range slices.Sorted(maps.Keys(before.methods)) {
		m := before.methods[name]
		n, ok := after.methods[name]
		switch {
		case m.from != "" && (ok && m.from == n.from || !ok && after.embedded[m.from]):
		case !ok && m.Exported:
			c.report("method-removed", BreaksHooks, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it do not compile%s", name, now.Name, deprecateFirst(m.Deprecated))
		case !ok:
			c.report("method-removed", Safe, points, now.Pos, m.Pos,
				"the method %s of %s is gone: other packages can implement the interface now", name, now.Name)
		case !c.same(m.Signature, n.Signature):
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s is %s and was %s: hooks that use it may not compile", name, now.Name, n.Signature.Text,
				m.Signature.Text)
		default:
			c.compareDeprecation(points, now.Name+"."+n.Name, m.SurfaceDecl, n.SurfaceDecl)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after.methods)) {
		n := after.methods[name]
		_, had := before.methods[name]
		switch {
		case had || n.from != "" && before.embedded[n.from]:
		case !sealed:
			c.report("method-added", BreaksHooks, points, n.Pos, old.Pos,
				"the interface %s has the new method %s: types that implement it do not compile until they have it", now.Name,
				name)
		case n.Exported:
			c.report("method-added", Safe, points, n.Pos, old.Pos, "the method %s of %s is new", name, now.Name)
		}
	}
}
