package main

import (
	"context"
	"runtime"

	"github.com/hookgen/hookgen/bench/points"
)

// Hooks in the style of ent: each mutation wraps the mutator in every hook again.
type (
	mutation interface{ Call() *points.Call }
	mutator  interface {
		Mutate(ctx context.Context, m mutation) (any, error)
	}
	mutateFunc func(ctx context.Context, m mutation) (any, error)
	mutateHook func(next mutator) mutator
	callOf     struct{ call points.Call }
)

func (f mutateFunc) Mutate(ctx context.Context, m mutation) (any, error) { return f(ctx, m) }
func (c *callOf) Call() *points.Call                                     { return &c.call }

func entStyle() peer {
	with := func(n int, hook mutateHook) func(int) {
		hooks := make([]mutateHook, n)
		for i := range hooks {
			hooks[i] = hook
		}
		ctx := context.Background()
		return func(fires int) {
			var left points.Call
			for range fires {
				m := &callOf{call}
				var mut mutator = mutateFunc(func(context.Context, mutation) (any, error) { return nil, nil })
				for i := len(hooks) - 1; i >= 0; i-- {
					mut = hooks[i](mut)
				}
				if _, err := mut.Mutate(ctx, m); err != nil {
					panic(err)
				}
				left = m.call
			}
			runtime.KeepAlive(left)
		}
	}
	return peer{
		name: "mutation hooks, ent style", order: "as added", decide: "whole act", recover: "crashes",
		payload: "by interface, changed in place",
		quiet: func(n int) func(int) {
			return with(n, func(next mutator) mutator {
				return mutateFunc(func(ctx context.Context, m mutation) (any, error) { return next.Mutate(ctx, m) })
			})
		},
		busy: func(n int) func(int) {
			return with(n, func(next mutator) mutator {
				return mutateFunc(func(ctx context.Context, m mutation) (any, error) {
					m.Call().Step++
					return next.Mutate(ctx, m)
				})
			})
		},
	}
}
