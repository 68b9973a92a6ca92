package hookimpl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A history makes entries and adds them to an ordering.
type history struct {
	ordering
	clock uint64
}

func registered(name string) *registration { return newRegistration(name, name+".go:1") }

// newEntry makes an entry of the registrations, the innermost first, without adding it.
func (h *history) newEntry(priority int, anchors []anchor, regs ...*registration) *entry {
	h.clock++
	return &entry{
		Settings: opaque.Settings{Name: regs[0].name, Site: regs[0].site, Priority: priority},
		regs:     regs, seq: []uint64{h.clock}, anchors: anchors, registry: new(Registry),
	}
}

// try adds the entries if they do not contradict anything.
func (h *history) try(added ...*entry) error {
	return h.ordering.add(added)
}

// add adds one hook and fails the test if it contradicts anything.
func (h *history) add(t testing.TB, name string, priority int, anchors ...anchor) *registration {
	t.Helper()
	reg := registered(name)
	if err := h.try(h.newEntry(priority, anchors, reg)); err != nil {
		t.Fatal(err)
	}
	return reg
}

// want compares the names in firing order.
func (h *history) want(t *testing.T, names ...string) {
	t.Helper()
	if got := namesOf(h.inOrder()); !slices.Equal(got, names) {
		t.Errorf("the order is %v, want %v", got, names)
	}
}

func namesOf(entries []*entry) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

func before(regs ...*registration) []anchor { return anchorsTo(anchor{}, regs) }
func after(regs ...*registration) []anchor  { return anchorsTo(anchor{after: true}, regs) }

func anchorsTo(a anchor, regs []*registration) []anchor {
	all := make([]anchor, len(regs))
	for i, r := range regs {
		all[i] = a
		all[i].place = r.place
	}
	return all
}

func TestFiringOrder(t *testing.T) {
	t.Run("priority, then time of registration", func(t *testing.T) {
		var h history
		h.add(t, "a", 0)
		h.add(t, "b", 100)
		h.add(t, "c", -1)
		h.add(t, "d", 100)
		h.want(t, "b", "d", "a", "c")
	})
	t.Run("Before moves up, After waits", func(t *testing.T) {
		var h history
		a := h.add(t, "a", 10)
		h.add(t, "b", 5)
		c := h.add(t, "c", 1)
		h.add(t, "before a", 0, before(a)...)
		h.add(t, "after c", 100, after(c)...)
		h.want(t, "before a", "a", "b", "c", "after c")
	})
	t.Run("Before moves up along a chain", func(t *testing.T) {
		var h history
		a := h.add(t, "a", 10)
		h.add(t, "b", 5)
		c := h.add(t, "c", 1, before(a)...)
		h.add(t, "d", 0, before(c)...)
		h.want(t, "d", "c", "a", "b")
	})
	t.Run("After moves nothing up", func(t *testing.T) {
		var h history
		a := h.add(t, "a", 0)
		h.add(t, "b", 5)
		h.add(t, "c", 10, after(a)...)
		h.want(t, "b", "a", "c")
	})
	t.Run("anchors to all entries of a registration", func(t *testing.T) {
		var h history
		use := registered("use")
		a := h.newEntry(10, nil, registered("a"), use)
		b := h.newEntry(-10, nil, registered("b"), use)
		if err := h.try(a, b); err != nil {
			t.Fatal(err)
		}
		h.add(t, "x", 100, after(use)...)
		h.add(t, "y", -100, before(use)...)
		h.want(t, "y", "a", "b", "x")
	})
	t.Run("anchors within a batch", func(t *testing.T) {
		var h history
		use, a, b := registered("use"), registered("a"), registered("b")
		if err := h.try(h.newEntry(0, after(b), a, use), h.newEntry(0, nil, b, use)); err != nil {
			t.Fatal(err)
		}
		h.want(t, "b", "a")
	})
	t.Run("an anchor waits for its registration", func(t *testing.T) {
		var h history
		late := registered("late")
		h.add(t, "a", 0, after(late)...)
		h.add(t, "b", 0)
		h.want(t, "a", "b")
		if err := h.try(h.newEntry(-5, nil, late)); err != nil {
			t.Fatal(err)
		}
		h.want(t, "b", "late", "a")
	})
	t.Run("a removed registration holds nothing apart", func(t *testing.T) {
		var h history
		a := h.add(t, "a", 0)
		b := h.add(t, "b", 0, before(a)...)
		h.add(t, "c", 10, after(a)...)
		h.add(t, "d", 20, after(b)...)
		h.want(t, "b", "d", "a", "c")
		h.remove(b.has)
		h.want(t, "d", "a", "c")
		h.remove(a.has)
		h.want(t, "d", "c")
	})
}

func TestContradictionNamesBothHooksAndTheRemedy(t *testing.T) {
	tests := map[string]func(*history) (error, []string){
		"through another hook": func(h *history) (error, []string) {
			a := h.add(t, "a", 0)
			b := h.add(t, "b", 0, after(a)...)
			return h.try(h.newEntry(0, append(before(a), after(b)...), registered("torn"))), []string{"torn", "b"}
		},
		"within a batch": func(h *history) (error, []string) {
			a, b := registered("a"), registered("b")
			return h.try(h.newEntry(0, before(b), a), h.newEntry(0, before(a), b)), []string{"a", "b"}
		},
		"with anchors that waited": func(h *history) (error, []string) {
			late := registered("late")
			a := h.add(t, "a", 0, before(late)...)
			h.add(t, "b", 0, append(after(late), before(a)...)...)
			return h.try(h.newEntry(0, nil, late)), []string{"a", "late"}
		},
		"with anchors that waited for a Use in a Use": func(h *history) (error, []string) {
			late, outer := registered("late"), registered("outer")
			a := h.add(t, "a", 0, before(outer)...)
			h.add(t, "b", 0, append(after(outer), before(a)...)...)
			h.add(t, "c", 0, append(after(late), before(a)...)...)
			return h.try(h.newEntry(0, nil, late, outer)), []string{"a", "late"}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var h history
			err, hooks := test(&h)
			if err == nil {
				t.Fatal("the contradiction was accepted")
			}
			for _, hook := range hooks {
				if want := hook + " (" + hook + ".go:1)"; !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
			if !strings.Contains(err.Error(), "remove one of them") {
				t.Errorf("no remedy in %q", err)
			}
		})
	}
}

// TestOrderMatchesThePlainAlgorithm compares random histories with the algorithm that orders everything anew for each
// change. Registrations come from a small pool, so that anchors meet, wait for each other and become void. They nest,
// as Uses do: anchors and removals meet inner and outer ones.
func TestOrderMatchesThePlainAlgorithm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, outer: make(map[*registration]*registration)}
		for i := range 8 {
			m.newRegistration(t, "r"+strconv.Itoa(i))
		}
		t.Repeat(map[string]func(*rapid.T){
			"add":    m.add,
			"remove": m.remove,
			"":       m.compare,
		})
	})
}

type model struct {
	history
	t        *rapid.T
	pool     []*registration
	outer    map[*registration]*registration // the Use around each
	entries  []*entry
	returned []*entry // what inOrder returned last
	copied   []*entry // a copy of it
}

func (m *model) registration(*rapid.T) *registration {
	return rapid.SampledFrom(m.pool).Draw(m.t, "registration")
}

// newRegistration adds a registration to the pool, perhaps in the Bind of another one.
func (m *model) newRegistration(t *rapid.T, name string) *registration {
	r := registered(name)
	if len(m.pool) > 0 && rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
		m.outer[r] = m.registration(t)
	}
	m.pool = append(m.pool, r)
	return r
}

func (m *model) add(t *rapid.T) {
	var added []*entry
	for range rapid.IntRange(1, 4).Draw(t, "entries") {
		innermost := m.registration(t)
		if rapid.Bool().Draw(t, "new") {
			innermost = m.newRegistration(t, "n"+strconv.FormatUint(m.clock, 10))
		}
		var regs []*registration
		for r := innermost; r != nil; r = m.outer[r] {
			regs = append(regs, r)
		}
		var given []anchor
		for range rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(t, "anchors") {
			a := anchor{m.registration(t).place, rapid.Bool().Draw(t, "after")}
			if !slices.Contains(regs, a.place.holder) {
				given = append(given, a)
			}
		}
		e := m.newEntry(rapid.IntRange(-1, 1).Draw(t, "priority"), given, regs...)
		e.Name, e.Site = fmt.Sprint("e", m.clock), fmt.Sprint("e.go:", m.clock)
		added = append(added, e)
	}
	added = rapid.Permutation(added).Draw(t, "added")

	_, want := plainOrder(slices.Concat(m.entries, added))
	got := m.try(added...)
	switch {
	case (got == nil) != (want == nil):
		t.Fatalf("the verdict is %v, want %v\n%s", got, want, listing(m.entries, added))
	case got == nil:
		m.entries = append(m.entries, added...)
	}
}

func (m *model) remove(t *rapid.T) {
	reg := m.registration(t)
	m.entries = slices.DeleteFunc(slices.Clone(m.entries), reg.has)
	m.history.remove(reg.has)
}

func (m *model) compare(t *rapid.T) {
	if !slices.Equal(m.returned, m.copied) {
		t.Fatal("a slice that was returned has changed")
	}
	if rapid.Bool().Draw(t, "several changes in a row") {
		return
	}
	want, err := plainOrder(m.entries)
	if err != nil {
		t.Fatal(err)
	}
	m.returned = m.inOrder()
	m.copied = slices.Clone(m.returned)
	if !slices.Equal(m.returned, want) {
		t.Fatalf("the order is %v, want %v\n%s", namesOf(m.returned), namesOf(want), listing(m.entries, nil))
	}
}

func listing(entries, added []*entry) string {
	var b strings.Builder
	for _, e := range slices.Concat(entries, added) {
		fmt.Fprintf(&b, "%s, priority %d, of", e.Name, e.Priority)
		for _, r := range e.regs {
			b.WriteString(" " + r.name)
		}
		for _, a := range e.anchors {
			fmt.Fprintf(&b, ", anchor %s after=%v", a.place.holder.name, a.after)
		}
		b.WriteString("\n")
	}
	return b.String()
}
