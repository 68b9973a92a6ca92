package main

import (
	"context"

	"github.com/hookgen/hookgen/lab/bench/points"
)

// A lineup is one comparison: hookgen first, then its baseline.
type lineup struct {
	law   string
	hooks int
	runs  []contestant
}

// call is the payload of all points.
var call = points.Call{ID: "call_1", Name: "read_file", Args: []byte(`{"path":"go.mod"}`), Step: 3}

// A stage has n hooks at every point, and the hand-written equivalent. Its loops, in stage_gen.go, run an operation n
// times each, with hookgen or hand-written code.
type stage struct {
	n     int
	ctx   context.Context
	run   *points.Run
	hooks *points.Hooks
	hand  *handPoints
}

// act is the act of around hooks.
//
//go:noinline
func act(_ context.Context, call points.Call) (points.Result, error) {
	return points.Result{Output: call.Name}, nil
}

// newStage returns a stage of n quiet hooks.
func newStage(n int) stage {
	s := stage{
		n: n, ctx: context.Background(), run: points.NewRun(struct{}{}), hooks: new(points.Hooks), hand: new(handPoints),
	}
	for range n {
		everywhere(s.hooks)
		p, qh := s.hand, new(quietByHand)
		p.watchers = append(p.watchers, qh)
		p.flow = append(p.flow, qh)
		p.trimmers = append(p.trimmers, qh)
		p.judges = append(p.judges, qh)
		p.gatherers = append(p.gatherers, qh)
		p.refusers = append(p.refusers, qh)
		p.wrappers = append(p.wrappers, qh)
	}
	return s
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
	// Replace and exits again, at a point of a real spec.
	lawGuards     = "BeforeTool, structs"
	lawGuardFuncs = "BeforeTool, functions"
)

// lineups returns the comparisons of every law with n hooks.
func lineups(n int) []lineup {
	q := newStage(n)
	if n == 0 {
		over := func(law, floor string, fire, plain func(int)) lineup {
			return lineup{law, n, []contestant{{name: nameHookgen, loop: fire}, {name: floor, loop: plain}}}
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
	against := func(law string, fire, hand func(int)) lineup {
		return lineup{law, n, []contestant{{name: nameHookgen, loop: fire}, {name: byHand, loop: hand}}}
	}
	structs, functions := guardsAsStructs(n), guardsAsFunctions(n)
	return []lineup{
		against(lawFlow, q.flow, q.flowByHand),
		against(lawLenient, q.lenient, q.lenientByHand),
		against(lawReplace, q.rewrite, q.flowByHand),
		against(lawEdit, q.trim, q.trimByHand),
		against(lawExits, q.leave, q.leaveByHand),
		against(lawVote, q.judge, q.judgeByHand),
		against(lawCollect, q.gather, q.gatherByHand),
		against(lawObserve, q.watch, q.watchByHand),
		against(lawCheck, q.refuse, q.refuseByHand),
		against(lawAround, q.wrap, q.wrapByHand),
		against(lawGuards, structs.fire, structs.fireByHand),
		against(lawGuardFuncs, functions.fire, functions.fireByHand),
	}
}

// The names of the baselines and floors.
const (
	byHand    = "hand-written loop"
	plainCall = "plain call"
	// A fire converts a panic of the act of an around point to a failure. This does the same at the lowest cost.
	plainRecovering = "plain call that recovers"
)

// twice runs the contestant on two goroutines, n times each. Without shared writes this takes as long as n times
// on one goroutine.
func twice(c contestant) contestant {
	c.name, c.twice = c.name+", two goroutines", true
	return c
}

// fromTwo returns the contestants for the cost of a second goroutine. The second pair shares nothing, so it shows
// whether the machine provided two processors. It is the hand-written loop if that does not allocate.
func (l lineup) fromTwo() []contestant {
	control := l.runs[1]
	if l.law == lawAround {
		control = contestant{name: "a loop that does nothing", loop: spin}
	}
	return []contestant{twice(l.runs[0]), l.runs[0], twice(control), control}
}
