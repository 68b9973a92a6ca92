// Command example gives an agent the counts of its model, so that it compacts a conversation in time.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/contrib/tiktoken"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	counter, err := tiktoken.ForModel("gpt-5-mini")
	if err != nil {
		return err
	}
	hooks := new(agent.Hooks)
	hooks.ShouldCompact.AddFunc(func(
		_ context.Context, _ *agent.Run, use agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		fmt.Fprintln(os.Stdout, "tokens of the next prompt:", use.Tokens)
		return nil, nil
	})
	a := &loop.Agent{
		Model:  looptest.NewScript(looptest.Reply("Fine.")), // use a real model here
		Hooks:  hooks,
		Tokens: counter,
	}
	_, err = a.Run(ctx, "How are you?")
	return err
}
