package tests

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// This is what a fire is held against: a plain walk over what each hook does.

// A deed is what one hook does when it is called. Where a law has no place for it, the hook continues.
type deed struct {
	What   string // continue, replace, edit, exit, fail
	N      int    // of a replacement its ID, of an exit its strength, of a failure its mode
	Values int    // how many contributions
	Closed bool   // registered with FailClosed, where that is legal
}

// The deeds that there are.
var allDeeds = []string{"continue", "replace", "edit", "exit", "fail"}

// drawDeeds draws what the hooks of a point do, in firing order.
func drawDeeds(t *rapid.T, what ...string) []deed {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) deed {
		return deed{
			What: rapid.SampledFrom(what).Draw(t, "what"), N: rapid.IntRange(0, 5).Draw(t, "n"),
			Values: rapid.IntRange(0, 2).Draw(t, "values"), Closed: rapid.IntRange(0, 3).Draw(t, "closed") == 0,
		}
	}), 0, 7).Draw(t, "deeds")
}

// at returns the deed as it is at a point.
func (d deed) at(p *firepoint) deed {
	if d.What == "replace" && !p.replaces || d.What == "edit" && !p.edits || d.What == "exit" && !p.leaves {
		d.What = "continue"
	}
	if !p.collects {
		d.Values = 0
	}
	d.Closed = d.Closed && p.decides() && !p.failClosed
	return d
}

// exit is the exit of the i-th hook, and how strong it is in a vote, the strongest 0.
func (d deed) exit(p *firepoint, i int) (exit any, strength int) {
	reason := fmt.Sprint("reason ", i)
	if p.kind == voteKind {
		return []any{fixture.Deny{Reason: reason}, fixture.Ask{Reason: reason}, fixture.Allow{Reason: reason}}[d.N%3], d.N % 3
	}
	return []any{fixture.Stop{Code: i, Reason: reason}, fixture.Skip{Reason: reason}}[d.N%2], 0
}

// values are the contributions of the i-th hook.
func (d deed) values(i int) []string {
	var vs []string
	for n := range d.Values {
		vs = append(vs, fmt.Sprintf("h%d.%d", i, n))
	}
	return vs
}

// replaced is the payload that the i-th hook makes of another.
func (d deed) replaced(i int, item fixture.Item) fixture.Item {
	item.ID = d.N
	item.Trail = append(slices.Clone(item.Trail), fmt.Sprint("h", i))
	return item
}

// errFailing is what a failing hook returns.
var errFailing = errors.New("failing")

// slow is longer than quick, the Timeout of a hook that is to time out.
const slow, quick = time.Hour, time.Minute

// failureModes are the ways to fail; the last needs a Timeout of quick.
var failureModes = []func(p *firepoint) hookReply{
	func(*firepoint) hookReply { return hookReply{err: errFailing} },
	func(*firepoint) hookReply { panic("failing") },
	func(*firepoint) hookReply { panic(errFailing) },
	func(*firepoint) hookReply { return hookReply{outcome: map[string]int(nil)["x"], err: errFailing} },
	func(p *firepoint) hookReply { // an outcome beside an error is dropped
		exit, _ := deed{}.exit(p, 0)
		if !p.leaves {
			exit = nil
		}
		return hookReply{outcome: exit, values: []string{"dropped"}, err: errFailing}
	},
	func(*firepoint) hookReply { time.Sleep(slow); return hookReply{} },
}

// timesOut reports whether the deed is to hang.
func (d deed) timesOut() bool { return d.What == "fail" && d.N == len(failureModes)-1 }

// A fireLog is what hooks saw.
type fireLog struct {
	mu   sync.Mutex // of hooks that time out and the others
	ran  []int
	seen []fixture.Item
}

// note notes that the i-th hook runs.
func (l *fireLog) note(i int, seen fixture.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran, l.seen = append(l.ran, i), append(l.seen, seen)
}

// act makes the hook that does the deed as the i-th.
func (p *firepoint) act(i int, d deed, log *fireLog) any {
	return p.hook(func(c hookCall) hookReply {
		log.note(i, c.item)
		switch d.What {
		case "replace":
			return hookReply{outcome: p.replacement(d.replaced(i, c.item), fmt.Sprint("reason ", i)), values: d.values(i)}
		case "edit":
			return hookReply{outcome: p.amendment(fixture.Note(fmt.Sprint("note ", i)), fmt.Sprint("reason ", i)), values: d.values(i)}
		case "exit":
			exit, _ := d.exit(p, i)
			return hookReply{outcome: exit, values: d.values(i)}
		case "fail":
			return failureModes[d.N](p)
		}
		return hookReply{values: d.values(i)}
	})
}

// A refFire is what a fire must do.
type refFire struct {
	ran       []int
	seen      []fixture.Item
	left      fixture.Item
	exit      any
	collected []string
	failed    []int // the hooks that failed
	stopped   int   // the one of them that ended the fire, -1 for none
	by        int   // who decided, -1 for nobody
	decision  string
	ballots   []int       // who voted
	votes     map[int]any // for what
}

// reference walks over the deeds of a point, given in firing order.
func (p *firepoint) reference(deeds []deed, item fixture.Item) refFire {
	r := refFire{left: item, stopped: -1, by: -1, votes: map[int]any{}}
	best := -1
	for i, d := range deeds {
		d = d.at(p)
		r.ran, r.seen = append(r.ran, i), append(r.seen, r.left)
		if d.What == "fail" {
			r.failed = append(r.failed, i)
			if p.failClosed || d.Closed || p.kind == checkKind {
				r.stopped, r.by, r.decision, r.exit = i, i, "Error", nil
				return r
			}
			continue
		}
		r.collected = append(r.collected, d.values(i)...)
		switch d.What {
		case "replace":
			r.left, r.by, r.decision = d.replaced(i, r.left), i, "Replace"
		case "edit":
			r.left.Note, r.by, r.decision = fixture.Note(fmt.Sprint("note ", i)), i, "Edit"
		case "exit":
			exit, strength := d.exit(p, i)
			r.ballots, r.votes[i] = append(r.ballots, i), exit
			if best < 0 || strength < best {
				best, r.exit, r.by, r.decision = strength, exit, i, typeName(exit)
			}
			if p.kind == flowKind {
				return r
			}
		}
	}
	return r
}

// typeName is the name of an exit's type.
func typeName(exit any) string {
	switch exit.(type) {
	case fixture.Stop:
		return "Stop"
	case fixture.Skip:
		return "Skip"
	case fixture.Deny:
		return "Deny"
	case fixture.Ask:
		return "Ask"
	case fixture.Allow:
		return "Allow"
	}
	return "?"
}

// hooksThat registers hooks at a point so that they fire in the order of the deeds.
func (p *firepoint) hooksThat(h *fixture.Hooks, deeds []deed, log *fireLog) []*hookkit.Registration {
	regs := make([]*hookkit.Registration, len(deeds))
	for n := range deeds {
		i := n
		if p.reversed {
			i = len(deeds) - 1 - n
		}
		d := deeds[i].at(p)
		opts := []any{hookkit.Named(fmt.Sprint("h", i))}
		if d.timesOut() {
			opts = append(opts, hookkit.Timeout(quick))
		}
		if d.Closed {
			opts = append(opts, hookkit.FailClosed())
		}
		regs[i] = p.add(h, p.act(i, d, log), opts...)
	}
	return regs
}

// drawItem draws a payload.
func drawItem(t *rapid.T) fixture.Item {
	return fixture.Item{
		ID:    rapid.IntRange(-9, 9).Draw(t, "id"),
		Note:  fixture.Note(rapid.SampledFrom([]string{"", "first"}).Draw(t, "note")),
		Trail: rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "trail"),
	}
}
