package runtime_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/points"
)

// compare compares all results with the model, and returns the differences.
func (s *harness) compare() []string {
	s.compareFirings()
	s.compareLater()
	s.compareLists("in the end")
	return s.wrongs
}

// compareFirings compares each fire with the model at each snapshot that it may have used. The program has ended.
func (s *harness) compareFirings() {
	for _, f := range s.firings {
		var first FireResult
		fits := false
		for snapshot := f.from; snapshot <= f.to && !fits; snapshot++ {
			want := s.modelled(f, snapshot)
			if fits = same(want, f.FireResult); snapshot == f.from {
				first = want
			}
		}
		if !fits {
			s.wrong("fire %d, %+v, is like that of no snapshot from %d to %d (-model at the first +real):\n%s",
				f.number, f.Fire, f.from, f.to, cmp.Diff(first.plain(), f.FireResult.plain()))
		}
	}
}

// modelled returns the predicted result of a fire for a snapshot.
func (s *harness) modelled(f *firing, snapshot int) FireResult {
	return s.past[snapshot].predict(f.Fire, f.item, f.gone)
}

// compareLater checks that each Async observer was notified of fires in the order of their decisions.
func (s *harness) compareLater() {
	for name, fires := range s.later {
		for i := 1; i < len(fires); i++ {
			a, b := s.firings[fires[i-1]-1], s.firings[fires[i]-1]
			if b.ended < a.begun || !a.parallel && b.ended < a.ended {
				s.wrong("%s was notified of fire %d, and then of fire %d, which had ended before", name, a.number, b.number)
			}
		}
	}
}

// compareDrained compares the notifications of Async observers so far with the fires. The argument starts the
// message. The caller holds mu.
func (s *harness) compareDrained(says string) {
	about := func(c FireResult) (some []string) {
		for _, l := range c.plain().Later {
			if strings.HasPrefix(l, says) {
				some = append(some, l)
			}
		}
		return some
	}
	for _, f := range s.firings {
		if got, want := about(f.FireResult), about(s.modelled(f, f.from)); !slices.Equal(got, want) {
			s.wrong("after Drain, of fire %d %q, the model has %q", f.number, got, want)
		}
	}
}

// A listed is the listing of one hook or observer.
type listed struct {
	name                   string
	layer, priority        int
	timeout, async, closed bool
	keys                   string
}

// compareLists compares the listings of every layer with the model. The caller holds mu.
func (s *harness) compareLists(when string) {
	list := func(infos []hookkit.Info) (all []listed) {
		for _, i := range infos {
			all = append(all, listed{i.Name, i.Layer, i.Priority, i.Timeout > 0, i.Async > 0, i.FailClosed,
				fmt.Sprint(slices.SortedFunc(slices.Values(i.Keys), func(a, b any) int {
					return strings.Compare(a.(string), b.(string))
				}))})
		}
		return all
	}
	modelled := func(m snapshot, p *points.Point, entries []*entry) (all []listed) {
		for _, e := range entries {
			all = append(all, listed{e.name, m.layers[e.layer].depth, e.priority, e.hook.Timeout,
				e.observe != nil && e.observe.Async, e.observe == nil && (p.Stops() || p.Decides() && e.hook.FailClosed),
				fmt.Sprint(slices.Sorted(slices.Values(e.keys)))})
		}
		return all
	}
	m := s.now()
	for number := range s.layers {
		for _, info := range s.infos[number] {
			if !s.touched[info.Name] {
				continue
			}
			hooks, observers := m.firing(number, info.Name)
			p := points.Named(info.Name)
			if got, want := list(info.Hooks()), modelled(m, p, hooks); !slices.Equal(got, want) {
				s.wrong("%s, %s of layer %d lists %+v, the model %+v", when, info.Name, number, got, want)
			}
			if got, want := list(info.Observers()), modelled(m, p, observers); !slices.Equal(got, want) {
				s.wrong("%s, %s of layer %d lists observers %+v, the model %+v", when, info.Name, number, got, want)
			}
		}
	}
}
