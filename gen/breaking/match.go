package breaking

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// match finds the points of both versions, by their names. A declaration with another name is another one, because
// nobody can tell a rename from a removal: hooks of the old one do not compile in either case.
func (c *comparison) match() {
	gone := map[string]*gen.SurfacePoint{}
	for _, p := range c.old.Points {
		gone[p.Name] = p
	}
	for _, p := range c.now.Points {
		if old := gone[p.Name]; old != nil {
			c.pairs = append(c.pairs, pair{old, p})
			delete(gone, p.Name)
		} else {
			c.added = append(c.added, p)
		}
	}
	kept := func(p *gen.SurfacePoint) bool { return gone[p.Name] == nil }
	c.removed = slices.DeleteFunc(slices.Clone(c.old.Points), kept)
}

// same reports whether a type of the old version is a type of the new one. A type may have become an alias: then what
// its name means now is compared.
func (c *comparison) same(old, now gen.Written) bool {
	return old.Name == now.Name || old.Meaning == now.Meaning || c.expanded(old.Name) == now.Meaning
}

// typeWord matches a name in a canonical type, with its import path.
var typeWord = regexp.MustCompile(`[\pL\pN_./~-]+`)

// expanded returns a canonical type in which the aliases of the new version are replaced by their meaning.
func (c *comparison) expanded(canonical string) string {
	return typeWord.ReplaceAllStringFunc(canonical, func(word string) string {
		name := strings.TrimPrefix(word, "...")
		if meaning := c.aliases[name]; meaning != "" {
			return word[:len(word)-len(name)] + meaning
		}
		return word
	})
}

// typeName returns the name of a type, or of the type that a pointer points to, without its type arguments.
func typeName(w gen.Written) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(w.Name, "*"), "[")
	return name
}

// explain notes that another finding reports that the types may be gone.
func (c *comparison) explain(types ...string) {
	for _, name := range types {
		c.explained[name] = true
	}
}

// aliasRemedy returns the advice for a place that has another type, if the old one is gone and perhaps only renamed.
func (c *comparison) aliasRemedy(old gen.Written) string {
	for _, name := range old.Types {
		if c.now.Types[name] == nil {
			return "; if " + name + " has another name now, an alias with the old one keeps them working"
		}
	}
	return ""
}
