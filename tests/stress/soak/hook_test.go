package soak

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A side is the position of a hook in its layer, in firing order.
type side int

const (
	head   side = iota // the first of a pair
	middle             // the permanent hook of the outermost layer
	tail               // the second of a pair
	other              // a lone hook, which only counts its calls
	sides
)

var priorities = map[side]int{head: hookkit.Detection, middle: 50, tail: hookkit.Mutation}

// A part is one hook, at any number of points.
type part struct {
	side    side
	layer   int
	timeout time.Duration
	calls   *atomic.Int64 // of a lone hook
	during  func()        // the action of a lone hook; may be nil
}

// add adds the hook at a point.
func (p *part) add(at hookkit.AnyPoint, point *points.Point) {
	opts := []hookkit.GateOption{hookkit.Priority(priorities[p.side]), hookkit.Named("soak")}
	if p.timeout > 0 {
		opts = append(opts, hookkit.Timeout(p.timeout))
	}
	at.AddAny(point.Hook(func(c points.Call) points.Reply { return p.call(point, c) }), opts...)
}

// step records the call of the hook and returns the action of the fire.
func (p *part) step(ctx context.Context, point *points.Point) (f *fire, tool string) {
	f = fireOf(ctx)
	if f.point != point {
		f.problem("a hook of %s is called", point)
	}
	if p.side == other {
		f.others++
		p.calls.Add(1)
		if p.during != nil {
			p.during()
		}
		return f, goOn
	}
	place := p.layer*int(sides) + int(p.side)
	if point.Reversed && place > f.place || !point.Reversed && place < f.place {
		f.problem("a hook of place %d is called after one of place %d", place, f.place)
	}
	f.place = place
	switch p.side {
	case head:
		f.heads[p.layer]++
	case tail:
		f.tails[p.layer]++
	default:
		f.middles++
		return f, f.item.Tool
	}
	return f, goOn
}

// before checks that the payload of a hook has the replacements of the hooks before it.
func (p *part) before(f *fire, item fixture.Item) {
	heads, tails := 0, 0
	for i := range maxLayers {
		heads, tails = heads+f.heads[i], tails+f.tails[i]
	}
	switch p.side {
	case head:
		heads--
	case tail:
		tails--
	}
	f.folded(item, heads, tails)
}

const notes = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

// noteOf returns a note of n letters.
func noteOf(n int) fixture.Note {
	if n <= len(notes) {
		return fixture.Note(notes[:n])
	}
	return fixture.Note(strings.Repeat("n", n))
}

// call is one call of the hook.
func (p *part) call(point *points.Point, c points.Call) points.Reply {
	f, tool := p.step(c.Ctx, point)
	if p.side == other {
		return points.Continue(c)
	}
	if point.Blank {
		c.Item = f.item
	}
	p.before(f, c.Item)
	r := points.Reply{Values: gifts[p.side]}
	switch {
	case tool == fail:
		r.Err = errFail
	case point.Kind == points.Around:
		return c.Next(c.Ctx, c.Item)
	case point.Kind == points.Vote:
		r.Outcome = point.Exit(ballots[p.side], "")
	case tool == leave && len(point.Exits) > 0:
		r.Outcome = point.Exit(point.Exits[0], "")
	case p.side == middle:
	case point.Replaces && (p.side == head || !point.Edits):
		c.Item.ID += ones[p.side]
		r.Outcome = point.Replace(c.Item, "soak")
	case point.Edits:
		r.Outcome = point.Edit(noteOf(len(c.Item.Note)+1), "soak")
	}
	return r
}

var (
	ones    = [sides]int{head: oneHead, tail: oneTail}
	ballots = [sides]string{head: "Ask", middle: "Allow", tail: "Deny"}
	gifts   = [sides][]string{head: {"head"}, tail: {"tail"}}
)
