package model

import (
	"cmp"
	"slices"
)

// A moment is the model of what is registered, as plainly as can be. It does not change: each change makes another.
type moment struct {
	layers  []modelLayer
	entries []*entry // in order of registration
}

// A modelLayer is one layer: 0 is the outermost.
type modelLayer struct {
	parent int // -1 for none
	depth  int
	traced bool
}

// An entry is one hook or observer, at one point or, an observer, at all. It does not change.
type entry struct {
	reg, layer    int
	name          string
	point         string // "" for all
	priority      int
	before, after []int
	seq           int
	hook          hook
	observe       *observe // nil for a hook
}

// isAt reports whether the entry is a hook, or an observer, of the point in the layer.
func (e *entry) isAt(layer int, point string, observer bool) bool {
	return e.layer == layer && (e.point == point || e.point == "") && (e.observe != nil) == observer
}

// at returns the hooks, or the observers, of the point in the layer, in order of registration.
func (m moment) at(layer int, point string, observers bool) []*entry {
	var some []*entry
	for _, e := range m.entries {
		if e.isAt(layer, point, observers) {
			some = append(some, e)
		}
	}
	return some
}

// add registers all the entries or none, and reports whether that is possible.
func (m moment) add(added ...*entry) (moment, bool) {
	after := m
	after.entries = slices.Concat(m.entries, added)
	for _, e := range added {
		at := pointNames
		if e.point != "" {
			at = []string{e.point}
		}
		for _, p := range at {
			if _, possible := inOrder(after.at(e.layer, p, e.observe != nil)); !possible || m.turnsLayers(e, p) {
				return m, false
			}
		}
	}
	return after, true
}

// turnsLayers reports whether an anchor of the entry asks it to come before an outer layer or after an inner one.
func (m moment) turnsLayers(e *entry, point string) bool {
	return slices.ContainsFunc(m.entries, func(other *entry) bool {
		if other.layer == e.layer || other.point != point && other.point != "" {
			return false
		}
		outer, inner := slices.Contains(m.outward(e.layer), other.layer), slices.Contains(m.outward(other.layer), e.layer)
		return outer && slices.Contains(e.before, other.reg) || inner && slices.Contains(e.after, other.reg)
	})
}

// remove drops the entries that are gone, and reports whether there were any.
func (m moment) remove(gone func(*entry) bool) (moment, bool) {
	after := m
	after.entries = slices.DeleteFunc(slices.Clone(m.entries), gone)
	return after, len(after.entries) < len(m.entries)
}

// layer makes a layer.
func (m moment) layer(parent int) moment {
	l := modelLayer{parent: parent}
	if parent >= 0 {
		l.depth = m.layers[parent].depth + 1
	}
	m.layers = append(slices.Clone(m.layers), l)
	return m
}

// trace attaches a tracer to a layer, or detaches it.
func (m moment) trace(layer int, traced bool) moment {
	m.layers = slices.Clone(m.layers)
	m.layers[layer].traced = traced
	return m
}

// outward lists a layer and those around it, the outermost first.
func (m moment) outward(layer int) []int {
	var all []int
	for l := layer; l >= 0; l = m.layers[l].parent {
		all = append(all, l)
	}
	slices.Reverse(all)
	return all
}

// firing returns the hooks of a fire in the order in which they run, and its observers in that in which they are told.
func (m moment) firing(layer int, point string) (hooks, observers []*entry) {
	for _, l := range m.outward(layer) {
		ordered, _ := inOrder(m.at(l, point, false))
		hooks = append(hooks, ordered...)
		ordered, _ = inOrder(m.at(l, point, true))
		observers = append(observers, ordered...)
	}
	if points[point].reversed {
		slices.Reverse(hooks)
	}
	return hooks, observers
}

// tracers are the layers whose tracers are told of a fire, the outermost first.
func (m moment) tracers(layer int) []int {
	return slices.DeleteFunc(m.outward(layer), func(l int) bool { return !m.layers[l].traced })
}

// inOrder returns the entries of one layer in order, before any mirroring, and whether their anchors can all hold.
// It builds the whole relation and looks, where the runtime grows it edge by edge.
func inOrder(entries []*entry) ([]*entry, bool) {
	n := len(entries)
	precedes, lifts := square(n), square(n)
	for i, e := range entries {
		for j, other := range entries {
			if slices.Contains(e.before, other.reg) {
				precedes[i][j], lifts[i][j] = true, true
			}
			if slices.Contains(e.after, other.reg) {
				precedes[j][i] = true
			}
		}
	}
	transitive(precedes)
	transitive(lifts)
	higher := func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.seq, b.seq))
	}
	stands := slices.Clone(entries) // at whose rank each stands
	for i := range entries {
		if precedes[i][i] {
			return nil, false
		}
		for j, other := range entries {
			if lifts[i][j] && higher(other, stands[i]) < 0 {
				stands[i] = other
			}
		}
	}
	var order []*entry
	done := make([]bool, n)
	for range n {
		next := -1
		for i := range n {
			waits := done[i]
			for j := range n {
				waits = waits || precedes[j][i] && !done[j]
			}
			if !waits && (next < 0 || cmp.Or(higher(stands[i], stands[next]), higher(entries[i], entries[next])) < 0) {
				next = i
			}
		}
		done[next] = true
		order = append(order, entries[next])
	}
	return order, true
}

func square(n int) [][]bool {
	s := make([][]bool, n)
	for i := range s {
		s[i] = make([]bool, n)
	}
	return s
}

// transitive makes a relation transitive.
func transitive(r [][]bool) {
	for k := range r {
		for i := range r {
			for j := range r {
				r[i][j] = r[i][j] || r[i][k] && r[k][j]
			}
		}
	}
}
