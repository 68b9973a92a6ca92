package main

import (
	"context"

	"github.com/hookgen/hookgen/lab/bench/points"
)

// The loops of a stage. Each runs its operation n times, with hookgen or hand-written code.

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

func (s stage) lenient(n int) {
	c := call
	for range n {
		if exit, err := s.hooks.Lenient.Fire(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) lenientByHand(n int) {
	c := call
	for range n {
		if exit, err := s.hand.fireLenient(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) lenientPlain(n int) {
	c := call
	for range n {
		if exit, err := plainLenient(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("nothing decided")
		}
	}
}

func (s stage) trim(n int) {
	c := call
	for range n {
		if err := s.hooks.Trim.Fire(s.ctx, s.run, &c); err != nil {
			panic(err)
		}
	}
}

func (s stage) trimByHand(n int) {
	c := call
	for range n {
		if err := s.hand.fireTrim(s.ctx, s.run, &c); err != nil {
			panic(err)
		}
	}
}

func (s stage) errorPlain(n int) {
	c := call
	for range n {
		if err := plainError(s.ctx, s.run, &c); err != nil {
			panic(err)
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
		//hookvet:ignore fireresult the hooks decide what they decided in the warm-up
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

func (s stage) wrapRecovering(n int) {
	for range n {
		if _, err := plainWrapRecovering(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrapByHandRecovering(n int) {
	for range n {
		if _, err := s.hand.fireWrapRecovering(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}

// act is the act of around hooks.
//
//go:noinline
func act(_ context.Context, call points.Call) (points.Result, error) {
	return points.Result{Output: call.Name}, nil
}

// The loops of FireBy.

func (s stage) flowBy(n int) {
	c := call
	for range n {
		if exit, _, err := s.hooks.Flow.FireBy(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) lenientBy(n int) {
	c := call
	for range n {
		if exit, _, err := s.hooks.Lenient.FireBy(s.ctx, s.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) rewriteBy(n int) {
	c := call
	for range n {
		if _, err := s.hooks.Rewrite.FireBy(s.ctx, s.run, &c); err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) trimBy(n int) {
	c := call
	for range n {
		if _, err := s.hooks.Trim.FireBy(s.ctx, s.run, &c); err != nil {
			panic(err)
		}
	}
}

func (s stage) leaveBy(n int) {
	for range n {
		if exit, _, err := s.hooks.Leave.FireBy(s.ctx, s.run, call); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (s stage) judgeBy(n int) {
	for range n {
		//hookvet:ignore fireresult the hooks decide what they decided in the warm-up
		if _, _, err := s.hooks.Judge.FireBy(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) gatherBy(n int) {
	for range n {
		if all, _ := s.hooks.Gather.FireBy(s.ctx, s.run, call); len(all) > s.n {
			panic("more than was contributed")
		}
	}
}

func (s stage) refuseBy(n int) {
	for range n {
		if _, err := s.hooks.Refuse.FireBy(s.ctx, s.run, call); err != nil {
			panic(err)
		}
	}
}

func (s stage) wrapBy(n int) {
	for range n {
		if _, _, err := s.hooks.Wrap.FireBy(s.ctx, s.run, call, act); err != nil {
			panic(err)
		}
	}
}
