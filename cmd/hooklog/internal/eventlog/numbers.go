package eventlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
)

// Numbers are those of the whole record.
type Numbers struct {
	numbers.Numbers
	Points   []numbers.Point `json:"points"`
	Hooks    []numbers.Hook  `json:"hooks"`
	Outcomes []Group         `json:"outcomes"`
	Tenants  []Group         `json:"tenants"`
}

// A Group has the numbers of the runs without a parent that have the same outcome or tenant. Runs below them count as
// parts of them.
type Group struct {
	Name     string        `json:"name"` // "" for the runs without an outcome or tenant
	Runs     int           `json:"runs"`
	Fires    int           `json:"fires"`
	Failures int           `json:"failures"`
	Cost     float64       `json:"cost"`     // of all together
	Duration time.Duration `json:"duration"` // of all together
}

// Numbers returns the numbers, at most mostNames groups of each kind.
func (x *Index) Numbers() Numbers {
	x.mu.RLock()
	n := Numbers{
		x.numbers, x.numbers.Points(), x.numbers.Hooks(),
		x.groups(&x.outcomes, func(r *run) int32 { return r.outcome }),
		x.groups(&x.tenants, func(r *run) int32 { return r.tenant }),
	}
	x.mu.RUnlock() // before they are sorted, which takes long
	n.Outcomes, n.Tenants = largest(n.Outcomes), largest(n.Tenants)
	return n
}

// groups groups the runs by one of their names. The caller holds mu.
func (x *Index) groups(of *names, number func(*run) int32) []Group {
	all := make([]Group, len(of.texts))
	for i := range x.runs.count {
		r := x.runs.at(i)
		if r.parent >= 0 {
			continue
		}
		g := &all[number(r)]
		g.Runs++
		g.Fires += int(r.all.Fires)
		g.Failures += int(r.all.Failures)
		g.Cost += r.cost
		g.Duration += r.end.Sub(r.start)
	}
	for n := range all {
		all[n].Name = of.texts[n]
	}
	return slices.DeleteFunc(all, func(g Group) bool { return g.Runs == 0 })
}

// largest returns the groups with the most runs first.
func largest(all []Group) []Group {
	slices.SortFunc(all, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Name, b.Name)) })
	return all[:min(len(all), mostNames)]
}
