package main

import (
	"github.com/hookgen/hookgen/bench/points"
	"github.com/pocketbase/pocketbase/tools/hook"
)

// callEvent is an event as PocketBase wants it.
type callEvent struct {
	hook.Event
	call points.Call
}

func pocketBase() peer {
	with := func(n int, f func(*callEvent) error) func(int) {
		hooks := new(hook.Hook[*callEvent])
		for range n {
			hooks.BindFunc(f)
		}
		return func(fires int) {
			for range fires {
				e := &callEvent{call: call}
				if err := hooks.Trigger(e); err != nil {
					panic(err)
				}
				sink = e.call
			}
		}
	}
	return peer{
		name: "PocketBase v0.36.0, tools/hook", order: "by priority", decide: "stop, by not calling Next", recover: "crashes", payload: "by pointer, changed in place",
		quiet: func(n int) func(int) { return with(n, func(e *callEvent) error { return e.Next() }) },
		busy: func(n int) func(int) {
			return with(n, func(e *callEvent) error { e.call.Step++; return e.Next() })
		},
	}
}
