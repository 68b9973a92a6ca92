package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// The statuses of hooklog.Diff in the order of the output.
var statuses = []hooklog.Status{hooklog.Same, hooklog.Changed, hooklog.Failed, hooklog.Missing, hooklog.Added}

// Differences are the numbers of a comparison, in bounded memory: see the bounds of numbers.
type differences struct {
	counts  tally
	points  map[[2]string]*pointDifferences
	changes map[change]int
}

// A tally counts comparisons by their status.
type tally map[hooklog.Status]int

func (t tally) total() int {
	sum := 0
	for _, n := range t {
		sum += n
	}
	return sum
}

// A pointDifferences has the numbers of a point.
type pointDifferences struct {
	first  int // the order in which they appeared
	counts tally
	was    map[string]int // by decision: the fires that were compared
}

// A change is another decision about the same payload.
type change struct{ spec, point, was, is, by, site string }

const mostChanges = 1000

// add counts a comparison.
func (d *differences) add(c hooklog.Comparison) {
	if d.counts == nil {
		*d = differences{tally{}, map[[2]string]*pointDifferences{}, map[change]int{}}
	}
	d.counts[c.Status]++
	e := c.Was
	if c.Status == hooklog.Added {
		e = c.Is
	}
	name := [2]string{numbers.Clip(e.Spec), numbers.Clip(e.Point)}
	if d.points[name] == nil && len(d.points) >= numbers.MostPoints {
		name = [2]string{numbers.Others, numbers.Others}
	}
	p := d.points[name]
	if p == nil {
		p = &pointDifferences{len(d.points), tally{}, map[string]int{}}
		d.points[name] = p
	}
	p.counts[c.Status]++
	if c.Status == hooklog.Missing || c.Status == hooklog.Added {
		return
	}
	was := numbers.Clip(c.Was.Decision)
	if _, known := p.was[was]; !known && len(p.was) >= numbers.MostDecisions {
		was = numbers.Others
	}
	p.was[was]++
	if c.Status == hooklog.Same {
		return
	}
	made := change{name[0], name[1], was, numbers.Clip(c.Is.Decision), numbers.Clip(c.Is.By), numbers.Clip(c.Is.Site)}
	if c.Status == hooklog.Failed {
		made.is, made.by, made.site = "failed", numbers.Clip(c.Is.Failures[0].By), numbers.Clip(c.Is.Failures[0].Site)
	}
	if d.changes[made] == 0 && len(d.changes) >= mostChanges {
		made = change{name[0], name[1], numbers.Others, numbers.Others, "", ""}
	}
	d.changes[made]++
}

// different reports whether a fire was not the same.
func (d *differences) different() bool { return d.counts.total() > d.counts[hooklog.Same] }

// print prints the numbers in a line, and as tables if there are differences.
func (d *differences) print(w io.Writer, p palette) {
	if d.different() {
		fmt.Fprintln(w)
	}
	line := plural(d.counts.total(), "fire") + ":"
	for i, s := range statuses {
		if i > 0 {
			line += ","
		}
		line += " " + thousands(int64(d.counts[s])) + " " + s.String()
	}
	fmt.Fprintln(w, line)
	if !d.different() {
		return
	}
	fmt.Fprintln(w)
	points := &table{right: []bool{false, true, true, true, true, true}}
	points.add("POINT", "SAME", "CHANGED", "FAILED", "MISSING", "ADDED")
	for _, name := range d.sortedPoints() {
		cells := []string{d.nameOf(name)}
		for _, s := range statuses {
			cells = append(cells, thousands(int64(d.points[name].counts[s])))
		}
		points.add(cells...)
	}
	points.print(w, p)
	if len(d.changes) == 0 {
		return
	}
	fmt.Fprintln(w)
	changes := &table{right: []bool{false, false, false, true, false}}
	changes.add("POINT", "WAS", "IS", "FIRES", "HOOK")
	for _, c := range d.sortedChanges() {
		hook := ""
		if c.by != "" {
			hook = place(c.by, c.site)
		}
		changes.add(d.nameOf([2]string{c.spec, c.point}), visible(c.was, mostName), visible(c.is, mostName),
			fmt.Sprintf("%s of %s", thousands(int64(d.changes[c])), thousands(int64(d.compared(c)))), hook)
	}
	changes.print(w, p)
}

// compared returns how many fires of the point of a change had its old decision.
func (d *differences) compared(c change) int {
	was := d.points[[2]string{c.spec, c.point}].was
	if c.was != numbers.Others {
		return was[c.was]
	}
	sum := 0
	for _, n := range was {
		sum += n
	}
	return sum
}

// nameOf returns the name of a point, with the name of its spec if there are several specs.
func (d *differences) nameOf(name [2]string) string {
	for other := range d.points {
		if other[0] != name[0] && other[0] != numbers.Others {
			_, spec, _ := cutLast(name[0], "/")
			return visible(spec+"."+name[1], mostName)
		}
	}
	return visible(name[1], mostName)
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}

// sortedPoints returns the points in the order in which they appeared, spec by spec.
func (d *differences) sortedPoints() [][2]string {
	return slices.SortedFunc(maps.Keys(d.points), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(d.points[a].first, d.points[b].first))
	})
}

// sortedChanges returns the changes, the most frequent ones first.
func (d *differences) sortedChanges() []change {
	return slices.SortedFunc(maps.Keys(d.changes), func(a, b change) int {
		return cmp.Or(cmp.Compare(d.changes[b], d.changes[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
}

// A pointDifferencesJSON has the numbers of a point in the output of -json.
type pointDifferencesJSON struct {
	Spec   string         `json:"spec"`
	Point  string         `json:"point"`
	Counts map[string]int `json:"counts"` // by status
}

// A changeJSON has the number of equal changes in the output of -json.
type changeJSON struct {
	Spec     string `json:"spec"`
	Point    string `json:"point"`
	Was      string `json:"was"`
	Is       string `json:"is"` // a decision, or "failed"
	Hook     string `json:"hook,omitempty"`
	Site     string `json:"site,omitempty"`
	Fires    int    `json:"fires"`
	Compared int    `json:"compared"` // the fires of the point whose decision was Was
}

// json returns the last line of the output of -json.
func (d *differences) json() any {
	counts := func(t tally) map[string]int {
		out := map[string]int{}
		for _, s := range statuses {
			out[s.String()] = t[s]
		}
		return out
	}
	points, changes := []pointDifferencesJSON{}, []changeJSON{}
	for _, name := range d.sortedPoints() {
		points = append(points, pointDifferencesJSON{name[0], name[1], counts(d.points[name].counts)})
	}
	for _, c := range d.sortedChanges() {
		changes = append(changes, changeJSON{c.spec, c.point, c.was, c.is, c.by, c.site, d.changes[c], d.compared(c)})
	}
	type summary struct {
		Counts  map[string]int         `json:"counts"`
		Points  []pointDifferencesJSON `json:"points"`
		Changes []changeJSON           `json:"changes"`
	}
	return struct {
		Summary summary `json:"summary"`
	}{summary{counts(d.counts), points, changes}}
}
