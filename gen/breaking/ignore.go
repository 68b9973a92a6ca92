package breaking

import (
	"go/token"
	"slices"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/spelling"
)

// ignore returns the findings without those that an ignore line accepts, and with those about such lines. A line above
// a point silences its rule for that point. A line above the interface silences its rule everywhere.
func (c *comparison) ignore() []Finding {
	used := map[token.Position]bool{}
	silences := func(lines []gen.SurfaceIgnore, rule string) bool {
		silent := false
		for _, line := range lines {
			if line.Rule == rule {
				used[line.Pos], silent = true, true
			}
		}
		return silent
	}
	var rest []Finding
	for _, f := range c.found {
		spec := silences(c.now.Ignores, f.Rule)
		points := slices.DeleteFunc(slices.Clone(f.Points), func(name string) bool {
			return slices.ContainsFunc(c.now.Points, func(p *gen.SurfacePoint) bool {
				return p.Name == name && silences(p.Ignores, f.Rule)
			})
		})
		if spec || len(points) == 0 && len(f.Points) > 0 {
			continue
		}
		f.Points = points
		rest = append(rest, f)
	}
	c.found = rest
	check := func(points []string, lines []gen.SurfaceIgnore) {
		for _, line := range lines {
			switch {
			case !known(line.Rule):
				meant := "hookgen help breaking lists the rules"
				var names []string
				for _, r := range Rules {
					names = append(names, r.ID)
				}
				if name := spelling.Suggest(line.Rule, names); name != "" {
					meant = "did you mean " + name + "?"
				}
				c.report(ruleUnknownRule, Safe, points, line.Pos, token.Position{}, "there is no rule %s: %s", line.Rule, meant)
			case !used[line.Pos]:
				c.report(ruleUnusedIgnore, Safe, points, line.Pos, token.Position{},
					"no change here breaks the rule %s: remove the line", line.Rule)
			}
		}
	}
	check(nil, c.now.Ignores)
	for _, p := range c.now.Points {
		check([]string{p.Name}, p.Ignores)
	}
	return c.found
}
