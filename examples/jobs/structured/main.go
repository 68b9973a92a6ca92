// Command structured reads the answer as a value.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

type invoice struct {
	Number string
	Euros  int
}

func main() {
	a := &loop.Agent{Model: &openai.Model{Name: "gpt-5-mini"}}
	request := loop.Request{Task: "Read the invoice A7 of 12 euros."}
	got, _, err := loop.RunAs[invoice](context.Background(), a, request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Number, got.Euros)
}
