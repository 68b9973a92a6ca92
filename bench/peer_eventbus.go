package main

import (
	eventbus "github.com/asaskevich/EventBus"
	"github.com/hookgen/hookgen/bench/points"
)

func eventBus() peer {
	return peer{
		name: "asaskevich/EventBus", order: "as subscribed", decide: "nothing", recover: "crashes", payload: "by reflection",
		quiet: func(n int) func(int) {
			bus := eventbus.New()
			for range n {
				if err := bus.Subscribe("tool", func(points.Call) {}); err != nil {
					panic(err)
				}
			}
			return func(fires int) {
				for range fires {
					bus.Publish("tool", call)
				}
			}
		},
	}
}
