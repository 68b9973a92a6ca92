package main

import (
	"context"
	"sync"

	"github.com/hookgen/hookgen/bench/points"
)

// A lineup is what is measured side by side. The first is hookgen, the second what it is held to.
type lineup struct {
	law   string
	hooks int
	busy  bool // the hooks replace, vote or contribute; else they all continue
	runs  []contestant
}

// call is the payload everywhere.
var call = points.Call{ID: "call_1", Name: "read_file", Args: []byte(`{"path":"go.mod"}`), Step: 3}

// A stage is n hooks at every point, and the same by hand.
type stage struct {
	n     int
	ctx   context.Context
	run   *points.Run
	hooks *points.Hooks
	hand  *handPoints
}

// newStage returns a stage of n quiet hooks, and of n busy ones at the points where a hook can be busy.
func newStage(n int) (quietly, busily stage) {
	make := func() stage {
		return stage{n: n, ctx: context.Background(), run: points.NewRun(struct{}{}), hooks: new(points.Hooks), hand: new(handPoints)}
	}
	quietly, busily = make(), make()
	for range n {
		q, h, p := new(quiet), quietly.hooks, quietly.hand
		h.Watch.Add(q)
		h.Rewrite.Add(q)
		h.Flow.Add(q)
		h.Leave.Add(q)
		h.Judge.Add(q)
		h.Gather.Add(q)
		h.Refuse.Add(q)
		h.Wrap.Add(q)
		qh := new(quietByHand)
		p.watchers = append(p.watchers, qh)
		p.flow = append(p.flow, qh)
		p.judges = append(p.judges, qh)
		p.gatherers = append(p.gatherers, qh)
		p.refusers = append(p.refusers, qh)
		p.wrappers = append(p.wrappers, qh)

		b, h, p := new(busy), busily.hooks, busily.hand
		h.Rewrite.Add(b)
		h.Flow.Add(b)
		h.Judge.Add(b)
		h.Gather.Add(b)
		bh := new(busyByHand)
		p.flow = append(p.flow, bh)
		p.judges = append(p.judges, bh)
		p.gatherers = append(p.gatherers, bh)
	}
	return quietly, busily
}

// lineups returns the comparisons of every law at n hooks.
func lineups(n int) []lineup {
	q, b := newStage(n)
	ls := []lineup{
		{"flow", n, false, []contestant{{"hookgen", q.flow}, {byHand, q.flowByHand}, {"hookgen, Replace alone", q.rewrite}}},
		{"exits", n, false, []contestant{{"hookgen", q.leave}, {byHand, q.leaveByHand}}},
		{"vote", n, false, []contestant{{"hookgen", q.judge}, {byHand, q.judgeByHand}}},
		{"collect", n, false, []contestant{{"hookgen", q.gather}, {byHand, q.gatherByHand}}},
		{"observe", n, false, []contestant{{"hookgen", q.watch}, {byHand, q.watchByHand}}},
		{"check", n, false, []contestant{{"hookgen", q.refuse}, {byHand, q.refuseByHand}}},
		{"around", n, false, []contestant{{"hookgen", q.wrap}, {byHand, q.wrapByHand}}},
	}
	if n == 0 {
		plain := []func(int){q.flowPlain, q.leavePlain, q.judgePlain, q.gatherPlain, q.watchPlain, q.refusePlain, q.wrapPlain}
		for i := range ls {
			ls[i].runs[1] = contestant{plainCall, plain[i]}
		}
		around := &ls[len(ls)-1]
		around.runs = append(around.runs, contestant{plainRecovering, q.wrapRecovering})
		return ls
	}
	ls = append(ls,
		lineup{"flow", n, true, []contestant{{"hookgen", b.flow}, {byHand, b.flowByHand}}},
		lineup{"vote", n, true, []contestant{{"hookgen", b.judge}, {byHand, b.judgeByHand}}},
		lineup{"collect", n, true, []contestant{{"hookgen", b.gather}, {byHand, b.gatherByHand}}})
	return ls
}

// What hookgen is held to.
const (
	byHand    = "hand-written loop"
	plainCall = "plain call"
	// An around point turns a panic of the act into a failure, with hooks and without. This is the least that costs.
	plainRecovering = "plain call that recovers"
)

// twice returns the contestant from two goroutines, each doing it n times: with no shared write, that takes as
// long as n times from one.
func twice(c contestant) contestant {
	return contestant{c.name + ", two goroutines", func(n int) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { c.loop(n) })
		}
		wg.Wait()
	}}
}

func (s stage) flow(n int) {
	c := call
	for range n {
		if exit, err := s.hooks.Flow.Fire(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) flowByHand(n int) {
	c := call
	for range n {
		if exit, err := s.hand.fireFlow(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) flowPlain(n int) {
	c := call
	for range n {
		if exit, err := plainFlow(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("nothing decided")
		}
	}
}

func (s stage) rewrite(n int) {
	c := call
	for range n {
		if err := s.hooks.Rewrite.Fire(s.ctx, s.run, &c); err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) leave(n int) {
	for range n {
		if exit, err := s.hooks.Leave.Fire(s.ctx, s.run, call); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) leaveByHand(n int) {
	for range n {
		if exit, err := s.hand.fireLeave(s.ctx, s.run, call); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) leavePlain(n int) {
	for range n {
		if exit, err := plainLeave(s.ctx, s.run, call); exit != nil || err != nil {
			panic("nothing decided")
		}
	}
}

func (s stage) judge(n int) {
	for range n {
		if _, err := s.hooks.Judge.Fire(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) judgeByHand(n int) {
	for range n {
		if _, err := s.hand.fireJudge(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) judgePlain(n int) {
	for range n {
		if _, err := plainJudge(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) gather(n int) {
	for range n {
		if len(s.hooks.Gather.Fire(s.ctx, s.run, call)) > s.n {
			panic("more than was contributed")
		}
	}
}

func (s stage) gatherByHand(n int) {
	for range n {
		if len(s.hand.fireGather(s.ctx, s.run, call)) > s.n {
			panic("more than was contributed")
		}
	}
}

func (s stage) gatherPlain(n int) {
	for range n {
		if len(plainGather(s.ctx, s.run, call)) > 0 {
			panic("nothing contributed")
		}
	}
}

func (s stage) watch(n int) {
	for range n {
		s.hooks.Watch.Fire(s.ctx, s.run, call)
	}
}

func (s stage) watchByHand(n int) {
	for range n {
		s.hand.fireWatch(s.ctx, s.run, call)
	}
}

func (s stage) watchPlain(n int) {
	for range n {
		plainWatch(s.ctx, s.run, call)
	}
}

func (s stage) refuse(n int) {
	for range n {
		if err := s.hooks.Refuse.Fire(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) refuseByHand(n int) {
	for range n {
		if err := s.hand.fireRefuse(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) refusePlain(n int) {
	for range n {
		if err := plainRefuse(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrap(n int) {
	for range n {
		if _, err := s.hooks.Wrap.Fire(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrapByHand(n int) {
	for range n {
		if _, err := s.hand.fireWrap(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrapPlain(n int) {
	for range n {
		if _, err := plainWrap(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrapRecovering(n int) {
	for range n {
		if _, err := plainWrapRecovering(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

// act is what the around hooks wrap.
//
//go:noinline
func act(_ context.Context, call points.Call) (points.Result, error) {
	return points.Result{Output: call.Name}, nil
}
