package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// stats prints the numbers of records.
func (i *invocation) stats(_ context.Context, args []string) (int, error) {
	flags := newFlags("stats")
	var (
		asJSON bool
		color  string
	)
	flags.BoolVar(&asJSON, "json", false, "")
	flags.StringVar(&color, "color", "auto", "")
	files, err := parse(flags, args)
	if err != nil {
		return trouble, err
	}
	colors, err := choosePalette(color, i.stdout)
	if err != nil {
		return trouble, err
	}
	sources, err := i.sources(files)
	if err != nil {
		return trouble, err
	}
	r := &reader{stderr: i.stderr}
	var n numbers
	for _, s := range sources {
		for l := range r.lines(s) {
			n.add(l.Event)
		}
	}
	out := bufio.NewWriter(i.stdout)
	if asJSON {
		err = n.writeJSON(out, r)
	} else {
		n.print(out, r, colors)
	}
	if err == nil {
		err = out.Flush()
	}
	r.summarize("")
	return r.code(), err
}

// The most that numbers remember. A record that has more, for example because its writer was hostile, is counted in
// others.
const (
	mostPoints    = 1000
	mostHooks     = 1000
	mostDecisions = 50 // of a point or of a hook
	mostRuns      = 1 << 18
	mostNameBytes = 256
)

// others is the name for everything that is not remembered under its own name.
const others = "(others)"

// Numbers are the statistics of records, in bounded memory.
type numbers struct {
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

// add counts an event.
func (n *numbers) add(e hooklog.Event) {
	n.Events++
	if n.Events == 1 || e.Time.Before(n.From) {
		n.From = e.Time
	}
	if n.Events == 1 || e.Time.After(n.To) {
		n.To = e.Time
	}
	n.addRun(e.Run)
	p := groupOf(&n.points, e.Spec, e.Point, mostPoints)
	p.count++
	p.decide(e.Decision)
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
		h.decide(e.Decision)
		h.times.add(e.Elapsed)
	}
	for _, b := range e.Ballots {
		groupOf(&n.hooks, b.By, b.Site, mostHooks).votes++
	}
	for _, f := range e.Failures {
		groupOf(&n.hooks, f.By, f.Site, mostHooks).failures++
	}
}

func (n *numbers) addRun(run wire.RunInfo) {
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
	name := [2]string{clip(first), clip(second)}
	if g := (*all)[name]; g != nil {
		return g
	}
	if len(*all) >= most {
		if name = [2]string{others}; (*all)[name] != nil {
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

// clip shortens a name that is too long to be remembered.
func clip(name string) string {
	if len(name) <= mostNameBytes {
		return name
	}
	return strings.ToValidUTF8(name[:mostNameBytes], "") + "..."
}

// decide counts a decision.
func (g *group) decide(decision string) {
	decision = clip(decision)
	if _, known := g.decisions[decision]; !known && len(g.decisions) >= mostDecisions {
		decision = others
	}
	g.decisions[decision]++
}

// sortedPoints returns the points in the order in which they appeared, spec by spec.
func (n *numbers) sortedPoints() []*group {
	return slices.SortedFunc(maps.Values(n.points), func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.name[0], b.name[0]), cmp.Compare(a.first, b.first))
	})
}

// sortedHooks returns the hooks, those that did most first.
func (n *numbers) sortedHooks() []*group {
	return slices.SortedFunc(maps.Values(n.hooks), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(b.failures, a.failures), cmp.Compare(b.votes, a.votes),
			slices.Compare(a.name[:], b.name[:]))
	})
}

// print prints the numbers as tables.
func (n *numbers) print(w io.Writer, r *reader, p palette) {
	fmt.Fprintf(w, "events    %s in %s\n", thousands(int64(n.Events)), plural(r.sources, "file"))
	atLeast := ""
	if n.MoreRuns {
		atLeast = "more than "
	}
	fmt.Fprintf(w, "runs      %s%s, %s\n", atLeast, thousands(int64(n.Runs)), plural(n.SubRuns, "sub-run")+" included")
	if n.Events == 0 {
		return
	}
	const layout = "2006-01-02 15:04:05 -07:00"
	fmt.Fprintf(w, "recorded  %s to %s\n", n.From.Format(layout), n.To.Format(layout))
	var t *table
	spec := "\x00"
	for _, g := range n.sortedPoints() {
		if g.name[0] != spec {
			if t != nil {
				t.print(w, p)
			}
			spec = g.name[0]
			fmt.Fprintf(w, "\nspec %s\n", visible(spec, 0))
			t = &table{right: []bool{false, true, true, true, true, true, true, false}}
			t.add("POINT", "FIRES", "FAILED", "ERRORS", "P50", "P99", "MAX", "DECISIONS")
		}
		t.add(slices.Concat([]string{visible(g.name[1], mostName)}, numbersOf(g.count, g.failures, g.errors), g.columns())...)
	}
	t.print(w, p)
	if len(n.hooks) > 0 {
		fmt.Fprintln(w)
		t = &table{right: []bool{false, true, true, true, true, true, true, false}}
		t.add("HOOK", "DECIDED", "VOTES", "FAILED", "P50", "P99", "MAX", "DECISIONS")
		for _, g := range n.sortedHooks() {
			name := visible(g.name[0], mostName)
			if g.name[1] != "" {
				name += " (" + visible(g.name[1], mostName) + ")"
			}
			t.add(slices.Concat([]string{name}, numbersOf(g.count, g.votes, g.failures), g.columns())...)
		}
		t.print(w, p)
	}
	fmt.Fprint(w, "\nP50, P99 and MAX are times of all hooks of a fire together; those of a hook are of the fires that\n"+
		"it decided. P50 and P99 are within 2 % of the exact values.\n")
}

func numbersOf(counts ...int) []string {
	var cells []string
	for _, c := range counts {
		cells = append(cells, thousands(int64(c)))
	}
	return cells
}

// columns returns the times and the decisions.
func (g *group) columns() []string {
	names := slices.SortedFunc(maps.Keys(g.decisions), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.decisions[b], g.decisions[a]), cmp.Compare(a, b))
	})
	var decisions []string
	for _, name := range names {
		decisions = append(decisions, visible(name, mostName)+" "+thousands(int64(g.decisions[name])))
	}
	times := []string{"-", "-", "-"}
	if g.times.total > 0 {
		times = []string{short(g.times.quantile(50)), short(g.times.quantile(99)), short(g.times.max)}
	}
	return append(times, strings.Join(decisions, ", "))
}

// A pointJSON is a point in the output of -json. Times are in nanoseconds.
type pointJSON struct {
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

// A hookJSON is a hook in the output of -json. The times are those of the fires that it decided.
type hookJSON struct {
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

// writeJSON writes the numbers as one JSON object.
func (n *numbers) writeJSON(w io.Writer, r *reader) error {
	all := struct {
		Files int `json:"files"`
		*numbers
		Damaged    int         `json:"damagedLines"`
		Disordered int         `json:"outOfOrder"`
		Points     []pointJSON `json:"points"`
		Hooks      []hookJSON  `json:"hooks"`
	}{r.sources, n, r.damaged, r.disordered, []pointJSON{}, []hookJSON{}}
	for _, g := range n.sortedPoints() {
		all.Points = append(all.Points, pointJSON{g.name[0], g.name[1], g.count, g.failures, g.errors,
			g.times.quantile(50), g.times.quantile(99), g.times.max, g.decisions})
	}
	for _, g := range n.sortedHooks() {
		all.Hooks = append(all.Hooks, hookJSON{g.name[0], g.name[1], g.count, g.votes, g.failures,
			g.times.quantile(50), g.times.quantile(99), g.times.max, g.decisions})
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", visibleJSON(text))
	return err
}
