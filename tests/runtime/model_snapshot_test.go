package runtime_test

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A snapshot is the registrations at one moment, in the simplest form. It never changes: each change of the
// registrations creates another one.
type snapshot struct {
	layers  []modelLayer
	entries []*entry     // in order of registration; a Use with Replacing has the position of the replaced entries
	heirs   map[int]int  // by replaced registration: its successor
	parts   map[part]int // by part that a replaced Use contained: the successor of that Use
}

// A part is the hooks, or the observers, of one registration at one point.
type part struct {
	reg      int
	point    string
	observes bool
}

// A modelLayer is one layer: 0 is the outermost.
type modelLayer struct {
	parent  int // -1 for none
	depth   int
	handles bool // the layer has a failure handler
}

// An entry is one hook, observer or tracer, at one point or at all points. It is immutable.
type entry struct {
	regs     []int // the registrations it belongs to, the innermost first
	layer    int
	name     string
	point    string // "" for all points
	priority int
	anchors  []anchor
	keys     []string // for which it was registered; nil: for all
	hook     Hook
	observe  *Observe // nil for a hook
	traces   bool
}

// An anchor is one registration of a Before or an After.
type anchor struct {
	reg   int
	after bool
}

// of reports whether the entry belongs to the registration.
func (e *entry) of(reg int) bool { return slices.Contains(e.regs, reg) }

// isAt reports whether the entry is a hook, or an observer, of the point in the layer.
func (e *entry) isAt(layer int, point string, observer bool) bool {
	return e.layer == layer && (e.point == point || e.point == "") && (e.observe != nil) == observer && !e.traces
}

// hasLegalKeys reports whether the entry may be registered for its keys.
func (e *entry) hasLegalKeys() bool {
	return e.keys == nil || len(e.keys) > 0 && e.point != "" && points.Named(e.point).Key == "Kind"
}

// narrow returns the keys of those that a Use registers for some keys. Nil means all.
func narrow(keys, use []string) []string {
	if keys == nil || use == nil {
		return slices.Concat(keys, use)
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !slices.Contains(use, key) })
}

// ofKind returns the entries that are for all keys or for that of the payload.
func ofKind(entries []*entry, item fixture.Item) []*entry {
	return slices.DeleteFunc(entries, func(e *entry) bool {
		return e.keys != nil && !slices.Contains(e.keys, points.KindOf(item))
	})
}

// holder returns the registration that took the place of reg at last: reg itself if none did.
func (m snapshot) holder(reg int) int {
	for {
		heir, replaced := m.heirs[reg]
		if !replaced {
			return reg
		}
		reg = heir
	}
}

// means returns the registration that an anchor of the entry refers to at a point. If a replaced Use contained the
// registration, that is the successor of the Use where the registration had entries, and elsewhere none that exists.
func (m snapshot) means(a anchor, e *entry, point string) int {
	for reg := a.reg; ; {
		reg = m.holder(reg)
		whole, replaced := m.parts[part{reg, point, e.observe != nil}]
		if !replaced {
			return reg
		}
		reg = whole
	}
}

// at returns the hooks, or the observers, of the point in the layer, in order of registration.
func (m snapshot) at(layer int, point string, observers bool) []*entry {
	var some []*entry
	for _, e := range m.entries {
		if e.isAt(layer, point, observers) {
			some = append(some, e)
		}
	}
	return some
}

// add registers all the entries or none, and reports whether that is possible.
func (m snapshot) add(added ...*entry) (snapshot, bool) {
	after := m
	after.entries = slices.Concat(m.entries, added)
	for _, e := range added {
		if e.traces {
			continue
		}
		if !e.hasLegalKeys() {
			return m, false
		}
		at := m.used()
		if e.point != "" {
			at = []string{e.point}
		}
		for _, p := range at {
			_, possible := after.inOrder(after.at(e.layer, p, e.observe != nil), p)
			if !possible || after.turnsLayers(e, p) {
				return m, false
			}
		}
	}
	return after, true
}

// exchange registers the entries of reg in the place of old, and reports whether that is possible. If old has no
// entries, it adds them. A part of a Use, and a registration of another layer, cannot be exchanged.
func (m snapshot) exchange(old, reg int, added []*entry) (snapshot, bool) {
	old = m.holder(old)
	first := slices.IndexFunc(m.entries, func(e *entry) bool { return e.of(old) })
	if first < 0 {
		return m.add(added...)
	}
	if was := m.entries[first]; was.regs[len(was.regs)-1] != old || was.layer != added[0].layer {
		return m, false
	}
	after := m
	after.heirs, after.parts = maps.Clone(m.heirs), maps.Clone(m.parts)
	if m.heirs == nil {
		after.heirs, after.parts = map[int]int{}, map[part]int{}
	}
	after.heirs[old] = reg
	for _, e := range m.entries {
		if e.of(old) {
			for _, inner := range e.regs[:len(e.regs)-1] {
				after.parts[part{inner, e.point, e.observe != nil}] = reg
			}
		}
	}
	for _, e := range added { // nobody else has them yet
		if !e.hasLegalKeys() {
			return m, false
		}
		e.anchors = slices.DeleteFunc(e.anchors, func(a anchor) bool { return after.means(a, e, e.point) == reg })
	}
	rest, _ := m.remove(func(e *entry) bool { return e.of(old) })
	after.entries = slices.Insert(rest.entries, first, added...)
	for _, e := range after.entries {
		for _, p := range after.used() {
			if e.traces || e.point != p && e.point != "" {
				continue
			}
			_, possible := after.inOrder(after.at(e.layer, p, e.observe != nil), p)
			if !possible || after.turnsLayers(e, p) {
				return m, false
			}
		}
	}
	return after, true
}

// used returns the points with their own hooks or observers. All other points are equal.
func (m snapshot) used() []string {
	names := []string{""}
	for _, e := range m.entries {
		if !slices.Contains(names, e.point) {
			names = append(names, e.point)
		}
	}
	return names
}

// turnsLayers reports whether an anchor of the entry, at a point, contradicts the order of layers: wherever the other
// entries are, because a Use that replaces them may have entries at the point.
func (m snapshot) turnsLayers(e *entry, point string) bool {
	return slices.ContainsFunc(m.entries, func(other *entry) bool {
		if other.layer == e.layer {
			return false
		}
		outer, inner := slices.Contains(m.outward(e.layer), other.layer), slices.Contains(m.outward(other.layer), e.layer)
		return slices.ContainsFunc(e.anchors, func(a anchor) bool {
			return other.of(m.means(a, e, point)) && (outer && !a.after || inner && a.after)
		})
	})
}

// remove drops the entries that match gone, and reports whether there were any.
func (m snapshot) remove(gone func(*entry) bool) (snapshot, bool) {
	after := m
	after.entries = slices.DeleteFunc(slices.Clone(m.entries), gone)
	return after, len(after.entries) < len(m.entries)
}

// layer makes a layer.
func (m snapshot) layer(parent int) snapshot {
	l := modelLayer{parent: parent}
	if parent >= 0 {
		l.depth = m.layers[parent].depth + 1
	}
	m.layers = append(slices.Clone(m.layers), l)
	return m
}

// handle sets or removes the failure handler of a layer.
func (m snapshot) handle(layer int, handles bool) snapshot {
	m.layers = slices.Clone(m.layers)
	m.layers[layer].handles = handles
	return m
}

// handler returns the layer whose failure handler serves the fires of a layer, or -1 for the log.
func (m snapshot) handler(layer int) int {
	for l := layer; l >= 0; l = m.layers[l].parent {
		if m.layers[l].handles {
			return l
		}
	}
	return -1
}

// outward lists a layer and its outer layers, the outermost first.
func (m snapshot) outward(layer int) []int {
	var all []int
	for l := layer; l >= 0; l = m.layers[l].parent {
		all = append(all, l)
	}
	slices.Reverse(all)
	return all
}

// firing returns the hooks of a fire in firing order, and its observers in the order of notification.
func (m snapshot) firing(layer int, point string) (hooks, observers []*entry) {
	for _, l := range m.outward(layer) {
		ordered, _ := m.inOrder(m.at(l, point, false), point)
		hooks = append(hooks, ordered...)
		ordered, _ = m.inOrder(m.at(l, point, true), point)
		observers = append(observers, ordered...)
	}
	if points.Named(point).Reversed {
		slices.Reverse(hooks)
	}
	return hooks, observers
}

// tracers returns the tracers of a fire, those of the outermost layer first.
func (m snapshot) tracers(layer int) (all []*entry) {
	for _, l := range m.outward(layer) {
		for _, e := range m.entries {
			if e.traces && e.layer == l {
				all = append(all, e)
			}
		}
	}
	return all
}

// inOrder sorts the entries of one layer at a point, before any mirroring, and reports whether their anchors are
// consistent.
// The entries are in order of registration. It computes the whole relation, unlike the runtime, which extends it
// edge by edge.
func (m snapshot) inOrder(entries []*entry, point string) ([]*entry, bool) {
	n := len(entries)
	precedes, lifts := square(n), square(n)
	relate := func(r [][]bool, a, b int) {
		for i := range n {
			for j := range n {
				r[i][j] = r[i][j] || (r[i][a] || i == a) && (r[b][j] || j == b)
			}
		}
	}
	for i, e := range entries {
		for _, a := range e.anchors {
			reg := m.means(a, e, point)
			for j, other := range entries {
				if !other.of(reg) {
					continue
				}
				early, late := i, j
				if a.after {
					early, late = j, i
				}
				if i == j || precedes[late][early] {
					return nil, false // for example, a hook cannot precede the Use that it is a part of
				}
				relate(precedes, early, late)
				if !a.after {
					relate(lifts, early, late)
				}
			}
		}
	}
	higher := func(i, j int) int {
		return cmp.Or(cmp.Compare(entries[j].priority, entries[i].priority), cmp.Compare(i, j))
	}
	ranks := make([]int, n) // each is the index of the entry whose rank it is
	for i := range entries {
		ranks[i] = i
		for j := range entries {
			if lifts[i][j] && higher(j, ranks[i]) < 0 {
				ranks[i] = j
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
			if !waits && (next < 0 || cmp.Or(higher(ranks[i], ranks[next]), higher(i, next)) < 0) {
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
