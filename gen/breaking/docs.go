package breaking

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// compareDocs compares the comments of one declaration.
func (c *comparison) compareDocs(points []string, name string, old, now gen.SurfaceDecl) {
	switch {
	case !old.Deprecated && now.Deprecated:
		c.report("deprecated", Safe, points, now.Pos, old.Pos,
			"%s is deprecated: it can be removed after the next release", name)
	case old.Deprecated && !now.Deprecated:
		c.report("undeprecated", Safe, points, now.Pos, old.Pos,
			"%s is no longer deprecated", name)
	case old.Doc != now.Doc:
		c.report("doc-changed", Safe, points, now.Pos, old.Pos, "the comment of %s changed", name)
	}
}

// docsOf returns a type with its comment, and with those of fields that the other version has, too. It is one text: a
// comment of a type often explains its fields.
func docsOf(v Version, t *gen.SurfaceType, otherVersion Version, other *gen.SurfaceType) gen.SurfaceDecl {
	lines := []string{}
	others := resolved(otherVersion, other).Fields
	for _, f := range resolved(v, t).Fields {
		i := slices.IndexFunc(others, func(o gen.SurfaceField) bool { return o.Name == f.Name })
		if i >= 0 && others[i].Deprecated == f.Deprecated {
			lines = append(lines, f.Name+": "+f.Doc)
		}
	}
	slices.Sort(lines) // so that a field that moved changes nothing
	d := t.SurfaceDecl
	d.Doc += strings.Join(lines, "")
	return d
}
