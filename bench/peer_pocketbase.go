package main

import (
	"runtime"

	"github.com/hookgen/hookgen/bench/points"
	"github.com/pocketbase/pocketbase/tools/hook"
)

// callEvent is an event of PocketBase.
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
			var left points.Call
			for range fires {
				e := &callEvent{call: call}
				if err := hooks.Trigger(e); err != nil {
					panic(err)
				}
				left = e.call
			}
			runtime.KeepAlive(left)
		}
	}
	return peer{
		name: namePocketBase, order: "by priority", decide: "stop, by not calling Next", recover: "crashes",
		payload: "by pointer, changed in place",
		quiet:   func(n int) func(int) { return with(n, func(e *callEvent) error { return e.Next() }) },
		busy: func(n int) func(int) {
			return with(n, func(e *callEvent) error { e.call.Step++; return e.Next() })
		},
	}
}
