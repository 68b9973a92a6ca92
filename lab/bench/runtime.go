package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/lab/bench/points"
)

// A bounded compares an operation of a registry with a cheaper one or a hand-written one, and has a bound.
type bounded struct {
	what   string
	bound  float64 // of the ratio, or noBound
	allocs float64 // of the first contestant, or noBound
	cases  []duel
}

// noBound means that there is no bound.
const noBound = -1

// A duel is one case of a bounded: the first contestant over the second.
type duel struct {
	of   string
	runs []contestant
}

// versus makes a duel.
func versus(of, name string, loop func(int), floor string, floorLoop func(int)) duel {
	return duel{of, []contestant{{name: name, loop: loop}, {name: floor, loop: floorLoop}}}
}

const whatFireBy = "FireBy, 8 continuing hooks, over Fire"

// runtimeBounds returns the operations with a bound, except for fires of quiet hooks.
func runtimeBounds() []bounded {
	return []bounded{
		{whatFireBy, 1.1, 0, firesBy()},
		{"Fire, 8 continuing hooks and one synchronous observer, over the same without", 15, 3, observed()},
		{"a Match function, over the type switch that it replaces", 1.3, 0, matches()},
		{"Fire through 100 layers with 8 continuing hooks, over the same hooks in one layer", 1.5, noBound, layered()},
		{"Fire with 8 hooks of its key among 10,000 of other keys, over those 8 alone and one lookup in a map",
			1.3, 0, keyed()},
		{"a fire in which 1,000 hooks of a FailOpen point panic, over 100 such hooks", 15, noBound, panicking()},
		{whatRegistering, noBound, noBound, registering()},
		{"a hook with Timeout that returns at once, over a goroutine and a channel", 3, 4, limited()},
		{"Around with one hook, over one closure that recovers", 2, 1, wrapped()},
		{"Use of a bundle of one hook in a spec of 29 points, and Remove, over Add and Remove", noBound, 60, used()},
	}
}

// firesBy compares FireBy with Fire, for each law that has FireBy.
func firesBy() []duel {
	q := newStage(8)
	by := func(law string, by, fire func(int)) duel { return versus(law, "FireBy", by, "Fire", fire) }
	return []duel{
		by(lawFlow, q.flowBy, q.flow),
		by(lawLenient, q.lenientBy, q.lenient),
		by(lawReplace, q.rewriteBy, q.rewrite),
		by(lawEdit, q.trimBy, q.trim),
		by(lawExits, q.leaveBy, q.leave),
		by(lawVote, q.judgeBy, q.judge),
		by(lawCollect, q.gatherBy, q.gather),
		by(lawCheck, q.refuseBy, q.refuse),
		by(lawAround, q.wrapBy, q.wrap),
	}
}

// observed compares fires with and without an observer.
func observed() []duel {
	with := newStage(8)
	h := with.hooks
	h.Flow.Observe(blindObserver{})
	h.Leave.ObserveFunc(func(context.Context, *points.Run, points.LeaveFired[points.Call]) {})
	h.Judge.ObserveFunc(func(context.Context, *points.Run, points.JudgeFired[points.Call]) {})
	h.Gather.ObserveFunc(func(context.Context, *points.Run, points.GatherFired[points.Call]) {})
	h.Refuse.ObserveFunc(func(context.Context, *points.Run, points.RefuseFired[points.Call]) {})
	h.Wrap.ObserveFunc(func(context.Context, *points.Run, points.WrapFired[points.Call]) {})
	without := newStage(8)
	of := func(law string, with, without func(int)) duel {
		return versus(law, "one observer", with, "no observer", without)
	}
	return []duel{
		of(lawFlow, with.flow, without.flow),
		of(lawExits, with.leave, without.leave),
		of(lawVote, with.judge, without.judge),
		of(lawCollect, with.gather, without.gather),
		of(lawCheck, with.refuse, without.refuse),
		of(lawAround, with.wrap, without.wrap),
	}
}

// matches compares MatchFlow with a type switch, for each exit and for no exit. The cases are closures over the state of
// a loop; each calls a function, as real cases do. The compiler inlines the Match function of a point with one or two
// exits, such as this one. With more exits the closures are called, which takes twice the time of a type switch.
func matches() []duel {
	var all []duel
	for _, of := range []struct {
		name string
		exit points.FlowExit
	}{{"the first exit", points.Skip{Reason: "known"}}, {"the last exit", points.End{Reason: "done"}}, {"no exit", nil}} {
		state := new(turn)
		all = append(all, versus(of.name,
			"MatchFlow", func(n int) { repeat(n, func() int { return state.matched(of.exit) }) },
			"type switch", func(n int) { repeat(n, func() int { return state.switched(of.exit) }) }))
	}
	return all
}

// repeat handles an exit n times.
func repeat(n int, handle func() int) {
	for range n {
		if handle() == 0 {
			panic("no case ran")
		}
	}
}

// A turn is the state of a loop that handles exits.
type turn struct{ exits int }

//go:noinline
func (t *turn) matched(exit points.FlowExit) int {
	return points.MatchFlow(exit,
		func() int { return t.wentOn() },
		func(s points.Skip) int { return t.skipped(s) },
		func(e points.End) int { return t.ended(e) })
}

//go:noinline
func (t *turn) switched(exit points.FlowExit) int {
	switch x := exit.(type) {
	case nil:
		return t.wentOn()
	case points.Skip:
		return t.skipped(x)
	case points.End:
		return t.ended(x)
	}
	panic(fmt.Sprintf("an exit of type %T", exit))
}

//go:noinline
func (t *turn) wentOn() int { return 1 }

//go:noinline
func (t *turn) skipped(s points.Skip) int { t.exits++; return 2 + len(s.Reason) }

//go:noinline
func (t *turn) ended(e points.End) int { t.exits++; return 3 + len(e.Reason) }

// layered compares fires of the same hooks in a hundred layers and in one.
func layered() []duel {
	const layers, hooks = 100, 8
	one := newStage(hooks)
	deep := newStage(0)
	for i := range layers {
		if i%(layers/hooks) == 0 && i/(layers/hooks) < hooks {
			everywhere(deep.hooks)
		}
		if i < layers-1 {
			deep.hooks = deep.hooks.Layer("")
		}
	}
	const many, few = "100 layers", "one layer"
	return []duel{
		versus(lawFlow, many, deep.flow, few, one.flow),
		versus(lawExits, many, deep.leave, few, one.leave),
		versus(lawAround, many, deep.wrap, few, one.wrap),
	}
}

// keyed compares fires for one tool, with and without the hooks of 10,000 others.
func keyed() []duel {
	const tool = "tool"
	var many, alone agent.Hooks
	known := map[string]bool{tool: true}
	pass := agent.BeforeToolFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		return nil, nil
	})
	for i := range 10_000 {
		other := fmt.Sprint(tool, i)
		known[other] = false
		many.BeforeTool.Add(pass, agent.ForTool(other))
	}
	for range 8 {
		alone.BeforeTool.Add(pass)
		many.BeforeTool.Add(pass, agent.ForTool(tool))
	}
	ctx, run := context.Background(), agent.NewRun(nil)
	fire := func(h *agent.Hooks, call *agent.ToolCallRequest) {
		//hookvet:ignore fireresult the hooks decide nothing
		if _, err := h.BeforeTool.Fire(ctx, run, call); err != nil {
			panic(err)
		}
	}
	return []duel{versus("BeforeTool of package agent", "among 10,000 keys", func(n int) {
		for range n {
			fire(&many, &agent.ToolCallRequest{Name: tool})
		}
	}, "8 hooks and a lookup", func(n int) {
		for range n {
			if call := (agent.ToolCallRequest{Name: tool}); known[call.Name] {
				fire(&alone, &call)
			}
		}
	})}
}

// panicking measures fires in which every hook panics. The failure handler is a no-op, so that no log is measured.
func panicking() []duel {
	of := func(hooks int) func(int) {
		s := newStage(0)
		s.hooks.HandleFailures(func(context.Context, *hookkit.Failure) {})
		for range hooks {
			s.hooks.Lenient.Add(crashing{})
		}
		return s.lenient
	}
	return []duel{versus("", "1,000 hooks", of(1000), "100 hooks", of(100))}
}

// A crashing hook panics.
type crashing struct{}

func (crashing) Lenient(context.Context, *points.Run, points.Call) (points.LenientOutcome, error) {
	panic("crashing")
}

const whatRegistering = "registering 4,000 hooks, half with an anchor, and one fire, over 1,000"

// registering measures registrations of many hooks on new Hooks. Every second hook has an anchor, Before and After in
// turn, which is the hook in the middle of the earlier ones. The final fire makes the registry sort the hooks.
func registering() []duel {
	of := func(hooks int) func(int) {
		return func(n int) {
			for range n {
				s := newStage(0)
				regs := make([]*hookkit.Registration, 0, hooks)
				for i := range hooks {
					var opts []hookkit.GateOption
					switch i % 4 {
					case 1:
						opts = append(opts, hookkit.Before(regs[i/2]))
					case 3:
						opts = append(opts, hookkit.After(regs[i/2]))
					}
					regs = append(regs, s.hooks.Flow.Add(new(quiet), opts...))
				}
				s.flow(1)
			}
		}
	}
	return []duel{versus("", "4,000 hooks", of(4000), "1,000 hooks", of(1000))}
}

// limited compares a hook in a goroutine of its own with such a goroutine.
func limited() []duel {
	s := newStage(0)
	s.hooks.Flow.Add(new(quiet), hookkit.Timeout(time.Minute))
	return []duel{versus(lawFlow, "Timeout", s.flow, "goroutine and channel", func(n int) {
		for range n {
			answer := make(chan error, 1)
			go func() { answer <- nil }()
			if <-answer != nil {
				panic("nothing failed")
			}
		}
	})}
}

// wrapped compares one around hook with the chain of one.
func wrapped() []duel {
	s := newStage(1)
	return []duel{versus(lawAround, "one hook", s.wrap, "one closure that recovers", s.wrapByHandRecovering)}
}

// A guardBundle adds one hook by Use.
type guardBundle struct{ quietGuard }

func (b guardBundle) Bind(h *agent.Hooks) { h.BeforeTool.Add(b.quietGuard) }

// used compares Use with Add.
func used() []duel {
	h := new(agent.Hooks)
	return []duel{versus("", "Use", func(n int) {
		for range n {
			h.Use(guardBundle{}).Remove()
		}
	}, "Add", func(n int) {
		for range n {
			h.BeforeTool.Add(quietGuard{}).Remove()
		}
	})}
}

// A blindObserver ignores its argument.
type blindObserver struct{}

func (blindObserver) ObserveFlow(context.Context, *points.Run, points.FlowFired[points.Call]) {}

// A boundedRound has the timings of each case of a bounded.
type boundedRound struct {
	bounded
	runs [][]timing
}

// runtimeClaims compares a registry with its bounds.
func runtimeClaims(rounds []boundedRound) []claim {
	var claims []claim
	for _, r := range rounds {
		ratios := claim{what: r.what, bound: r.bound}
		what, _, _ := strings.Cut(r.what, ", over ")
		allocs := claim{what: "allocations of " + what, bound: r.allocs}
		if r.what == whatFireBy {
			allocs.what += " beyond those of Fire"
		}
		seconds := claim{what: what + ", absolute", bound: 1, unit: " s"}
		for i, runs := range r.runs {
			of := r.cases[i].of
			ratios.cases = append(ratios.cases, held{of, runs[0].over(runs[1])})
			own := runs[0].allocs
			if r.what == whatFireBy { // at around points Fire itself allocates
				own -= runs[1].allocs
			}
			allocs.cases = append(allocs.cases, held{of, exact(own)})
			seconds.cases = append(seconds.cases, held{of, inSeconds(runs[0])})
		}
		if r.bound != noBound {
			claims = append(claims, ratios)
		}
		if r.allocs != noBound {
			claims = append(claims, allocs)
		}
		if r.what == whatRegistering {
			claims = append(claims, seconds)
		}
	}
	return claims
}

// inSeconds returns the absolute time as a ratio, with the range of its parts.
func inSeconds(t timing) ratio {
	return compare(len(t.rounds), func(best func(timing) float64) float64 { return best(t) / 1e9 })
}
