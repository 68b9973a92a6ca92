// Command handoff lets another agent take over.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	model := &openai.Model{Name: "gpt-5-mini"}
	billing := &loop.Agent{Name: "billing", Description: "Explains bills.", Model: model}
	a := &loop.Agent{Name: "desk", Model: model, Handoffs: []*loop.Agent{billing}}
	result, err := a.Run(context.Background(), "Why is my bill so high?")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.HandedOffTo, "says:", result.Reply)
}
