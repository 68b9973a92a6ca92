// Command elsewhere asks a person who answers later. The first process ends with a question, and
// the second one gets the answer:
//
//	elsewhere
//	elsewhere RUN QUESTION DIGEST
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func pay(_ context.Context, b struct{ Euros int }) (string, error) { return "paid", nil }

func main() {
	a := &loop.Agent{Runs: session.Runs{Store: session.Dir{Path: "runs"}},
		Model: &openai.Model{Name: "gpt-5"}, Tools: []agent.Tool{loop.Tool("pay", "Pays.", pay)},
		Hooks: loop.Hooks(&permission.Confirm{Tools: []string{"*"}}), Approver: permission.Later{}}
	req := loop.Request{Task: "Pay the rent of 1200 euros."}
	if yes := (agent.Approval{Allow: true}); len(os.Args) == 4 {
		answer := loop.Answer{Question: os.Args[2], Digest: os.Args[3], Approval: yes}
		req = loop.Request{ID: os.Args[1], Answers: []loop.Answer{answer}}
	}
	result, err := a.Do(context.Background(), req)
	if err != nil {
		log.Fatal(err) // of a run that waits too, with the three arguments
	}
	fmt.Println(result.Reply)
}
