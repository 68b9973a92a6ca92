// Command hello answers a question with a tool.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

type city struct{ Name string }

func weather(_ context.Context, c city) (string, error) { return "rain in " + c.Name, nil }

func main() {
	a := &loop.Agent{
		Model: &openai.Model{Name: "gpt-5-mini"},
		Tools: []agent.Tool{loop.Tool("weather", "Returns the weather of a city.", weather)},
	}
	result, err := a.Run(context.Background(), "What do I need in Bern?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
