package breaking

import (
	"slices"

	"github.com/hookgen/hookgen/gen"
)

// users returns the points that reach each type, in the order of the new version.
func (c *comparison) users() map[string][]string {
	reached := map[string]map[string]bool{}
	add := func(v Version, p *gen.SurfacePoint) {
		for t := range reach(v, slices.Concat(p.Payload.Types, lawTypes(p))) {
			if reached[t] == nil {
				reached[t] = map[string]bool{}
			}
			reached[t][p.Name] = true
		}
	}
	for _, p := range c.pairs {
		add(c.old, p.old)
		add(c.now, p.now)
	}
	for _, p := range c.added {
		add(c.now, p)
	}
	users := map[string][]string{}
	for _, p := range c.now.Points {
		for t := range reached {
			if reached[t][p.Name] {
				users[t] = append(users[t], p.Name)
			}
		}
	}
	return users
}

// lawTypes returns the types that the law of a point names.
func lawTypes(p *gen.SurfacePoint) []string {
	return slices.Concat(p.Exits, p.Edit.Types, p.Collect.Types, p.Around.Types)
}

// sentBack reports whether hooks in other processes send values of the type: in a decision or as a contribution. The
// program refuses fields there that it does not know, and misses those that the hook does not know.
func (c *comparison) sentBack(name string) bool {
	return slices.ContainsFunc(c.pairs, func(p pair) bool {
		if !c.onWire([]string{p.now.Name}) {
			return false
		}
		sent := slices.Concat(p.now.Exits, p.now.Edit.Types, p.now.Collect.Types)
		if p.now.Replace {
			sent = append(sent, p.now.Payload.Types...)
		}
		return reach(c.now, sent)[name]
	})
}

// onWire reports whether other processes see one of the points, in both versions.
func (c *comparison) onWire(points []string) bool {
	return c.old.Wire && c.now.Wire && slices.ContainsFunc(c.pairs, func(p pair) bool {
		return slices.Contains(points, p.now.Name) && p.now.Kind != gen.Around && !p.old.Local && !p.now.Local
	})
}

// reach returns the types that can be reached from some types, with these.
func reach(v Version, from []string) map[string]bool {
	reached := map[string]bool{}
	for len(from) > 0 {
		name := from[len(from)-1]
		from = from[:len(from)-1]
		if reached[name] {
			continue
		}
		reached[name] = true
		if t := v.Types[name]; t != nil {
			from = append(from, t.Types...)
		}
	}
	return reached
}
