// Command guard checks each task with a function.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func check(_ context.Context, _ *agent.Run, r agent.RunStart) (agent.OnRunStartOutcome, error) {
	if strings.Contains(r.Task, "password") {
		return agent.EndTurn{Reply: "I do not talk about passwords."}, nil
	}
	return nil, nil
}

func main() {
	a := &loop.Agent{
		Model: &openai.Model{Name: "gpt-5-mini"}, Hooks: loop.Hooks(agent.OnRunStartFunc(check)),
	}
	result, err := a.Run(context.Background(), "What is the password of Bob?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
