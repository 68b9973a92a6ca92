package model

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A stage is real Hooks and the model of them.
type stage struct {
	over chan struct{} // closed when hooks that hang may end

	mu       sync.Mutex // guards what follows; what is registered and the model of it change together
	layers   []*fixture.Hooks
	infos    [][]hookkit.PointInfo // of the layers
	regs     map[int]*hookkit.Registration
	makers   map[string]int   // the number of the registration that a hook belongs to, by its name
	past     []moment         // the model after each change
	flights  []*flight        // by number, from 1
	calls    map[string]call  // of hooks with Once
	later    map[string][]int // the fires that each Async observer was notified of, in order
	wrongs   []string
	seq      int             // the number of the entry made last
	added    int             // hooks that other hooks added
	clock    int             // counts the begins and ends of fires, and calls of hooks with Once
	parallel bool            // steps run at the same time
	touched  map[string]bool // the points at which something was registered
}

// A flight is one fire of the stage.
type flight struct {
	Fire
	Came
	number       int
	item         fixture.Item
	depth        int
	parallel     bool
	from, to     int          // the moments that it may have seen
	begun, ended int          // by the clock
	who          []hookkit.By // who decided, as observers were notified
	gone         map[int]bool // the calls, by their place in Ran, that ended with a goroutine, as something inside made them
}

// A call is the call of a hook with Once.
type call struct{ flight, at int }

// Hooks that fire, add and call next twice multiply. These are the bounds of a program.
const (
	deepest     = 2    // how often a fire may be nested in another
	mostFires   = 60   // after so many, none is nested any more
	mostAdded   = 8    // hooks that other hooks add
	firstInside = 1000 // the number of the first registration made by a hook; above all that a program gives
)

func newStage() *stage {
	s := &stage{
		over: make(chan struct{}), regs: map[int]*hookkit.Registration{}, makers: map[string]int{},
		past: []moment{moment{}.layer(-1)}, calls: map[string]call{}, later: map[string][]int{}, touched: map[string]bool{},
	}
	s.addLayer(new(fixture.Hooks))
	return s
}

func (s *stage) addLayer(h *fixture.Hooks) {
	s.layers, s.infos = append(s.layers, h), append(s.infos, h.Points())
}

// point returns the access to a point of a layer.
func (s *stage) point(layer int, name string) hookkit.PointInfo {
	return points.Named(name).In(s.infos[layer])
}

// wrong notes a difference between the stage and its model. The caller holds mu.
func (s *stage) wrong(format string, args ...any) {
	s.wrongs = append(s.wrongs, fmt.Sprintf(format, args...))
}

// now is the model after the last change. The caller holds mu.
func (s *stage) now() moment { return s.past[len(s.past)-1] }

// play plays a step.
func (s *stage) play(st Step) {
	switch st := st.(type) {
	case Add:
		s.add(st, fmt.Sprint("h", st.Reg))
	case Use:
		s.use(st)
	case Observe:
		s.watch(st)
	case Trace:
		s.trace(st)
	case Remove:
		s.remove(st.Reg)
	case Drain:
		s.drain(st.Reg)
	case Layer:
		s.change(st.Parent, "Layer", func(h *fixture.Hooks) bool {
			s.addLayer(h.Layer("inner"))
			return true
		}, func(m moment) (moment, bool) { return m.layer(st.Parent), true })
	case Handle:
		s.change(st.Layer, "HandleFailures", func(h *fixture.Hooks) bool {
			if st.Off {
				h.HandleFailures(nil)
			} else {
				h.HandleFailures(func(ctx context.Context, f *hookkit.Failure) { reported(ctx, st.Layer, f.Hook) })
			}
			return true
		}, func(m moment) (moment, bool) { return m.handle(st.Layer, !st.Off), true })
	case Fire:
		done := make(chan struct{})
		go func() { // a goroutine of its own, which a hook may end
			defer close(done)
			s.fire(context.Background(), nil, nil, 0, st)
		}()
		<-done
	}
}

// change makes a change in a layer to both. Each reports whether it was possible.
func (s *stage) change(layer int, what string, real func(*fixture.Hooks) bool, modelled func(moment) (moment, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if layer >= len(s.layers) {
		return
	}
	done := real(s.layers[layer])
	after, possible := modelled(s.now())
	if done != possible {
		s.wrong("%s: %v, the model says %v", what, done, possible)
	}
	if possible {
		s.past = append(s.past, after)
	}
	if !s.parallel {
		s.compareLists("after " + what)
	}
}

// register registers something and reports whether it was possible.
func (s *stage) register(reg int, register func() *hookkit.Registration) (possible bool) {
	defer func() {
		if r := recover(); r != nil && !strings.HasPrefix(fmt.Sprint(r), "hookkit: ") {
			panic(r)
		}
	}()
	s.regs[reg] = register()
	return true
}
