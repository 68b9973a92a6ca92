package loop_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An agent with one tool. A script plays the model.
func ExampleAgent_Run() {
	type city struct {
		Name string `json:"name" jsonschema:"the city"`
	}
	weather := loop.Tool("weather", "says how the weather is", func(_ context.Context, c city) (string, error) {
		return "rain in " + c.Name, nil
	})
	a := &loop.Agent{
		Model: looptest.NewScript(
			looptest.Call("weather", city{"Oslo"}),
			looptest.Reply("Take an umbrella."),
		),
		Tools: []agent.Tool{weather},
	}
	result, err := a.Run(context.Background(), "What do I need in Oslo?")
	fmt.Println(result.Reply, err)
	fmt.Println(result.Calls[0].Call.Name, string(result.Calls[0].Call.Args), result.Calls[0].Output)
	fmt.Println(result.Steps, result.Stop.Cause)
	// Output:
	// Take an umbrella. <nil>
	// weather {"name":"Oslo"} rain in Oslo
	// 2 completed
}

// Stream yields a reply while the model is still writing it.
func ExampleAgent_Stream() {
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("one word after the other"))}
	for e, err := range a.Stream(context.Background(), loop.Request{Task: "count"}) {
		switch e.Kind {
		case loop.EventChunk:
			fmt.Printf("[%s]", e.Chunk.Delta.Content)
		case loop.EventEnd:
			fmt.Println("", e.End.Stop.Cause, err)
		}
	}
	// Output: [one ][word ][after ][the ][other] completed <nil>
}

// Subagent makes an agent a tool of another agent.
func ExampleSubagent() {
	researcher := &loop.Agent{
		Name: "researcher", Description: "looks things up",
		Model: looptest.NewScript(looptest.Reply("It is 8849 m high.")),
	}
	a := &loop.Agent{
		Model: looptest.NewScript(
			looptest.Call("researcher", `{"task":"How high is Mount Everest?"}`),
			looptest.Reply("8849 m."),
		),
		Tools: []agent.Tool{loop.Subagent(researcher)},
	}
	result, err := a.Run(context.Background(), "How high is it?")
	fmt.Println(result.Calls[0].Output, result.Reply, err)
	// Output: It is 8849 m high. 8849 m. <nil>
}
