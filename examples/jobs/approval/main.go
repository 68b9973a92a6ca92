// Command approval asks a person at the terminal before it pays.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

type bill struct{ Euros int }

func pay(_ context.Context, b bill) (string, error) { return fmt.Sprint("paid ", b.Euros), nil }

func main() {
	a := &loop.Agent{
		Model:    &openai.Model{Name: "gpt-5-mini"},
		Tools:    []agent.Tool{loop.Tool("pay", "Pays a bill.", pay)},
		Hooks:    loop.Hooks(&permission.Confirm{Tools: []string{"pay"}}),
		Approver: &permission.Terminal{},
	}
	result, err := a.Run(context.Background(), "Pay the rent of 1200 euros.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
