// Command example lets a model answer a question with a tool and prints the answer as it arrives.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	model := &openai.Model{
		URL:  os.Getenv("OPENAI_BASE_URL"), // empty: the API of OpenAI
		Name: "gpt-5-mini",
		Key:  func() string { return os.Getenv("OPENAI_API_KEY") },
	}
	type place struct {
		Zone string `json:"zone"`
	}
	clock := loop.Tool("clock", "Returns the time in a time zone such as Europe/Oslo.",
		func(_ context.Context, in place) (string, error) {
			zone, err := time.LoadLocation(in.Zone)
			if err != nil {
				return "", err
			}
			return time.Now().In(zone).Format(time.TimeOnly), nil
		})
	a := &loop.Agent{Name: "clock", Model: model, Tools: []agent.Tool{clock}}
	task := loop.Request{Task: "What time is it in Oslo and in Tokyo?"}
	for event, err := range a.Stream(context.Background(), task) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Chunk != nil {
			fmt.Print(event.Chunk.Delta.Content)
		}
	}
	fmt.Println()
}
