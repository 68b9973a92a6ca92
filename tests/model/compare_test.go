package model

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
)

// compare compares what has been played, and returns what went wrong.
func (s *stage) compare() []string {
	s.compareFlights()
	s.compareLater()
	s.compareLists("in the end")
	return s.wrongs
}

// compareFlights compares each fire with what the model does at each moment that it may have seen. The program is over.
func (s *stage) compareFlights() {
	for _, f := range s.flights {
		var first came
		fits := false
		for moment := f.from; moment <= f.to && !fits; moment++ {
			want := s.modelled(f, moment)
			if fits = same(want, f.came); moment == f.from {
				first = want
			}
		}
		if !fits {
			s.wrong("fire %d, %+v, is like that of no moment from %d to %d (-model at the first +real):\n%s",
				f.item.ID, f.fire, f.from, f.to, cmp.Diff(first.plain(), f.came.plain()))
		}
	}
}

// modelled is what the fire comes to at a moment. What has Once and was called by another fire is spent; on several
// goroutines, from some time on after that fire began.
func (s *stage) modelled(f *flight, moment int) came {
	spent := map[string]bool{}
	for name, call := range s.calls {
		at := call.at
		if f.parallel {
			at = s.flights[call.flight-1].begun
		}
		spent[name] = call.flight != f.item.ID && at < f.ended
	}
	c := s.past[moment].fire(f.fire, f.item, spent, f.gone)
	if s.tamper != nil {
		s.tamper(&c)
	}
	return c
}

// compareLater checks that each Async observer was told of fires in the order in which they were decided.
func (s *stage) compareLater() {
	for name, told := range s.later {
		for i := 1; i < len(told); i++ {
			a, b := s.flights[told[i-1]-1], s.flights[told[i]-1]
			if b.ended < a.begun || !a.parallel && b.ended < a.ended {
				s.wrong("%s was told of fire %d, and then of fire %d, which had ended before", name, a.item.ID, b.item.ID)
			}
		}
	}
}

// compareDrained compares what Async observers were told of the fires so far; says is how that begins. The caller holds mu.
func (s *stage) compareDrained(says string) {
	about := func(c came) (some []string) {
		for _, l := range c.plain().Later {
			if strings.HasPrefix(l, says) {
				some = append(some, l)
			}
		}
		return some
	}
	for _, f := range s.flights {
		if got, want := about(f.came), about(s.modelled(f, f.from)); !slices.Equal(got, want) {
			s.wrong("after Drain, of fire %d %q, the model has %q", f.item.ID, got, want)
		}
	}
}

// A listed is what a listing says of one hook or observer.
type listed struct {
	name                         string
	layer, priority              int
	once, timeout, async, closed bool
}

// compareLists compares what every layer lists with the model. The caller holds mu.
func (s *stage) compareLists(when string) {
	list := func(infos []hookkit.Info) (all []listed) {
		for _, i := range infos {
			all = append(all, listed{i.Name, i.Layer, i.Priority, i.Once, i.Timeout > 0, i.Async > 0, i.FailClosed})
		}
		return all
	}
	modelled := func(m moment, l law, entries []*entry) (all []listed) {
		for _, e := range entries {
			all = append(all, listed{e.name, m.layers[e.layer].depth, e.priority, e.hook.Once, e.hook.Timeout,
				e.observe != nil && e.observe.Async, l.closed || l.decides() && e.hook.FailClosed})
		}
		return all
	}
	m := s.now()
	for number, h := range s.layers {
		for _, info := range h.Points() {
			if !s.touched[info.Name] {
				continue
			}
			hooks, observers := m.firing(number, info.Name)
			l := points[info.Name].law
			if got, want := list(info.Hooks()), modelled(m, l, hooks); !slices.Equal(got, want) {
				s.wrong("%s, %s of layer %d lists %+v, the model %+v", when, info.Name, number, got, want)
			}
			if got, want := list(info.Observers()), modelled(m, l, observers); !slices.Equal(got, want) {
				s.wrong("%s, %s of layer %d lists observers %+v, the model %+v", when, info.Name, number, got, want)
			}
		}
	}
}
