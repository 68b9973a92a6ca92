package hookimpl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// shapes are ways to anchor thousands of hooks. Each registers n of them.
var shapes = []struct {
	name     string
	register func(h *history, t testing.TB, n int)
}{
	{name: "no anchors", register: func(h *history, t testing.TB, n int) {
		for i := range n {
			h.add(t, "", i%5)
		}
	}},
	{name: "half anchored", register: halfAnchored},
	{name: "chain of Before", register: func(h *history, t testing.TB, n int) {
		reg := h.add(t, "", 0)
		for range n {
			reg = h.add(t, "", 0, before(reg)...)
		}
	}},
	{name: "chain of After", register: func(h *history, t testing.TB, n int) {
		reg := h.add(t, "", 0)
		for range n {
			reg = h.add(t, "", 0, after(reg)...)
		}
	}},
	{name: "chain of Before, all After the first", register: func(h *history, t testing.TB, n int) {
		first := h.add(t, "", 0)
		reg := h.add(t, "", 0, after(first)...)
		for range n {
			reg = h.add(t, "", 0, append(before(reg), after(first)...)...)
		}
	}},
	{name: "chain of After, all Before the first", register: func(h *history, t testing.TB, n int) {
		first := h.add(t, "", 0)
		reg := h.add(t, "", 0, before(first)...)
		for range n {
			reg = h.add(t, "", 0, append(after(reg), before(first)...)...)
		}
	}},
	{name: "chain that grows in the middle", register: func(h *history, t testing.TB, n int) {
		early := h.add(t, "", 0)
		late := h.add(t, "", 0, after(early)...)
		for i := range n {
			reg := h.add(t, "", 0, append(after(early), before(late)...)...)
			if i%2 == 0 {
				early = reg
			} else {
				late = reg
			}
		}
	}},
	{name: "between two others", register: func(h *history, t testing.TB, n int) {
		x := h.add(t, "", 0)
		y := h.add(t, "", 0, before(x)...)
		for range n {
			h.add(t, "", 0, append(after(y), before(x)...)...)
		}
	}},
	{name: "between two at random", register: func(h *history, t testing.TB, n int) {
		rng := rand.New(rand.NewPCG(1, 2))
		line := make([]*registration, n) // whoever is on the left fires earlier
		for _, at := range rng.Perm(n) {
			var given []anchor
			if i := lastIndex(line[:rng.IntN(at+1)]); i >= 0 {
				given = append(given, after(line[i])...)
			}
			right := at + 1 + rng.IntN(n-at)
			if i := slices.IndexFunc(line[right:], isMade); i >= 0 {
				given = append(given, before(line[right+i])...)
			}
			line[at] = h.add(t, "", 0, given...)
		}
	}},
	{name: "between the neighbors at random", register: func(h *history, t testing.TB, n int) {
		rng := rand.New(rand.NewPCG(1, 2))
		line := []*registration{h.add(t, "", 0)} // in firing order
		line = append(line, h.add(t, "", 0, after(line[0])...))
		for range n {
			i := 1 + rng.IntN(len(line)-1)
			reg := h.add(t, "", 0, append(after(line[i-1]), before(line[i])...)...)
			line = slices.Insert(line, i, reg)
		}
	}},
	{name: "all Before a Use", register: func(h *history, t testing.TB, n int) {
		use := h.use(t, n, nil)
		for range n {
			h.add(t, "", 0, before(use)...)
		}
	}},
	{name: "all between two Uses", register: func(h *history, t testing.TB, n int) {
		early, late := h.use(t, n, nil), h.use(t, n, nil)
		for range n {
			h.add(t, "", 0, append(after(early), before(late)...)...)
		}
	}},
	{name: "anchors to registrations that never come", register: func(h *history, t testing.TB, n int) {
		void := registered("void")
		for range n {
			h.add(t, "", 0, append(after(void), before(void)...)...)
		}
	}},
}

// halfAnchored anchors every second hook to an earlier one.
func halfAnchored(h *history, t testing.TB, n int) {
	rng := rand.New(rand.NewPCG(1, 2))
	var regs []*registration
	for i := range n {
		var given []anchor
		if i%2 == 1 {
			given = []anchor{{place: regs[rng.IntN(i)].place, after: i%4 == 1}}
		}
		regs = append(regs, h.add(t, "", i%5, given...))
	}
}

// use adds n hooks of one Use.
func (h *history) use(t testing.TB, n int, anchors []anchor) *registration {
	t.Helper()
	use := registered("use")
	added := make([]*entry, n)
	for i := range added {
		added[i] = h.newEntry(0, anchors, registered(""), use)
	}
	if err := h.try(added...); err != nil {
		t.Fatal(err)
	}
	return use
}

func isMade(r *registration) bool { return r != nil }

func lastIndex(line []*registration) int {
	for i := len(line) - 1; i >= 0; i-- {
		if isMade(line[i]) {
			return i
		}
	}
	return -1
}

func TestShapesMatchThePlainAlgorithm(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			var h history
			shape.register(&h, t, 40)
			want, err := plainOrder(h.entries)
			if got := h.inOrder(); err != nil || !slices.Equal(got, want) {
				t.Errorf("the order is another than that of the plain algorithm, whose error is %v", err)
			}
		})
	}
}

// TestNestedUsesAreOrdered makes Uses in the Bind of each other, with one hook each.
func TestNestedUsesAreOrdered(t *testing.T) {
	const depth = 400
	for name, anchored := range map[string]func(h *history, uses []*registration){
		"no anchors": func(*history, []*registration) {},
		"a hook Before each Use": func(h *history, uses []*registration) {
			for _, use := range uses {
				h.add(t, "", 0, before(use)...)
			}
		},
		"a chain of hooks After the Uses": func(h *history, uses []*registration) {
			last := h.add(t, "", 0)
			for _, use := range uses {
				last = h.add(t, "", 0, after(use, last)...)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			var uses []*registration // the innermost first
			var added []*entry
			for range depth {
				uses = slices.Insert(uses, 0, registered("use"))
				added = append(added, h.newEntry(0, nil, slices.Insert(slices.Clone(uses), 0, registered(""))...))
			}
			if err := h.try(added...); err != nil {
				t.Fatal(err)
			}
			anchored(&h, uses)
			got := slices.DeleteFunc(slices.Clone(h.inOrder()), func(e *entry) bool { return !slices.Contains(added, e) })
			if !slices.Equal(got, added) {
				t.Error("the hooks of the Uses are not in order of registration")
			}
			middle := depth / 2
			h.remove(uses[middle].has)
			isThere := func(use *registration) bool { return slices.ContainsFunc(h.inOrder(), use.has) }
			if isThere(uses[middle]) || isThere(uses[0]) || !isThere(uses[middle+1]) {
				t.Error("not exactly the Uses inside one were removed with it")
			}
		})
	}
}

func TestLongChainsAreOrdered(t *testing.T) {
	const n = 4000
	for _, test := range []struct {
		name  string
		chain func(...*registration) []anchor
		all   func(...*registration) []anchor
	}{
		{"Before", before, after},
		{"After", after, before},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h history
			first := h.add(t, "", 0)
			last := h.add(t, "", 0, test.all(first)...)
			for range n {
				last = h.add(t, "", 0, append(test.chain(last), test.all(first)...)...)
			}
			got := h.inOrder()
			want := slices.SortedFunc(slices.Values(got), bySeq)
			if test.name == "Before" {
				slices.Reverse(want[1:])
			} else {
				want = append(want[1:], want[0])
			}
			if !slices.Equal(got, want) {
				t.Error("the chain is not in order")
			}
		})
	}
}

// BenchmarkRegister registers hooks one by one and lists them once. The time for 4,000 must be at most eight times
// that for 1,000.
func BenchmarkRegister(b *testing.B) {
	for _, shape := range shapes {
		for _, n := range []int{1000, 4000} {
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				for b.Loop() {
					var h history
					shape.register(&h, b, n)
					h.inOrder()
				}
			})
		}
	}
}

// BenchmarkRemove removes hooks of which half have an anchor, in the order in which they were registered.
func BenchmarkRemove(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				var h history
				halfAnchored(&h, b, n)
				entries := slices.SortedFunc(slices.Values(h.inOrder()), bySeq)
				b.StartTimer()
				for _, e := range entries {
					h.remove(e.regs[0].has)
				}
				h.inOrder()
			}
		})
	}
}
