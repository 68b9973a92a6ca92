package soak

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// The action of the permanent hook in a fire, by Item.Tool.
const (
	goOn  = ""
	leave = "leave"
	fail  = "fail"
)

var errFail = errors.New("the hook fails")

const maxLayers = 3

// The numbers in an ID: the start value of the fire, and the number of replacements on each side.
const (
	oneHead = 1
	oneTail = 1 << 8
	oneFire = 1 << 16 // so that the largest ID fits into an int of 32 bits
)

// A fire is one fire with its context, in which its hooks record their observations.
type fire struct {
	context.Context
	run *fixture.Run

	point *points.Point
	item  fixture.Item // the payload
	began int

	heads, tails [maxLayers]int // that ran, by layer
	middles      int            // permanent hooks that ran
	others       int            // lone hooks that ran
	acts         int            // calls of the wrapped act
	place        int            // of the last hook
	hooksTraced  int
	firesTraced  int
	observed     int // by the permanent observer of all points
	watched      int // by the permanent observer of the point

	came     points.FireResult
	problems []string
}

type fireKey struct{}

func (f *fire) Value(key any) any {
	if key == (fireKey{}) {
		return f
	}
	return f.Context.Value(key)
}

// fireOf returns the fire of a context.
func fireOf(ctx context.Context) *fire {
	if f, ok := ctx.(*fire); ok {
		return f
	}
	return ctx.Value(fireKey{}).(*fire)
}

// at fires a point.
func (f *fire) at(h *fixture.Hooks, point *points.Point, number int, tool string) {
	f.point, f.began = point, number%(1<<15)*oneFire
	f.item = fixture.Item{ID: f.began, Tool: tool}
	f.heads, f.tails = [maxLayers]int{}, [maxLayers]int{}
	f.middles, f.others, f.acts, f.hooksTraced, f.firesTraced, f.observed, f.watched = 0, 0, 0, 0, 0, 0, 0
	f.place = -1
	if point.Reversed {
		f.place = maxLayers * int(sides)
	}
	f.came = point.Fire(f, h, f.run, f.item, f.act)
}

func (f *fire) problem(format string, args ...any) {
	if len(f.problems) < 20 {
		f.problems = append(f.problems, f.point.Name+": "+fmt.Sprintf(format, args...))
	}
}

// act is the wrapped act.
func (f *fire) act(_ context.Context, item fixture.Item) (fixture.Result, error) {
	f.acts++
	return fixture.Result{N: item.ID}, nil
}

// ran returns how many hooks ran.
func (f *fire) ran() int {
	n := f.middles + f.others
	for i := range maxLayers {
		n += f.heads[i] + f.tails[i]
	}
	return n
}

func (f *fire) check(watched bool) {
	p := f.point
	ended := f.item.Tool == leave && len(p.Exits) > 0 && p.Kind != points.Vote || f.item.Tool == fail && p.Stops()
	heads, tails := 0, 0
	for layer := range maxLayers {
		h, t := f.heads[layer], f.tails[layer]
		heads, tails = heads+h, tails+t
		switch {
		case !ended || layer > 0 && p.Reversed:
			if h != t {
				f.problem("layer %d: %d first hooks and %d second hooks of pairs ran", layer, h, t)
			}
		case layer > 0 && h+t > 0, layer == 0 && !p.Reversed && t > 0, layer == 0 && p.Reversed && h > 0:
			f.problem("layer %d: hooks ran behind the one that ended the fire", layer)
		}
	}
	if f.middles != 1 {
		f.problem("the standing hook ran %d times", f.middles)
	}

	switch {
	case f.item.Tool == fail && (p.Stops() || p.Kind == points.CheckAll):
		if !errors.Is(f.came.Err, errFail) || f.came.Exit != nil {
			f.problem("a hook failed and the fire came back with %v, %v", f.came.Exit, f.came.Err)
		}
	case f.came.Err != nil:
		f.problem("the fire came back with %v", f.came.Err)
	case ended && f.came.Exit == nil:
		f.problem("a hook left and the fire has no exit")
	case p.Kind == points.Vote && points.NameOf(f.came.Exit) != vote(heads, f.item.Tool):
		f.problem("the vote was %v", f.came.Exit)
	case !ended && p.Kind != points.Vote && f.came.Exit != nil:
		f.problem("no hook left and the exit is %v", f.came.Exit)
	}
	if p.Collects && len(f.came.Collected) != heads+tails {
		f.problem("%d hooks contributed, %d contributions came", heads+tails, len(f.came.Collected))
	}
	if p.Kind == points.Around && f.acts != 1 && !ended || f.acts > 0 && ended {
		f.problem("the act ran %d times", f.acts)
	}
	if p.Kind == points.Around && !ended && f.came.Result.N != f.began {
		f.problem("the act yielded %#x, the fire %#x", f.began, f.came.Result.N)
	}
	f.folded(f.came.Final, heads, tails)

	switch {
	case f.firesTraced == 0 && f.hooksTraced == 0:
	case f.hooksTraced != f.ran()*f.firesTraced: // there may be several tracers
		f.problem("%d hooks ran, the tracers were notified of %d and of %d fires", f.ran(), f.hooksTraced, f.firesTraced)
	}
	if watched && (f.observed != 1 || f.watched > 1) {
		f.problem("the standing observers were notified %d and %d times", f.observed, f.watched)
	}
}

// folded checks that an item has the expected number of replacements.
func (f *fire) folded(item fixture.Item, heads, tails int) {
	ID, note := f.began, 0
	switch {
	case f.point.Replaces && f.point.Edits:
		ID, note = ID+heads*oneHead, tails
	case f.point.Replaces:
		ID += heads*oneHead + tails*oneTail
	case f.point.Edits:
		note = heads + tails
	}
	if item.ID != ID || len(item.Note) != note {
		f.problem("%d and %d hooks made %#x, %q of %#x", heads, tails, item.ID, item.Note, f.began)
	}
}

// vote returns the expected exit of a vote.
func vote(pairs int, tool string) string {
	switch {
	case pairs > 0:
		return "Deny"
	case tool == fail:
		return ""
	}
	return "Allow"
}
