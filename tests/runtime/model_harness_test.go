package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A harness has real Hooks and their model.
type harness struct {
	over chan struct{} // closed when hanging hooks may return

	mu       sync.Mutex // guards the fields below; registrations and their model change together
	layers   []*fixture.Hooks
	pins     []pin
	infos    [][]hookkit.AnyPoint // by layer
	regs     map[int]*hookkit.Registration
	makers   map[string]int   // registration numbers by name of hook
	past     []snapshot       // snapshots of the model, after each change
	firings  []*firing        // by number, from 1
	later    map[string][]int // the fires that each Async observer was notified of, in order
	wrongs   []string
	added    int             // the number of hooks that other hooks added
	clock    int             // counts starts and ends of fires
	parallel bool            // steps run in parallel
	touched  map[string]bool // the points with registrations
}

// A pin is the Hooks of a layer with the registrations of a snapshot.
type pin struct {
	hooks           *fixture.Hooks
	layer, snapshot int
}

// A firing is one fire of the harness.
type firing struct {
	Fire
	FireResult
	number       int
	item         fixture.Item
	depth        int
	parallel     bool
	from, to     int          // the range of snapshots that it may use
	begun, ended int          // times of clock
	who          []hookkit.By // the deciding hooks in the view of observers
	gone         map[int]bool // the calls, by index in Ran, that an inner step ended with a goroutine
}

// Hooks that fire, add and call next twice multiply. These are the bounds of a program.
const (
	deepest     = 2    // nesting of fires
	mostFires   = 60   // after so many, hooks do not fire any more
	mostAdded   = 8    // hooks that other hooks add
	firstInside = 1000 // the first number of registrations by hooks, above those of programs
)

func newHarness() *harness {
	s := &harness{
		over: make(chan struct{}), regs: map[int]*hookkit.Registration{}, makers: map[string]int{},
		past: []snapshot{snapshot{}.layer(-1)}, later: map[string][]int{},
		touched: map[string]bool{},
	}
	s.addLayer(new(fixture.Hooks))
	return s
}

func (s *harness) addLayer(h *fixture.Hooks) {
	s.layers, s.infos = append(s.layers, h), append(s.infos, h.Points())
}

// point returns the access to a point of a layer.
func (s *harness) point(layer int, name string) hookkit.AnyPoint {
	return points.Named(name).In(s.infos[layer])
}

// wrong records a difference between the Hooks and the model. The caller holds mu.
func (s *harness) wrong(format string, args ...any) {
	s.wrongs = append(s.wrongs, fmt.Sprintf(format, args...))
}

// now returns the latest snapshot. The caller holds mu.
func (s *harness) now() snapshot { return s.past[len(s.past)-1] }

// play plays a step.
func (s *harness) play(st Step) {
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
		}, func(m snapshot) (snapshot, bool) { return m.layer(st.Parent), true })
	case Handle:
		s.change(st.Layer, "HandleFailures", func(h *fixture.Hooks) bool {
			if st.Off {
				h.HandleFailures(nil)
			} else {
				h.HandleFailures(func(ctx context.Context, f *hookkit.Failure) { reported(ctx, st.Layer, f.Hook) })
			}
			return true
		}, func(m snapshot) (snapshot, bool) { return m.handle(st.Layer, !st.Off), true })
	case Pin:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pins = append(s.pins, pin{s.layers[st.Layer].Pinned(), st.Layer, len(s.past) - 1})
	case Fire:
		done := make(chan struct{})
		go func() { // its own goroutine, which a hook may end
			defer close(done)
			s.fire(context.Background(), nil, nil, 0, st)
		}()
		<-done
	}
}

// change applies a change to the Hooks and to the model. Each reports whether the change was possible.
func (s *harness) change(
	layer int, what string, apply func(*fixture.Hooks) bool, modelled func(snapshot) (snapshot, bool),
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if layer >= len(s.layers) {
		return
	}
	done := apply(s.layers[layer])
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

// register makes a registration and reports whether it was possible.
func (s *harness) register(reg int, register func() *hookkit.Registration) (possible bool) {
	defer func() {
		if r := recover(); r != nil && !strings.HasPrefix(fmt.Sprint(r), "hookkit: ") {
			panic(r)
		}
	}()
	s.regs[reg] = register()
	return true
}
