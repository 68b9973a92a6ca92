package soak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// What the standing hook is to do at a fire, by Item.Tool.
const (
	goOn  = ""
	leave = "leave"
	fail  = "fail"
)

var errFail = errors.New("the hook fails")

// A law is what a fire must know of its point.
type law struct {
	replace, edit, exits, collect bool
	vote, wraps                   bool
	reversed                      bool
	stops                         bool // a failure ends the fire
}

// lawOf reads a law off a point.
func lawOf(p hookkit.Point) law {
	return law{
		replace: strings.Contains(p.Results, "Replace"), edit: strings.Contains(p.Results, "Edit["),
		exits: strings.Contains(p.Results, "Stop") || strings.Contains(p.Results, "Bare"), collect: strings.Contains(p.Results, "Collect["),
		vote: strings.Contains(p.Results, "Vote"), wraps: p.Law&hookkit.Wraps != 0,
		reversed: p.Law&hookkit.Reversed != 0, stops: p.Law&(hookkit.FailsClosed|hookkit.Stops|hookkit.Wraps) != 0,
	}
}

const maxLayers = 3

// The numbers in an ID: what the fire began with, and how many hooks of each side replaced it.
const (
	oneHead = 1
	oneTail = 1 << 16
	oneFire = 1 << 32
)

// A fire is one fire, and the context that it is made with, so that its hooks can note what they see in it.
type fire struct {
	context.Context
	run *fixture.Run

	point   string
	law     law
	item    fixture.Item // the payload
	pointer *fixture.Item
	some    fixture.Envelope[fixture.Item]
	any     any
	began   int

	heads, tails [maxLayers]int // that ran, by layer
	middles      int            // standing hooks that ran
	others       int            // lone hooks that ran
	acts         int            // calls of the wrapped act
	place        int            // of the last hook that ran
	hooksTraced  int
	firesTraced  int
	observed     int // by the standing observer of all points
	watched      int // by the standing observer of the point

	exit      any
	collected []string
	err       error
	result    fixture.Result
	problems  []string
}

type fireKey struct{}

func (f *fire) Value(key any) any {
	if key == (fireKey{}) {
		return f
	}
	return f.Context.Value(key)
}

// fireOf returns the fire that a hook, an observer or a tracer is called in.
func fireOf(ctx context.Context) *fire {
	if f, ok := ctx.(*fire); ok {
		return f
	}
	return ctx.Value(fireKey{}).(*fire)
}

// begin makes the fire ready for another one.
func (f *fire) begin(point string, l law, number int, tool string) {
	f.point, f.law, f.began = point, l, number%(1<<20)*oneFire
	f.item = fixture.Item{ID: f.began, Tool: tool}
	f.heads, f.tails = [maxLayers]int{}, [maxLayers]int{}
	f.middles, f.others, f.acts, f.hooksTraced, f.firesTraced, f.observed, f.watched = 0, 0, 0, 0, 0, 0, 0
	f.place = -1
	if l.reversed {
		f.place = maxLayers * int(sides)
	}
	f.exit, f.collected, f.err, f.result = nil, nil, nil, fixture.Result{}
}

func (f *fire) problem(format string, args ...any) {
	if len(f.problems) < 20 {
		f.problems = append(f.problems, f.point+": "+fmt.Sprintf(format, args...))
	}
}

// came notes what a fire comes back with.
func (f *fire) came(exit any, collected []string, err error) {
	f.exit, f.collected, f.err = exit, collected, err
}

// act is the wrapped act.
func (f *fire) act(_ context.Context, item fixture.Item) (fixture.Result, error) {
	f.acts++
	return fixture.Result{N: item.ID}, nil
}

func (f *fire) tell(_ context.Context, d time.Duration) (time.Time, error) {
	f.acts++
	return time.Unix(0, int64(d)).UTC(), nil
}

// ran returns how many hooks ran.
func (f *fire) ran() int {
	n := f.middles + f.others
	for i := range maxLayers {
		n += f.heads[i] + f.tails[i]
	}
	return n
}

// check compares what came back with what the hooks saw. ended says that a hook left or failed, so that the fire ended
// at the standing hook.
func (f *fire) check(watched bool) {
	ended := f.item.Tool == leave && f.law.exits && !f.law.vote || f.item.Tool == fail && f.law.stops
	heads, tails := 0, 0
	for layer := range maxLayers {
		h, t := f.heads[layer], f.tails[layer]
		heads, tails = heads+h, tails+t
		switch {
		case !ended || layer > 0 && f.law.reversed:
			if h != t {
				f.problem("layer %d: %d first hooks and %d second hooks of pairs ran", layer, h, t)
			}
		case layer > 0 && h+t > 0, layer == 0 && !f.law.reversed && t > 0, layer == 0 && f.law.reversed && h > 0:
			f.problem("layer %d: hooks ran behind the one that ended the fire", layer)
		}
	}
	if f.middles != 1 {
		f.problem("the standing hook ran %d times", f.middles)
	}

	switch {
	case f.item.Tool == fail && f.law.stops:
		if !errors.Is(f.err, errFail) || f.exit != nil {
			f.problem("a hook failed and the fire came back with %v, %v", f.exit, f.err)
		}
	case f.err != nil:
		f.problem("the fire came back with %v", f.err)
	case ended && f.exit == nil:
		f.problem("a hook left and the fire has no exit")
	case f.law.vote && f.exit != vote(heads, f.item.Tool):
		f.problem("the vote was %v", f.exit)
	case !ended && !f.law.vote && f.exit != nil:
		f.problem("no hook left and the exit is %v", f.exit)
	}
	if f.law.collect && len(f.collected) != heads+tails {
		f.problem("%d hooks contributed, %d contributions came", heads+tails, len(f.collected))
	}
	if f.law.wraps && f.acts != 1 && !ended || f.acts > 0 && ended {
		f.problem("the act ran %d times", f.acts)
	}
	if f.law.wraps && !ended && f.result.N != f.began {
		f.problem("the act yielded %#x, the fire %#x", f.began, f.result.N)
	}
	f.folded(f.item, heads, tails)

	switch {
	case f.firesTraced == 0 && f.hooksTraced == 0:
	case f.firesTraced != 1 || f.hooksTraced != f.ran():
		f.problem("%d hooks ran, the tracer was told of %d and of %d fires", f.ran(), f.hooksTraced, f.firesTraced)
	}
	if watched && (f.observed != 1 || f.watched > 1) {
		f.problem("the standing observers were told %d and %d times", f.observed, f.watched)
	}
}

// folded checks that an item is the fold of what so many hooks made of it.
func (f *fire) folded(item fixture.Item, heads, tails int) {
	ID, note := f.began, 0
	switch {
	case f.law.replace && f.law.edit:
		ID, note = ID+heads*oneHead, tails
	case f.law.replace:
		ID += heads*oneHead + tails*oneTail
	case f.law.edit:
		note = heads + tails
	}
	if item.ID != ID || len(item.Note) != note {
		f.problem("%d and %d hooks made %#x, %q of %#x", heads, tails, item.ID, item.Note, f.began)
	}
}

// vote is what a vote must come to.
func vote(pairs int, tool string) any {
	switch {
	case pairs > 0:
		return fixture.Deny{}
	case tool == fail:
		return nil
	}
	return fixture.Allow{}
}
