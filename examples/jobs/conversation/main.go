// Command conversation continues a conversation that is stored in SQLite.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/openai"
)

func main() {
	db, err := sqlite.Open("chat.db", sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a := &loop.Agent{
		Model: &openai.Model{Name: "gpt-5-mini"},
		Hooks: loop.Hooks(&session.Persist{Store: sqlite.Sessions{DB: db}}),
	}
	task := loop.Request{Task: os.Args[1], Conversation: "chat"}
	result, err := a.Do(context.Background(), task)
	if err := errors.Join(err, db.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Reply)
}
