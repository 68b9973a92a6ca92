// Package numbers counts the events of records: fires, decisions, failures and times of each point and each hook. The
// command prints them, and the page shows them.
//
// Start reading at [Numbers].
package numbers

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// The most that Numbers remember. A record that has more, for example because its writer was hostile, is counted in
// Others.
const (
	MostPoints    = 1000
	mostDecisions = 50 // of a point or of a hook
	mostHooks     = 1000
	mostRuns      = 1 << 18
	mostNameBytes = 256
)

// Others is the name for everything that is not remembered under its own name.
const Others = "(others)"

// Numbers are the statistics of records, in bounded memory. The zero value has none. Its methods may not be called
// concurrently.
type Numbers struct {
	Events   int       `json:"events"`
	Runs     int       `json:"runs"`
	SubRuns  int       `json:"subRuns"`
	MoreRuns bool      `json:"moreRuns"` // there were too many runs to count all of them
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`

	runs   map[uint64]bool // the hashes of their IDs
	points map[[2]string]*group
	hooks  map[[2]string]*group
}

var hashSeed = maphash.MakeSeed()

// A Point has the numbers of a point. Times are in nanoseconds.
type Point struct {
	Spec      string         `json:"spec"`
	Point     string         `json:"point"`
	Fires     int            `json:"fires"`
	Failed    int            `json:"failed"` // fires in which a hook failed
	Errors    int            `json:"errors"` // fires that returned an error
	P50       time.Duration  `json:"p50"`
	P99       time.Duration  `json:"p99"`
	Max       time.Duration  `json:"max"`
	Decisions map[string]int `json:"decisions"`
}

// A Hook has the numbers of a hook. The times are those of the fires that it decided.
type Hook struct {
	Name      string         `json:"name"`
	Site      string         `json:"site"`
	Decided   int            `json:"decided"`
	Votes     int            `json:"votes"`
	Failures  int            `json:"failures"`
	P50       time.Duration  `json:"p50"`
	P99       time.Duration  `json:"p99"`
	Max       time.Duration  `json:"max"`
	Decisions map[string]int `json:"decisions"`
}

// A group has the numbers of a point, or of a hook.
type group struct {
	name      [2]string // the spec and the point; or the hook and where it was registered
	first     int       // the order in which they appeared
	count     int       // fires of the point; decisions of the hook
	votes     int       // of the hook
	failures  int       // fires in which a hook failed; failures of the hook
	errors    int       // fires that returned an error
	decisions map[string]int
	times     histogram // of the fires; of those that the hook decided
}

// Add counts an event. Its payloads do not count.
func (n *Numbers) Add(e hooklog.Event) {
	n.Events++
	if n.Events == 1 || e.Time.Before(n.From) {
		n.From = e.Time
	}
	if n.Events == 1 || e.Time.After(n.To) {
		n.To = e.Time
	}
	n.addRun(e.Run)
	p := groupOf(&n.points, e.Spec, e.Point, MostPoints)
	p.count++
	Count(p.decisions, e.Decision)
	p.times.add(e.Elapsed)
	if len(e.Failures) > 0 {
		p.failures++
	}
	if e.Error != "" {
		p.errors++
	}
	if e.By != "" {
		h := groupOf(&n.hooks, e.By, e.Site, mostHooks)
		h.count++
		Count(h.decisions, e.Decision)
		h.times.add(e.Elapsed)
	}
	for _, b := range e.Ballots {
		groupOf(&n.hooks, b.By, b.Site, mostHooks).votes++
	}
	for _, f := range e.Failures {
		groupOf(&n.hooks, f.By, f.Site, mostHooks).failures++
	}
}

func (n *Numbers) addRun(run wire.RunInfo) {
	id := maphash.String(hashSeed, run.ID)
	switch {
	case run.ID == "" || n.runs[id]:
		return
	case len(n.runs) == mostRuns:
		n.MoreRuns = true
		return
	case n.runs == nil:
		n.runs = map[uint64]bool{}
	}
	n.runs[id] = true
	n.Runs++
	if run.Parent != "" {
		n.SubRuns++
	}
}

// groupOf returns the group with a name, a new one if needed.
func groupOf(all *map[[2]string]*group, first, second string, most int) *group {
	name := [2]string{Clip(first), Clip(second)}
	if g := (*all)[name]; g != nil {
		return g
	}
	if len(*all) >= most {
		if name = [2]string{Others}; (*all)[name] != nil {
			return (*all)[name]
		}
	}
	if *all == nil {
		*all = map[[2]string]*group{}
	}
	g := &group{name: name, first: len(*all), decisions: map[string]int{}}
	(*all)[name] = g
	return g
}

// Clip shortens a name that is too long to be remembered.
func Clip(name string) string {
	if len(name) <= mostNameBytes {
		return name
	}
	return strings.ToValidUTF8(name[:mostNameBytes], "") + "..."
}

// Count counts a decision under its name, or under Others if there are many, and returns that name.
func Count(counts map[string]int, decision string) string {
	decision = Clip(decision)
	if _, known := counts[decision]; !known && len(counts) >= mostDecisions {
		decision = Others
	}
	counts[decision]++
	return decision
}

// Points returns the points in the order in which they appeared, spec by spec.
func (n *Numbers) Points() []Point {
	points := []Point{}
	for _, g := range slices.SortedFunc(maps.Values(n.points), func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.name[0], b.name[0]), cmp.Compare(a.first, b.first))
	}) {
		points = append(points, Point{g.name[0], g.name[1], g.count, g.failures, g.errors,
			g.times.quantile(50), g.times.quantile(99), g.times.max, maps.Clone(g.decisions)})
	}
	return points
}

// Hooks returns the hooks, those that did most first.
func (n *Numbers) Hooks() []Hook {
	hooks := []Hook{}
	for _, g := range slices.SortedFunc(maps.Values(n.hooks), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.failures, a.failures), cmp.Compare(b.votes, a.votes),
			slices.Compare(a.name[:], b.name[:]))
	}) {
		hooks = append(hooks, Hook{g.name[0], g.name[1], g.count, g.votes, g.failures,
			g.times.quantile(50), g.times.quantile(99), g.times.max, maps.Clone(g.decisions)})
	}
	return hooks
}
