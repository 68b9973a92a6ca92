package breaking

import (
	"github.com/hookgen/hookgen/gen"
)

// compareMethods compares the declared methods of a type.
func (c *comparison) compareMethods(old, now *gen.SurfaceType, points []string) {
	find := func(t *gen.SurfaceType, name string) *gen.SurfaceMethod {
		for i := range t.Methods {
			if t.Methods[i].Name == name {
				return &t.Methods[i]
			}
		}
		return nil
	}
	promoted := c.membersOf(c.now, now)
	for _, m := range old.Methods {
		n := find(now, m.Name)
		if n != nil {
			c.compareDeprecation(points, now.Name+"."+n.Name, m.SurfaceDecl, n.SurfaceDecl)
		}
		switch {
		case n == nil && promoted.chosen[m.Name].replaces(c, m):
			c.report("method-removed", ChangesBehaviour, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it now call that of the embedded %s", m.Name, now.Name,
				promoted.chosen[m.Name].owner)
		case n == nil:
			c.report("method-removed", BreaksHooks, points, now.Pos, m.Pos,
				"the method %s of %s is gone: hooks that call it do not compile%s", m.Name, now.Name,
				deprecateFirst(m.Deprecated))
		case !c.same(m.Signature, n.Signature):
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s is %s and was %s: hooks that use it may not compile", m.Name, now.Name, n.Signature.Text,
				m.Signature.Text)
		case !m.Pointer && n.Pointer:
			c.report("method-changed", BreaksHooks, points, n.Pos, m.Pos,
				"the method %s of %s needs a pointer now: values of the type no longer have it", m.Name, now.Name)
		case m.Pointer && !n.Pointer:
			verdict, effect := c.gained(n.Name, points)
			c.report("method-changed", verdict, points, n.Pos, m.Pos, "values of %s have the method %s now, too%s", now.Name,
				n.Name, effect)
		}
	}
	for _, n := range now.Methods {
		if find(old, n.Name) == nil && !c.old.Part {
			verdict, effect := c.gained(n.Name, points)
			c.report("method-added", verdict, points, n.Pos, old.Pos, "the method %s of %s is new%s", n.Name, now.Name, effect)
		}
	}
}
