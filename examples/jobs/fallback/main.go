// Command fallback asks a model again, and then another one, if it fails.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	a := &loop.Agent{
		Model: &openai.Model{Name: "gpt-5"},
		Hooks: loop.Hooks(&retry.Model{}, &retry.Fallback{Models: []string{"gpt-5-mini"}}),
	}
	result, err := a.Run(context.Background(), "Tell a joke.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
