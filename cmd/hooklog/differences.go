package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/numbers"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// The statuses of hooklog.Diff in the order of the output.
var statuses = []hooklog.Status{hooklog.Same, hooklog.Changed, hooklog.Failed, hooklog.Missing, hooklog.Added}

// Differences are the numbers of a comparison, in bounded memory: see the bounds of numbers. They have the form of the
// last line of the output of -json.
type differences struct {
	Counts  tally               `json:"counts"`
	Points  []*pointDifferences `json:"points"`  // spec by spec, in the order in which they appeared
	Changes []*change           `json:"changes"` // the most frequent ones first

	points  map[[2]string]*pointDifferences
	changes map[changeKey]*change
}

// A tally counts comparisons by their status.
type tally map[string]int

func (t tally) total() int {
	sum := 0
	for _, n := range t {
		sum += n
	}
	return sum
}

// A pointDifferences has the numbers of a point.
type pointDifferences struct {
	Spec   string `json:"spec"`
	Point  string `json:"point"`
	Counts tally  `json:"counts"`

	was map[string]int // by decision: the fires that were compared
}

// A changeKey is another decision about the same payload.
type changeKey struct {
	Spec  string `json:"spec"`
	Point string `json:"point"`
	Was   string `json:"was"`
	Is    string `json:"is"` // a decision, or "failed"
	Hook  string `json:"hook,omitempty"`
	Site  string `json:"site,omitempty"`
}

// A change has the number of equal changes.
type change struct {
	changeKey
	Fires    int `json:"fires"`
	Compared int `json:"compared"` // the fires of the point whose decision was Was
}

const mostChanges = 1000

func newTally() tally {
	t := tally{}
	for _, s := range statuses {
		t[s.String()] = 0
	}
	return t
}

func newDifferences() *differences {
	return &differences{Counts: newTally(), Points: []*pointDifferences{}, Changes: []*change{},
		points: map[[2]string]*pointDifferences{}, changes: map[changeKey]*change{}}
}

// add counts a comparison.
func (d *differences) add(c hooklog.Comparison) {
	e := c.Was
	if c.Status == hooklog.Added {
		e = c.Is
	}
	p := d.point(numbers.Clip(e.Spec), numbers.Clip(e.Point))
	d.Counts[c.Status.String()]++
	p.Counts[c.Status.String()]++
	if c.Status == hooklog.Missing || c.Status == hooklog.Added {
		return
	}
	was := numbers.Count(p.was, c.Was.Decision)
	key := changeKey{p.Spec, p.Point, was, numbers.Clip(c.Is.Decision), numbers.Clip(c.Is.By), numbers.Clip(c.Is.Site)}
	switch c.Status {
	case hooklog.Same:
		return
	case hooklog.Failed:
		key.Is, key.Hook, key.Site = "failed", numbers.Clip(c.Is.Failures[0].By), numbers.Clip(c.Is.Failures[0].Site)
	}
	if d.changes[key] == nil && len(d.changes) >= mostChanges {
		key = changeKey{Spec: p.Spec, Point: p.Point, Was: numbers.Others, Is: numbers.Others}
	}
	if d.changes[key] == nil {
		made := &change{changeKey: key}
		d.changes[key], d.Changes = made, append(d.Changes, made)
	}
	d.changes[key].Fires++
}

// point returns the numbers of a point, or of all points that do not fit any more.
func (d *differences) point(spec, name string) *pointDifferences {
	key := [2]string{spec, name}
	if d.points[key] == nil && len(d.points) >= numbers.MostPoints {
		key = [2]string{numbers.Others, numbers.Others}
	}
	if d.points[key] == nil {
		p := &pointDifferences{key[0], key[1], newTally(), map[string]int{}}
		d.points[key], d.Points = p, append(d.Points, p)
	}
	return d.points[key]
}

// finish sorts the numbers, after the last add.
func (d *differences) finish() {
	slices.SortStableFunc(d.Points, func(a, b *pointDifferences) int { return strings.Compare(a.Spec, b.Spec) })
	for _, c := range d.Changes {
		was := tally(d.points[[2]string{c.Spec, c.Point}].was)
		if c.Compared = was[c.Was]; c.Was == numbers.Others {
			c.Compared = was.total()
		}
	}
	slices.SortFunc(d.Changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(b.Fires, a.Fires), strings.Compare(fmt.Sprint(a.changeKey), fmt.Sprint(b.changeKey)))
	})
}

// different reports whether a fire was not the same.
func (d *differences) different() bool { return d.Counts.total() > d.Counts[hooklog.Same.String()] }

// print prints the numbers in a line, and as tables if there are differences.
func (d *differences) print(w io.Writer, p palette) {
	if d.different() {
		fmt.Fprintln(w)
	}
	var counts []string
	points := &table{right: []bool{false, true, true, true, true, true}}
	head := []string{"POINT"}
	for _, s := range statuses {
		counts = append(counts, thousands(int64(d.Counts[s.String()]))+" "+s.String())
		head = append(head, strings.ToUpper(s.String()))
	}
	fmt.Fprintf(w, "%s: %s\n", plural(d.Counts.total(), "fire"), strings.Join(counts, ", "))
	if !d.different() {
		return
	}
	fmt.Fprintln(w)
	points.add(head...)
	for _, of := range d.Points {
		cells := []string{d.nameOf(of.Spec, of.Point)}
		for _, s := range statuses {
			cells = append(cells, thousands(int64(of.Counts[s.String()])))
		}
		points.add(cells...)
	}
	points.print(w, p)
	if len(d.Changes) == 0 {
		return
	}
	fmt.Fprintln(w)
	changes := &table{right: []bool{false, false, false, true, false}}
	changes.add("POINT", "WAS", "IS", "FIRES", "HOOK")
	for _, c := range d.Changes {
		hook := ""
		if c.Hook != "" {
			hook = place(c.Hook, c.Site)
		}
		changes.add(d.nameOf(c.Spec, c.Point), visible(c.Was, mostName), visible(c.Is, mostName),
			fmt.Sprintf("%s of %s", thousands(int64(c.Fires)), thousands(int64(c.Compared))), hook)
	}
	changes.print(w, p)
}

// nameOf returns the name of a point, with the name of its spec if there are several specs.
func (d *differences) nameOf(spec, point string) string {
	for _, other := range d.Points {
		if other.Spec != spec && other.Spec != numbers.Others {
			return visible(spec[strings.LastIndex(spec, "/")+1:]+"."+point, mostName)
		}
	}
	return visible(point, mostName)
}
