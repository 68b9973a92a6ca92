package main

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// A guards is hooks at BeforeTool of generated/agent that continue, and the hand-written equivalent.
type guards struct {
	hooks *agent.Hooks
	run   *agent.Run
	hand  []handGuard
}

type (
	handGuard interface {
		BeforeTool(ctx context.Context, run *agent.Run, call agent.ToolCallRequest) (handOutcome, error)
	}
	handGuardFunc func(ctx context.Context, run *agent.Run, call agent.ToolCallRequest) (handOutcome, error)
)

func (f handGuardFunc) BeforeTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (handOutcome, error) {
	return f(ctx, run, call)
}

// A quietGuard continues; quietHandGuard is the hand-written equivalent.
type (
	quietGuard     struct{ limit int }
	quietHandGuard struct{ limit int }
)

func (g quietGuard) BeforeTool(
	_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	if call.Step > g.limit {
		return agent.EndTurn{Reason: "too many steps"}, nil
	}
	return nil, nil
}

func (g quietHandGuard) BeforeTool(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (handOutcome, error) {
	if call.Step > g.limit {
		return handDeny{"too many steps"}, nil
	}
	return nil, nil
}

func newGuards() *guards {
	return &guards{hooks: new(agent.Hooks), run: agent.NewRun(new(agent.Env))}
}

// guardsAsStructs returns n guards that are small structs.
func guardsAsStructs(n int) *guards {
	g := newGuards()
	for i := range n {
		g.hooks.BeforeTool.Add(quietGuard{1000 + i})
		g.hand = append(g.hand, quietHandGuard{1000 + i})
	}
	return g
}

// guardsAsFunctions returns n guards that are functions.
func guardsAsFunctions(n int) *guards {
	g := newGuards()
	for i := range n {
		g.hooks.BeforeTool.AddFunc(quietGuard{1000 + i}.BeforeTool)
		g.hand = append(g.hand, handGuardFunc(quietHandGuard{1000 + i}.BeforeTool))
	}
	return g
}

var guardedCall = agent.ToolCallRequest{ID: call.ID, Name: call.Name, Args: call.Args, Step: call.Step}

func (g *guards) fire(n int) {
	ctx, c := context.Background(), guardedCall
	for range n {
		if exit, err := g.hooks.BeforeTool.Fire(ctx, g.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

func (g *guards) fireByHand(n int) {
	ctx, c := context.Background(), guardedCall
	for range n {
		if exit, err := g.fireGuards(ctx, g.run, &c); exit != nil || err != nil {
			panic("a quiet hook decided")
		}
	}
}

//go:noinline
func (g *guards) fireGuards(ctx context.Context, run *agent.Run, call *agent.ToolCallRequest) (handOutcome, error) {
	payload := *call
	for _, h := range g.hand {
		out, err := h.BeforeTool(ctx, run, payload)
		if err != nil {
			return nil, err
		}
		switch o := out.(type) {
		case nil:
		case handReplaceCall:
			*call, payload = o.to, o.to
		default:
			return out, nil
		}
	}
	return nil, nil
}
