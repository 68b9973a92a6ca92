package main

import (
	"context"
	"runtime"

	"github.com/hookgen/hookgen/bench/points"
)

// Interceptors in the style of gRPC: each gets the next one as a function.
type (
	handler     func(ctx context.Context, request any) (any, error)
	interceptor func(ctx context.Context, request any, info *callInfo, next handler) (any, error)
	callInfo    struct{ method string }
)

// chain returns a handler that calls interceptor i.
func chain(all []interceptor, i int, info *callInfo, last handler) handler {
	if i == len(all) {
		return last
	}
	return func(ctx context.Context, request any) (any, error) {
		return all[i](ctx, request, info, chain(all, i+1, info, last))
	}
}

func grpcStyle() peer {
	with := func(n int, hook interceptor) func(int) {
		all := make([]interceptor, n)
		for i := range all {
			all[i] = hook
		}
		ctx, info := context.Background(), &callInfo{method: "/tools/call"}
		last := func(_ context.Context, request any) (any, error) { return request, nil }
		return func(fires int) {
			var left *points.Call
			for range fires {
				out, err := chain(all, 0, info, last)(ctx, &call)
				if err != nil {
					panic(err)
				}
				left = out.(*points.Call)
			}
			runtime.KeepAlive(left)
		}
	}
	return peer{
		name: "interceptor chain, gRPC style", order: "as chained", decide: "whole act", recover: "crashes",
		payload: "by pointer, as any",
		quiet: func(n int) func(int) {
			return with(n, func(ctx context.Context, request any, _ *callInfo, next handler) (any, error) {
				return next(ctx, request)
			})
		},
		busy: func(n int) func(int) {
			return with(n, func(ctx context.Context, request any, _ *callInfo, next handler) (any, error) {
				c := *request.(*points.Call)
				c.Step++
				return next(ctx, &c)
			})
		},
	}
}
