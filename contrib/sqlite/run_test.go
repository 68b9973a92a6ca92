package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestAgentContinuesAfterARestart runs an agent twice, each time with the file newly opened.
func TestAgentContinuesAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	request := func(task string) loop.Request {
		return loop.Request{Task: task, Tenant: "acme", User: "ann", Conversation: "c"}
	}
	run := func(task string, turns ...looptest.Turn) *looptest.Ran {
		db, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		m := &memory.Facts{In: Store{db}}
		return looptest.Harness{
			Turns: turns, Tools: []agent.Tool{&looptest.Tool{Name: "work", Result: "worked"}},
			Hooks: []agent.Hook{
				&session.Persist{Store: Sessions{db}}, &session.Checkpoint{Store: Store{db}, Every: 1},
				&memory.Injector{Store: m}, &record.Episodes{Store: m}, auditOf(db, nil),
			},
		}.Do(t, t.Context(), request(task))
	}
	first := run("begin", looptest.Call("work", nil), looptest.Reply("begun"))
	second := run("continue", looptest.Reply("continued"))
	if first.Failed != nil || second.Failed != nil || second.Reply != "continued" {
		t.Fatalf("%v, %v, replied %q", first.Failed, second.Failed, second.Reply)
	}
	prompt := ""
	for _, m := range second.Script.Requests()[0].Messages {
		prompt += m.Content + "\n"
	}
	for _, want := range []string{"begin\n", "worked\n", "begun\n", "continue\n", "name=work, args={}, result="} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the second prompt lacks %q: %s", want, prompt)
		}
	}
	db := reopen(t, path)
	checkpoint, err := session.Latest(t.Context(), Store{db},
		agent.Identity{Tenant: "acme", User: "ann", Conversation: "c"})
	if err != nil || len(checkpoint.Messages) == 0 {
		t.Errorf("the checkpoint is %+v, %v", checkpoint, err)
	}
	if n := verifyAudit(t, db); n < 5 {
		t.Errorf("%d audit records", n)
	}
	sound(t, db)
}
