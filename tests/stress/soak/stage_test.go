package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// An arena is a target of fires: hooks, and a layer of them that is replaced from time to time.
type arena struct {
	hooks   *fixture.Hooks
	watched bool // it has permanent observers
	kept    *fixture.Hooks
	layer   atomic.Pointer[fixture.Hooks]

	slow  *tally // the permanent Async observer of a watched arena
	queue *hookkit.Registration
	fires atomic.Int64 // in total, updated at the end of a round
}

// A stage is the state of the whole run.
type stage struct {
	points   []*points.Point
	arenas   []*arena
	totals   totals
	fires    atomic.Int64
	hooksRan atomic.Int64
	standing [][]int // by arena: the number of permanent hooks and observers at each point

	mu    sync.Mutex
	async []asyncObserver // removed ones
	wrong []string
}

type asyncObserver struct {
	reg *hookkit.Registration
	*tally
}

func newStage() *stage {
	s := &stage{points: slices.DeleteFunc(slices.Clone(points.All), changesKey)}
	for _, watched := range []bool{false, true} {
		a := &arena{hooks: new(fixture.Hooks), watched: watched, slow: new(tally)}
		infos := a.hooks.Points()
		for _, p := range s.points {
			(&part{side: middle}).add(p.In(infos), p)
		}
		if watched {
			counter{}.observe(a.hooks)
			a.queue = a.hooks.ObserveAny(a.slow, hookkit.Async(256))
		}
		a.kept = a.hooks.Layer("inner")
		a.kept.Use(pair{layer: 1, at: s.points[:len(s.points)/2]})
		a.layer.Store(a.kept)
		s.arenas = append(s.arenas, a)
		s.standing = append(s.standing, listed(a.hooks))
	}
	return s
}

// listed counts the hooks and observers at each point.
func listed(h *fixture.Hooks) []int {
	var n []int
	for _, p := range h.Points() {
		n = append(n, len(p.Hooks())*1000+len(p.Observers()))
	}
	return n
}

// removed records an Async observer that was removed: fires that had begun may still notify it.
func (s *stage) removed(reg *hookkit.Registration, t *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.async = append(s.async, asyncObserver{reg, t})
}

func (s *stage) problem(texts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, texts...)
}

// batch is the number of fires of a worker between two turns of changers.
const batch = 1024

// round makes fires while the changers change, undoes all changes, and checks the remaining hooks.
func (s *stage) round(seed uint64, fires int) {
	workers, changers := runtime.GOMAXPROCS(0), 3
	turns := make(chan struct{}, changers) // a changer takes a turn after some fires, so that changes keep up
	var firing, changing sync.WaitGroup
	for i := range changers {
		changing.Go(func() {
			c := &changer{stage: s, random: rand.New(rand.NewPCG(seed, uint64(1000+i)))}
			for range turns {
				c.change()
			}
			for len(c.undo) > 0 {
				c.back()
			}
			s.problem(c.wrong...)
		})
	}
	for i := range workers {
		n := fires / workers
		if i == 0 {
			n = fires - n*(workers-1)
		}
		firing.Go(func() {
			s.work(rand.New(rand.NewPCG(seed, uint64(i))), n, func() {
				select {
				case turns <- struct{}{}:
				default: // all changers are busy
				}
			})
		})
	}
	firing.Wait()
	close(turns)
	changing.Wait()
	s.rest()
}

// work makes fires at random points.
func (s *stage) work(random *rand.Rand, fires int, turn func()) {
	f := &fire{Context: context.Background(), run: fixture.NewRun(&fixture.World{Name: "soak"})}
	ran := 0
	at := make([]int64, len(s.arenas))
	for n := range fires {
		if n%batch == batch-1 {
			turn()
		}
		draw := random.Uint64()
		i := int(draw % uint64(len(s.points)))
		draw >>= 16
		which := 0
		if draw%8 == 0 {
			which = 1
		}
		a := s.arenas[which]
		at[which]++
		tool := goOn
		switch draw >> 8 % 64 {
		case 0:
			tool = leave
		case 1:
			tool = fail
		}
		h := a.hooks
		switch draw >> 16 % 8 {
		case 0:
			h = a.kept
		case 1, 2:
			h = a.layer.Load()
		}
		f.at(h, s.points[i], n, tool)
		f.check(a.watched)
		ran += f.ran()
	}
	for i, n := range at {
		s.arenas[i].fires.Add(n)
	}
	s.fires.Add(int64(fires))
	s.hooksRan.Add(int64(ran))
	s.problem(f.problems...)
}

// changesKey reports whether the hooks of a pair change the field that is the key of the point. Their fires would fail.
func changesKey(p *points.Point) bool { return p.Key == "Number" || p.Key == "Note" }

// rest checks the permanent hooks when all changes are undone.
func (s *stage) rest() {
	for i, a := range s.arenas {
		a.layer.Store(a.kept)
		for j, n := range listed(a.hooks) {
			if n != s.standing[i][j] {
				s.problem(fmt.Sprintf("%s: %d hooks and observers (by 1000) stand after all were removed, want %d",
					points.All[j].Name, n, s.standing[i][j]))
			}
		}
		s.sees(a, 0, false)
		reg := a.hooks.Use(pair{at: s.points}) // the next fire sees the change, in layers too
		s.sees(a, 1, false)
		tracer := a.hooks.Trace(counter{})
		s.sees(a, 1, true)
		reg.Remove()
		s.sees(a, 0, true)
		tracer.Remove()
		s.sees(a, 0, false)
		if a.watched {
			s.drain(a.queue)
			got, dropped, fires := a.slow.notified.Load(), int64(a.queue.Dropped()), a.fires.Load()
			if got+dropped != fires {
				s.problem(fmt.Sprintf("the standing Async observer was notified of %d fires and missed %d, there were %d", got,
					dropped, fires))
			}
		}
	}
	s.mu.Lock()
	removed := s.async
	s.async = nil
	s.mu.Unlock()
	for _, o := range removed {
		s.drain(o.reg)
		s.totals.notified.Add(o.notified.Load())
		s.totals.dropped.Add(int64(o.reg.Dropped()))
	}
}

// sees fires every point of an arena and of its permanent layer. It checks that the expected number of pairs runs,
// and that the tracer is notified, if any.
func (s *stage) sees(a *arena, pairs int, traced bool) {
	f := &fire{Context: context.Background(), run: fixture.NewRun(&fixture.World{Name: "rest"})}
	for i, p := range s.points {
		for layer, h := range []*fixture.Hooks{a.hooks, a.kept} {
			f.at(h, p, i, goOn)
			f.check(a.watched)
			want := 1 + 2*pairs
			if layer == 1 && i < len(s.points)/2 {
				want += 2
			}
			if f.ran() != want || f.firesTraced > 0 != traced {
				f.problem("%d hooks and %d tracers are called, when %d hooks stand and a tracer: %v", f.ran(), f.firesTraced,
					want, traced)
			}
			a.fires.Add(1)
			s.fires.Add(1)
		}
	}
	s.problem(f.problems...)
}

func (s *stage) drain(reg *hookkit.Registration) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := reg.Drain(ctx); err != nil {
		s.problem(fmt.Sprintf("Drain, when nobody fires: %v", err))
	}
}
