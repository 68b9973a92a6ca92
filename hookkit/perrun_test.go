package hookkit_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestStateBelongsToOneInstanceAndRun(t *testing.T) {
	var one, other hookkit.PerRun[int]
	root := hookkit.NewRun("")
	child := root.Child("")
	for _, add := range []struct {
		p *hookkit.PerRun[int]
		r hookkit.AnyRun
		n int
	}{{&one, root, 1}, {&one, child, 10}, {&other, root, 100}} {
		add.p.Do(add.r, func(v *int) { *v += add.n })
	}
	for name, c := range map[string]struct{ got, want int }{
		"one, root": {one.Load(root), 1}, "one, child": {one.Load(child), 10},
		"other, root": {other.Load(root), 100}, "other, child": {other.Load(child), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: the state is %d, want %d", name, c.got, c.want)
		}
	}
}

// Instances without fields of their own could share an address.
func TestStateOfEmptyTypesIsNotShared(t *testing.T) {
	states := make([]hookkit.PerRun[struct{}], 2)
	if &states[0] == &states[1] {
		t.Error("two instances have one address")
	}
	var a, b struct{ s hookkit.PerRun[[]int] }
	r := hookkit.NewRun(0)
	a.s.Do(r, func(v *[]int) { *v = append(*v, 1) })
	if got := b.s.Load(r); len(got) > 0 {
		t.Errorf("one instance sees the state of another: %v", got)
	}
}

func TestDoIsExclusive(t *testing.T) {
	var p hookkit.PerRun[int]
	r := hookkit.NewRun("")
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { p.Do(r, func(n *int) { *n++ }) })
		wg.Go(func() { p.Load(r) })
	}
	wg.Wait()
	if n := p.Load(r); n != 100 {
		t.Errorf("%d updates of 100 were kept", n)
	}
}

func TestPanicsInDoReleaseTheState(t *testing.T) {
	var p hookkit.PerRun[int]
	r := hookkit.NewRun("")
	if text := panicText(func() { p.Do(r, func(n *int) { *n = 7; panic("inside") }) }); text != "inside" {
		t.Errorf("it panicked with %q", text)
	}
	if n := p.Load(r); n != 7 {
		t.Errorf("the state is %d", n)
	}
}

func TestLoad(t *testing.T) {
	var p hookkit.PerRun[[]int]
	r := hookkit.NewRun("")
	t.Run("returns a zero value without state", func(t *testing.T) {
		if got := p.Load(r); got != nil {
			t.Errorf("got %v", got)
		}
	})
	t.Run("keeps nothing", func(t *testing.T) {
		fresh := make([]hookkit.PerRun[int], 101) // AllocsPerRun calls once more
		next := 0
		if n := testing.AllocsPerRun(100, func() { fresh[next].Load(r); next++ }); n > 0 {
			t.Errorf("it allocated %v times", n)
		}
	})
	t.Run("returns a shallow copy", func(t *testing.T) {
		p.Do(r, func(v *[]int) { *v = []int{1, 2} })
		got := p.Load(r)
		got = append(got[:1], 3) // in the same array
		if after := p.Load(r); !slices.Equal(after, []int{1, 3}) || len(got) != 2 {
			t.Errorf("the state is %v", after)
		}
		p.Do(r, func(v *[]int) { *v = nil })
		if !slices.Equal(got, []int{1, 3}) || p.Load(r) != nil {
			t.Errorf("the copy is %v, the state %v", got, p.Load(r))
		}
	})
}

func TestNilRunsPanic(t *testing.T) {
	var p hookkit.PerRun[int]
	var none *hookkit.Run[string]
	for name, r := range map[string]hookkit.AnyRun{"nil interface": nil, "nil pointer": none} {
		for method, f := range map[string]func(){"Do": func() { p.Do(r, func(*int) {}) }, "Load": func() { p.Load(r) }} {
			want := "hookkit: PerRun." + method + " with a nil run: fire with a run made by NewRun"
			if text := panicText(f); text != want {
				t.Errorf("%s, %s: it panicked with %q, want %q", method, name, text, want)
			}
		}
	}
}

// A Run that NewRun did not make has no identity, but state all the same.
func TestZeroRunsKeepState(t *testing.T) {
	var r hookkit.Run[string]
	var p hookkit.PerRun[int]
	p.Do(&r, func(n *int) { *n = 1 })
	if n := p.Load(&r); n != 1 || r.ID() != "" {
		t.Errorf("state %d, ID %q", n, r.ID())
	}
}

// The hook outlives the run. It must not keep the state of the run.
func TestStateIsFreedWithTheRun(t *testing.T) {
	var p hookkit.PerRun[*[1 << 16]byte]
	freed := make(chan bool, 1)
	func() {
		r := hookkit.NewRun("")
		p.Do(r, func(v **[1 << 16]byte) {
			*v = new([1 << 16]byte)
			runtime.AddCleanup(*v, func(c chan bool) { c <- true }, freed)
		})
	}()
	for range 1000 {
		runtime.GC()
		select {
		case <-freed:
			p.Load(hookkit.NewRun("")) // the hook is still in use
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the state of an unreachable run is still there")
}
