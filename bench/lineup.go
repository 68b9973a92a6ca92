package main

import (
	"context"

	"github.com/hookgen/hookgen/bench/points"
)

// A lineup is one comparison: hookgen first, then its baseline, then perhaps a floor, the cheapest equivalent
// code.
type lineup struct {
	law   string
	hooks int
	busy  bool // the hooks replace, vote or contribute; otherwise they all continue
	runs  []contestant
}

// call is the payload of all points.
var call = points.Call{ID: "call_1", Name: "read_file", Args: []byte(`{"path":"go.mod"}`), Step: 3}

// A stage has n hooks at every point, and the hand-written equivalent.
type stage struct {
	n     int
	ctx   context.Context
	run   *points.Run
	hooks *points.Hooks
	hand  *handPoints
}

// newStage returns a stage of n quiet hooks, and one with n busy hooks at the points that support them.
func newStage(n int) (quietly, busily stage) {
	empty := func() stage {
		return stage{
			n: n, ctx: context.Background(), run: points.NewRun(struct{}{}), hooks: new(points.Hooks), hand: new(handPoints),
		}
	}
	quietly, busily = empty(), empty()
	for range n {
		everywhere(quietly.hooks)
		p, qh := quietly.hand, new(quietByHand)
		p.watchers = append(p.watchers, qh)
		p.flow = append(p.flow, qh)
		p.trimmers = append(p.trimmers, qh)
		p.judges = append(p.judges, qh)
		p.gatherers = append(p.gatherers, qh)
		p.refusers = append(p.refusers, qh)
		p.wrappers = append(p.wrappers, qh)

		b, h, p := new(busy), busily.hooks, busily.hand
		h.Rewrite.Add(b)
		h.Flow.Add(b)
		h.Lenient.Add(b)
		h.Trim.Add(b)
		h.Judge.Add(b)
		h.Gather.Add(b)
		bh := new(busyByHand)
		p.flow = append(p.flow, bh)
		p.trimmers = append(p.trimmers, bh)
		p.judges = append(p.judges, bh)
		p.gatherers = append(p.gatherers, bh)
	}
	return quietly, busily
}

// everywhere adds one quiet hook to every point.
func everywhere(h *points.Hooks) {
	q := new(quiet)
	h.Watch.Add(q)
	h.Rewrite.Add(q)
	h.Flow.Add(q)
	h.Lenient.Add(q)
	h.Trim.Add(q)
	h.Leave.Add(q)
	h.Judge.Add(q)
	h.Gather.Add(q)
	h.Refuse.Add(q)
	h.Wrap.Add(q)
}

// The names of the laws in the report.
const (
	lawFlow    = "Replace and exits"
	lawLenient = "Replace and exits, FailOpen"
	lawReplace = "Replace"
	lawEdit    = "Edit"
	lawExits   = "exits"
	lawVote    = "Vote"
	lawCollect = "Collect"
	lawObserve = "observe"
	lawCheck   = "Check"
	lawAround  = "Around"
)

// lineups returns the comparisons of every law with n hooks.
func lineups(n int) []lineup {
	q, b := newStage(n)
	if n == 0 {
		over := func(law, floor string, fire, plain func(int)) lineup {
			return lineup{law, n, false, []contestant{{name: "hookgen", loop: fire}, {name: floor, loop: plain}}}
		}
		against := func(law string, fire, plain func(int)) lineup { return over(law, plainCall, fire, plain) }
		return []lineup{
			against(lawFlow, q.flow, q.flowPlain),
			against(lawLenient, q.lenient, q.lenientPlain),
			against(lawReplace, q.rewrite, q.errorPlain),
			against(lawEdit, q.trim, q.errorPlain),
			against(lawExits, q.leave, q.leavePlain),
			against(lawVote, q.judge, q.judgePlain),
			against(lawCollect, q.gather, q.gatherPlain),
			against(lawObserve, q.watch, q.watchPlain),
			against(lawCheck, q.refuse, q.refusePlain),
			over(lawAround, plainRecovering, q.wrap, q.wrapRecovering),
		}
	}
	against := func(law string, busy bool, fire, hand func(int), floors ...contestant) lineup {
		return lineup{
			law, n, busy, append([]contestant{{name: "hookgen", loop: fire}, {name: byHand, loop: hand}}, floors...),
		}
	}
	recovering := func(f func(int)) contestant { return contestant{name: byHandRecovering, loop: f} }
	return []lineup{
		against(lawFlow, false, q.flow, q.flowByHand, recovering(q.flowRecovering)),
		against(lawLenient, false, q.lenient, q.lenientByHand),
		against(lawReplace, false, q.rewrite, q.flowByHand),
		against(lawEdit, false, q.trim, q.trimByHand),
		against(lawExits, false, q.leave, q.leaveByHand, recovering(q.leaveRecovering)),
		against(lawVote, false, q.judge, q.judgeByHand),
		against(lawCollect, false, q.gather, q.gatherByHand),
		against(lawObserve, false, q.watch, q.watchByHand, recovering(q.watchRecovering)),
		against(lawCheck, false, q.refuse, q.refuseByHand, recovering(q.refuseRecovering)),
		against(lawAround, false, q.wrap, q.wrapByHand, contestant{name: byHandCounted, loop: q.wrapCounted}),
		against(lawFlow, true, b.flow, b.flowByHand),
		against(lawLenient, true, b.lenient, b.lenientByHand),
		against(lawReplace, true, b.rewrite, b.flowByHand),
		against(lawEdit, true, b.trim, b.trimByHand),
		against(lawVote, true, b.judge, b.judgeByHand),
		against(lawCollect, true, b.gather, b.gatherByHand),
	}
}

// The names of the baselines and floors.
const (
	byHand    = "hand-written loop"
	plainCall = "plain call"
	// A fire converts a panic of a hook, or of the act of an around point, to a failure. These loops do the same
	// at the lowest cost.
	byHandRecovering = "hand-written loop that recovers"
	byHandCounted    = "hand-written chain of one closure that counts"
	plainRecovering  = "plain call that recovers"
)

// twice runs the contestant on two goroutines, n times each. Without shared writes this takes as long as n times
// on one goroutine.
func twice(c contestant) contestant {
	c.name, c.twice = c.name+", two goroutines", true
	return c
}

// allocating is a loop that allocates as much as a fire of eight around hooks, to show the cost of the garbage
// collector.
var allocating = contestant{name: "a loop that shares nothing and allocates as much", loop: func(n int) {
	var t taker = new(kept)
	for range n {
		t.take(new(parcel))
		spin(130)
	}
}}

// fromTwo returns the contestants for the cost of a second goroutine. The second pair shares nothing, so it shows
// whether the machine provided two processors. It is the hand-written loop if that does not allocate.
func (l lineup) fromTwo() []contestant {
	control := l.runs[1]
	if l.busy || l.law == lawAround {
		control = contestant{name: "a loop that does nothing", loop: spin}
	}
	cs := []contestant{twice(l.runs[0]), l.runs[0], twice(control), control}
	if l.law == lawAround && l.hooks == 8 {
		cs = append(cs, twice(allocating), allocating)
	}
	return cs
}

// A parcel has the size and the shape of the allocation of a fire of around hooks.
type parcel struct {
	state uint64
	refs  [5]*parcel
}

// A taker is an interface, so that its argument escapes to the heap.
type taker interface{ take(*parcel) }

type kept struct{ last *parcel }

func (k *kept) take(p *parcel) { k.last = p }
