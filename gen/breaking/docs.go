package breaking

import (
	"go/token"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A docs is the comment of one declaration.
type docs struct {
	text       string
	deprecated bool
	pos        token.Position
}

// compareDocs compares the comments of one declaration. A comment that begins with another name because the declaration
// was renamed is the same comment.
func (c *comparison) compareDocs(points []string, oldName, name string, old, now docs) {
	switch {
	case !old.deprecated && now.deprecated:
		c.report("deprecated", Safe, points, now.pos, old.pos,
			"%s is deprecated: it can be removed after the next release", name)
	case old.deprecated && !now.deprecated:
		c.report("undeprecated", Safe, points, now.pos, old.pos, "%s is no longer deprecated", name)
	case old.text != now.text && strings.ReplaceAll(old.text, oldName, name) != now.text:
		c.report("doc-changed", Safe, points, now.pos, old.pos, "the comment of %s changed", name)
	}
}

// docsOf returns the comment of a type, and of those fields that the other version has, too. It is one text, because a
// comment of a type often explains its fields.
func docsOf(v Version, t *gen.SurfaceType, otherVersion Version, other *gen.SurfaceType) docs {
	lines := []string{}
	others := resolved(otherVersion, other).Fields
	for _, f := range resolved(v, t).Fields {
		i := slices.IndexFunc(others, func(o gen.SurfaceField) bool { return o.Name == f.Name })
		if i >= 0 && others[i].Deprecated == f.Deprecated {
			lines = append(lines, f.Name+": "+f.Doc)
		}
	}
	slices.Sort(lines) // so that a field that moved changes nothing
	text := t.Doc + strings.Join(lines, "")
	return docs{text, t.Deprecated, t.Pos}
}
