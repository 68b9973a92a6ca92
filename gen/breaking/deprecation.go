package breaking

import "github.com/hookgen/hookgen/gen"

// compareDeprecation reports a declaration that is deprecated in one of the versions. Other changes of a comment change
// nothing for hooks and programs.
func (c *comparison) compareDeprecation(points []string, name string, old, now gen.SurfaceDecl) {
	switch {
	case !old.Deprecated && now.Deprecated:
		c.report("deprecated", Safe, points, now.Pos, old.Pos,
			"%s is deprecated: it can be removed after the next release", name)
	case old.Deprecated && !now.Deprecated:
		c.report("undeprecated", Safe, points, now.Pos, old.Pos, "%s is no longer deprecated", name)
	}
}
