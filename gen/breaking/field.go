package breaking

import (
	"go/token"

	"github.com/hookgen/hookgen/gen"
)

// compareFields compares the fields of a struct.
func (c *comparison) compareFields(old, now *gen.SurfaceType, points []string) {
	kept := map[string]gen.SurfaceField{}
	for _, f := range now.Fields {
		kept[f.Name] = f
	}
	of := described(now)
	met := map[string]bool{}
	for _, f := range old.Fields {
		met[f.Name] = true
		g, ok := kept[f.Name]
		breaks, why := BreaksHooks, "hooks that use it do not compile"+deprecateFirst(f.Deprecated)
		if !c.visible(c.old, old, f) {
			breaks, why = Safe, "hooks could not see it"
		}
		if !ok {
			c.explain(f.Type.Types...)
			c.report("field-removed", breaks, points, now.Pos, f.Pos, "the field %s of %s is gone: %s", f.Name, of, why)
			continue
		}
		c.compareField(now, f, g, breaks, points)
	}
	for _, f := range now.Fields {
		verdict, why := Safe, "hooks see it, and old hooks that build the value leave it empty"
		if !c.visible(c.now, now, f) {
			why = "hooks cannot see it"
		} else if jsonTag(f) != "-" && c.sentBack(now.Name) {
			verdict, why = BreaksWire, "hooks in other processes that do not know it keep its value, "+
				"and programs that do not know it refuse decisions that set it"
		}
		if !met[f.Name] {
			c.report("field-added", verdict, points, f.Pos, token.Position{}, "the field %s of %s is new: %s", f.Name, of, why)
		}
	}
}

// compareField compares one field of a type in both versions. breaks is the verdict if its users do not compile.
func (c *comparison) compareField(t *gen.SurfaceType, f, g gen.SurfaceField, breaks Verdict, points []string) {
	of := described(t)
	why := func(effect string) string {
		if breaks == Safe {
			return "hooks could not see it"
		}
		return effect
	}
	switch {
	case f.Embedded && !g.Embedded:
		c.report("field-retyped", breaks, points, g.Pos, f.Pos, "the field %s of %s is no longer embedded: %s", g.Name, of,
			why("hooks that use its fields directly do not compile"))
	case !f.Embedded && g.Embedded && c.same(f.Type, g.Type):
		verdict, effect := c.flattened(g, points)
		c.report("field-retyped", verdict, points, g.Pos, f.Pos, "the field %s of %s is embedded%s", g.Name, of, effect)
	case !c.same(f.Type, g.Type):
		c.explain(f.Type.Types...)
		was, is := texts(f.Type, g.Type)
		c.report("field-retyped", breaks, points, g.Type.Pos, f.Type.Pos, "the field %s of %s is %s and was %s: %s", g.Name,
			of, is, was, why("hooks that use it may not compile"+c.aliasRemedy(f.Type)))
	}
	if f.Tag != g.Tag {
		verdict, effect := c.retagged(t, f, g, points)
		if breaks == Safe {
			verdict, effect = Safe, "no encoding sees it"
		}
		c.report("field-retagged", verdict, points, g.Pos, f.Pos, "the field %s of %s has the tag %s and had %s: %s", g.Name,
			of, quoted(g.Tag), quoted(f.Tag), effect)
	}
	c.compareDeprecation(points, "the field "+g.Name+" of "+of, f.SurfaceDecl, g.SurfaceDecl)
}

// described returns the name of a type for messages about its fields.
func described(t *gen.SurfaceType) string {
	if t.Exit {
		return "the exit " + t.Name
	}
	return t.Name
}

// texts returns two types for a message. Types that are written alike, but mean something else, are written out.
func texts(old, now gen.Written) (was, is string) {
	if old.Text == now.Text {
		return old.Meaning, now.Meaning
	}
	return old.Text, now.Text
}
