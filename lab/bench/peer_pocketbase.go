package main

import (
	"runtime"

	"github.com/hookgen/hookgen/lab/bench/points"
	"github.com/pocketbase/pocketbase/tools/hook"
)

// callEvent is an event of PocketBase.
type callEvent struct {
	hook.Event
	call points.Call
}

func pocketBase() peer {
	return peer{
		name: namePocketBase,
		quiet: func(n int) func(int) {
			hooks := new(hook.Hook[*callEvent])
			for range n {
				hooks.BindFunc(func(e *callEvent) error { return e.Next() })
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
		},
	}
}
