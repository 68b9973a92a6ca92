// Command stream prints a reply while the model writes it.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	a := &loop.Agent{Model: &openai.Model{Name: "gpt-5-mini"}}
	for event, err := range a.Stream(context.Background(), loop.Request{Task: "Tell a joke."}) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Chunk != nil {
			fmt.Print(event.Chunk.Delta.Content)
		}
	}
}
