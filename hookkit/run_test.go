package hookkit_test

import (
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestEveryRunHasAnIdentityOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		r := hookkit.NewRun(1)
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(r.ID()) || seen[r.ID()] {
			t.Fatalf("ID %q", r.ID())
		}
		seen[r.ID()] = true
	}
}

func TestARunKnowsWhoStartedIt(t *testing.T) {
	root := hookkit.NewRun("root")
	child := root.Child("child")
	grandchild := child.Child("grandchild")
	if root.Parent() != "" || root.Root() != root.ID() {
		t.Errorf("the root says its parent is %q and its root %q", root.Parent(), root.Root())
	}
	if child.Parent() != root.ID() || grandchild.Parent() != child.ID() {
		t.Errorf("the parents are %q and %q", child.Parent(), grandchild.Parent())
	}
	if child.Root() != root.ID() || grandchild.Root() != root.ID() {
		t.Errorf("the roots are %q and %q", child.Root(), grandchild.Root())
	}
	if root.Env+child.Env+grandchild.Env != "rootchildgrandchild" {
		t.Error("an environment is not the one given")
	}
}

func TestStateBelongsToOneInstanceAndOneRun(t *testing.T) {
	var one, other hookkit.PerRun[int]
	root := hookkit.NewRun("")
	child := root.Child("")
	add := func(p *hookkit.PerRun[int], r hookkit.AnyRun, n int) (sum int) {
		p.Do(r, func(v *int) { *v += n; sum = *v })
		return sum
	}
	add(&one, root, 1)
	add(&one, child, 10)
	add(&other, root, 100)
	for _, c := range []struct {
		got, want int
	}{{add(&one, root, 0), 1}, {add(&one, child, 0), 10}, {add(&other, root, 0), 100}, {add(&other, child, 0), 0}} {
		if c.got != c.want {
			t.Errorf("the state is %d, want %d", c.got, c.want)
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
	b.s.Do(r, func(v *[]int) {
		if len(*v) > 0 {
			t.Error("one instance sees the state of another")
		}
	})
}

func TestDoIsExclusive(t *testing.T) {
	var p hookkit.PerRun[int]
	r := hookkit.NewRun("")
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { p.Do(r, func(n *int) { *n++ }) })
	}
	wg.Wait()
	p.Do(r, func(n *int) {
		if *n != 100 {
			t.Errorf("%d updates of 100 were kept", *n)
		}
	})
}

func TestAPanicInDoUnlocksAndGoesOn(t *testing.T) {
	var p hookkit.PerRun[int]
	r := hookkit.NewRun("")
	if text := panicOf(func() { p.Do(r, func(n *int) { *n = 7; panic("inside") }) }); text != "inside" {
		t.Errorf("it panicked with %q", text)
	}
	p.Do(r, func(n *int) {
		if *n != 7 {
			t.Errorf("the state is %d", *n)
		}
	})
}

func TestDoWithoutARunPanicsAndSaysWhatToDo(t *testing.T) {
	var p hookkit.PerRun[int]
	var none *hookkit.Run[string]
	for _, r := range []hookkit.AnyRun{nil, none} {
		text := panicOf(func() { p.Do(r, func(*int) {}) })
		if text != "hookkit: PerRun.Do with a nil run: fire with a run made by NewRun" {
			t.Errorf("it panicked with %q", text)
		}
	}
}

// A Run that NewRun did not make has no identity, but state all the same.
func TestTheZeroRunKeepsState(t *testing.T) {
	var r hookkit.Run[string]
	var p hookkit.PerRun[int]
	p.Do(&r, func(n *int) { *n = 1 })
	p.Do(&r, func(n *int) {
		if *n != 1 || r.ID() != "" {
			t.Errorf("state %d, ID %q", *n, r.ID())
		}
	})
}

// Nothing but the run keeps its state: it goes with the run, though the hook lives on.
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
			p.Do(hookkit.NewRun(""), func(**[1 << 16]byte) {}) // the hook is still here
			return
		default:
			runtime.Gosched()
		}
	}
	t.Error("the state of a run that nobody has is still there")
}

// What has to be told of a run is told without one too.
func TestAFireWithoutARun(t *testing.T) {
	var h hooks
	var r hookkit.Recorder
	h.Trace(&r)
	seen := 0
	h.ObserveAny(func(_ ctx, r *run, _ fired) { seen++ })
	h.First.Add(continues)
	if _, err := h.First.Fire(t.Context(), nil, 0); err != nil {
		t.Error(err)
	}
	if es := r.Events(); seen != 1 || len(es) != 2 || es[0].Run+es[1].Run != "" {
		t.Errorf("%d observers and %v", seen, es)
	}
}

func TestSitesHoldNoPathOfThisMachine(t *testing.T) {
	var h hooks
	if site := h.First.Add(continues).Site(); strings.Count(site, "/") != 1 {
		t.Errorf("the site is %s", site)
	}
}
