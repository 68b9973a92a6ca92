package breaking

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen"
)

// A Version is one version of a spec.
type Version struct {
	*gen.Surface
	Output string // the name of the generated package
	Path   string // where hooks import it from, relative to the module; "" if that is unknown
	Part   bool   // only some of the package's files are known, so types that are missing were not removed
}

// Compare returns the differences between two versions of a spec, the worst first, and then in the order of the new
// version. Differences that an ignore line accepts are left out.
func Compare(old, now Version) []Finding {
	c := &comparison{old: old, now: now, aliases: map[string]string{}, explained: map[string]bool{}}
	for name, t := range now.Types {
		if t.Alias && t.Params == "" && !t.Underlying.IsZero() {
			c.aliases[name] = t.Underlying.Meaning
		}
	}
	c.match()
	c.compareSpec()
	c.comparePoints()
	c.compareTypes()
	return sorted(c.ignore())
}

// NotCompared returns the types that Compare leaves out: the old version names them, but only the new one declares
// them. For example, another file had them.
func NotCompared(old, now Version) []string {
	return slices.DeleteFunc(slices.Clone(old.Unread), func(name string) bool { return now.Types[name] == nil })
}

// A comparison is one call of Compare.
type comparison struct {
	old, now  Version
	pairs     []pair // points of both versions, in the order of the new one
	removed   []*gen.SurfacePoint
	added     []*gen.SurfacePoint
	aliases   map[string]string // types of the new version that are aliases, and what they mean
	explained map[string]bool   // old types whose removal another finding reports
	found     []Finding
}

// A pair is one point in both versions.
type pair struct{ old, now *gen.SurfacePoint }

// report adds a finding.
func (c *comparison) report(rule string, verdict Verdict, points []string, pos, old token.Position, format string,
	args ...any) {
	c.found = append(c.found, Finding{rule, verdict, points, fmt.Sprintf(format, args...), pos, old})
}

// compareSpec compares everything that concerns the spec as a whole.
func (c *comparison) compareSpec() {
	old, now := c.old, c.now
	report := func(rule string, verdict Verdict, format string, args ...any) {
		c.report(rule, verdict, nil, now.Pos, old.Pos, format, args...)
	}
	if old.Output != now.Output {
		report("package-renamed", BreaksHooks, "the generated package %s is now called %s: hooks must use the new name",
			old.Output, now.Output)
	}
	for _, importPath := range slices.Sorted(maps.Keys(old.Packages)) {
		if name := now.Packages[importPath]; name != "" && name != old.Packages[importPath] {
			report("package-renamed", BreaksHooks, "the package %s is called %s and was called %s: "+
				"hooks that import it must use the new name", importPath, name, old.Packages[importPath])
		}
	}
	if old.Path != now.Path && old.Path != "" && now.Path != "" {
		report("package-moved", BreaksHooks, "the generated package moved from %s to %s: hooks must import it from there",
			old.Path, now.Path)
	}
	if old.Interface != now.Interface {
		report("interface-renamed", BreaksLoops, "the points interface %s is now called %s: "+
			"specs that embed it must use the new name", old.Interface, now.Interface)
	}
	switch {
	case !old.Wire && now.Wire:
		report("wire-added", Safe, "other processes can now speak the spec: mark the points that they must not see with "+
			"//hookgen:local")
	case old.Wire && !now.Wire:
		report("wire-removed", BreaksLoops, "other processes can no longer speak the spec: "+
			"programs that call Remote, Serve or Record do not compile")
	}
	c.compareEnv()
	c.compareParents()
}

func (c *comparison) compareEnv() {
	old, now := c.old.Env, c.now.Env
	unread := ""
	if !old.IsZero() && now.IsZero() { // a spec that this one extends may have it now
		for _, p := range c.now.Parents {
			if now = p.Env; !p.Read {
				unread = p.Path
			}
		}
	}
	switch {
	case old.IsZero() && !now.IsZero():
		c.report("env-added", BreaksLoops, nil, now.Pos, c.old.Pos,
			"runs have an environment, %s: pass it to every call of NewRun", now.Text)
	case !old.IsZero() && now.IsZero() && unread != "":
		c.explain(old.Types...)
		c.report("env-changed", BreaksHooks, nil, c.now.Pos, old.Pos,
			"the environment was %s and is that of %s, whose spec cannot be read here: hooks that use run.Env compile only "+
				"if it is the same", old.Text, unread)
	case !old.IsZero() && now.IsZero():
		c.explain(old.Types...)
		c.report("env-removed", BreaksHooks, nil, c.now.Pos, old.Pos,
			"runs no longer have the environment %s: hooks that use run.Env do not compile", old.Text)
	case !c.same(old, now):
		c.explain(old.Types...)
		c.report("env-changed", BreaksHooks, nil, now.Pos, old.Pos,
			"the environment is %s and was %s: hooks that use run.Env may not compile", now.Text, old.Text)
	}
}

func (c *comparison) compareParents() {
	in := func(list []gen.SurfaceParent, path string) bool {
		return slices.ContainsFunc(list, func(p gen.SurfaceParent) bool { return p.Path == path })
	}
	for _, p := range c.now.Parents {
		if in(c.old.Parents, p.Path) {
			continue
		}
		verdict, message := BreaksLoops, "the spec extends %s, whose environment runs now have: "+
			"pass it to every call of NewRun, and fire the points of both"
		switch {
		case len(c.old.Parents) > 0: // which have the same environment
			verdict, message = Safe, "the spec also extends %s: fire its points, too"
		case !c.old.Env.IsZero() && c.same(c.old.Env, p.Env):
			verdict, message = Safe, "the spec also extends %s, which has its environment now: fire its points, too"
		}
		c.report("points-embedded", verdict, nil, p.Pos, c.old.Pos, message, p.Path)
	}
	for _, p := range c.old.Parents {
		if !in(c.now.Parents, p.Path) {
			c.report("points-unembedded", BreaksHooks, nil, c.now.Pos, p.Pos,
				"the spec no longer extends %s: hooks that bind to its points here do not compile", p.Path)
		}
	}
}

// isForeign reports whether a name is that of a declaration of another package.
func isForeign(name string) bool { return strings.Contains(name, ".") }

// deprecateFirst returns the advice for a declaration that is gone, unless it was deprecated.
func deprecateFirst(deprecated bool) string {
	if deprecated {
		return ""
	}
	return "; deprecate it first"
}
