package main

import (
	"context"

	"github.com/cloudwego/eino/callbacks"
)

func eino() peer {
	return peer{
		name: nameEino,
		quiet: func(n int) func(int) {
			handlers := make([]callbacks.Handler, n)
			for i := range handlers {
				handlers[i] = callbacks.NewHandlerBuilder().OnStartFn(
					func(ctx context.Context, _ *callbacks.RunInfo, _ callbacks.CallbackInput) context.Context { return ctx }).Build()
			}
			ctx := callbacks.InitCallbacks(context.Background(), &callbacks.RunInfo{Name: "tool"}, handlers...)
			return func(fires int) {
				for range fires {
					callbacks.OnStart(ctx, &call)
				}
			}
		},
	}
}
