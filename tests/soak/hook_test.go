package soak

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A side says which hook of its layer one is, in firing order.
type side int

const (
	head   side = iota // the first of a pair
	middle             // the standing hook of the outermost layer
	tail               // the second of a pair
	other              // a lone hook, which checks nothing but is counted
	sides
)

var priorities = map[side]int{head: hookkit.Detection, middle: 50, tail: hookkit.Mutation}

// A part is one hook, at any number of points.
type part struct {
	side    side
	layer   int
	timeout time.Duration
	once    bool
	calls   *atomic.Int64 // of a lone hook
	during  func()        // what a lone hook does when it is called; nil: nothing
}

// An option is one that is legal at every point.
type option interface {
	hookkit.HookOption
	hookkit.GateOption
}

// optionsOf are those with which the hook is added.
func optionsOf[O any](p *part) []O {
	all := []option{hookkit.Priority(priorities[p.side]), hookkit.Named("soak")}
	if p.timeout > 0 {
		all = append(all, hookkit.Timeout(p.timeout))
	}
	if p.once {
		all = append(all, hookkit.Once())
	}
	var os []O
	for _, o := range all {
		os = append(os, any(o).(O))
	}
	return os
}

func (p *part) options() []hookkit.HookOption { return optionsOf[hookkit.HookOption](p) }

func (p *part) gate() []hookkit.GateOption { return optionsOf[hookkit.GateOption](p) }

// step notes that the hook runs and returns what it is to do.
func (p *part) step(ctx context.Context, point string) (f *fire, tool string) {
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
	if f.law.reversed && place > f.place || !f.law.reversed && place < f.place {
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

// before checks that the payload of a hook is what the hooks before it left.
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

// noteOf is a note of n letters.
func noteOf(n int) fixture.Note {
	if n <= len(notes) {
		return fixture.Note(notes[:n])
	}
	return fixture.Note(strings.Repeat("n", n))
}

// decide is a hook of a flow or a vote. replace and edit are nil where the law has none.
func decide[O any](p *part, point string, replace func(fixture.Item, string) O, edit func(fixture.Note, string) O) func(context.Context, *fixture.Run, fixture.Item) (O, error) {
	return func(ctx context.Context, _ *fixture.Run, item fixture.Item) (O, error) {
		var none O
		f, tool := p.step(ctx, point)
		if p.side == other {
			return none, nil
		}
		p.before(f, item)
		switch {
		case tool == fail:
			return none, errFail
		case f.law.vote:
			return ballots[p.side].(O), nil
		case tool == leave && f.law.exits:
			return leaving[O](item.ID), nil
		case p.side == middle:
			return none, nil
		case replace != nil && (p.side == head || edit == nil):
			item.ID += ones[p.side]
			return replace(item, "soak"), nil
		case edit != nil:
			return edit(noteOf(len(item.Note)+1), "soak"), nil
		}
		return none, nil
	}
}

// leaving is the exit of a point: Stop, or Bare where there is no other.
func leaving[O any](code int) O {
	if o, ok := any(fixture.Stop{Code: code}).(O); ok {
		return o
	}
	return any(fixture.Bare{}).(O)
}

var (
	ones    = [sides]int{head: oneHead, tail: oneTail}
	ballots = [sides]any{head: fixture.Ask{}, middle: fixture.Allow{}, tail: fixture.Deny{}}
	gifts   = [sides][]string{head: {"head"}, tail: {"tail"}}
)

// both is decide at a point that collects, too.
func both[O any](p *part, point string, replace func(fixture.Item, string) O, edit func(fixture.Note, string) O) func(context.Context, *fixture.Run, fixture.Item) (O, []string, error) {
	decided := decide(p, point, replace, edit)
	return func(ctx context.Context, run *fixture.Run, item fixture.Item) (O, []string, error) {
		out, err := decided(ctx, run, item)
		return out, gifts[p.side], err
	}
}

// look is a hook that watches or checks.
func look(p *part, point string) func(context.Context, *fixture.Run, fixture.Item) error {
	return func(ctx context.Context, _ *fixture.Run, item fixture.Item) error {
		f, tool := p.step(ctx, point)
		if p.side != other {
			p.before(f, item)
		}
		if tool == fail {
			return errFail
		}
		return nil
	}
}

// give is a hook that only contributes.
func give(p *part, point string) func(context.Context, *fixture.Run, fixture.Item) ([]string, error) {
	looked := look(p, point)
	return func(ctx context.Context, run *fixture.Run, item fixture.Item) ([]string, error) {
		err := looked(ctx, run, item)
		return gifts[p.side], err
	}
}

// A next is what an around hook calls.
type next interface {
	Call(ctx context.Context, item fixture.Item) (hookkit.Answer[fixture.Result], error)
}

// wrap is a hook around an act.
func wrap[N next](p *part, point string) func(context.Context, *fixture.Run, fixture.Item, N) (hookkit.Answer[fixture.Result], error) {
	looked := look(p, point)
	return func(ctx context.Context, run *fixture.Run, item fixture.Item, inner N) (hookkit.Answer[fixture.Result], error) {
		if err := looked(ctx, run, item); err != nil {
			return hookkit.Answer[fixture.Result]{}, err
		}
		return inner.Call(ctx, item)
	}
}
