package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An agent keeps its conversations, memory and audit log in one file.
func Example() {
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := sqlite.Open(filepath.Join(dir, "agent.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	memories := &memory.Facts{In: sqlite.Store{DB: db}}
	hooks := new(agent.Hooks)
	hooks.Use(&session.Persist{Store: sqlite.Sessions{DB: db}})
	hooks.Use(&session.Checkpoint{Store: sqlite.Store{DB: db}, Resume: true})
	hooks.Use(&memory.Injector{Store: memories})
	hooks.Use(&record.Episodes{Store: memories})
	hooks.Use(&record.Audit{Store: sqlite.AuditLog{DB: db}, Key: []byte("a secret of the operator")})

	model := looptest.NewScript(looptest.Reply("Hello, Ann."), looptest.Reply("You are Ann.")) // your model
	a := &loop.Agent{Model: model, Hooks: hooks}
	for _, task := range []string{"I am Ann.", "Who am I?"} {
		result, err := a.Do(context.Background(), loop.Request{Task: task, User: "ann", Conversation: "greeting"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (%d messages)\n", result.Reply, len(result.Messages))
	}
	state, err := record.VerifyAudit(sqlite.AuditLog{DB: db}.Reader(context.Background()),
		record.AuditCheck{Key: []byte("a secret of the operator")})
	fmt.Println("audited:", state.Records > 0, err)
	// Output:
	// Hello, Ann. (2 messages)
	// You are Ann. (4 messages)
	// audited: true <nil>
}
