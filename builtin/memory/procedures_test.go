package memory_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// restore is a reply with a procedure.
const restore = `{"facts": [{"kind": "procedure", "key": "restore the database", "text": "When tests need data: ` +
	`1. stop the server 2. run make restore"}]}`

// worked runs an agent with an Extractor for some steps, each but the last with a call. It returns the stored facts and
// the requests of the model.
func worked(t *testing.T, hook *memory.Extractor, steps int, end ...looptest.Turn) ([]memory.Fact, []agent.LLMRequest) {
	t.Helper()
	store := &memory.Facts{Share: share.Everyone}
	hook.Store = store
	ran := looptest.Harness{
		Turns: slices.Concat(fixture.Work(steps - 1)[:steps-1], end), Tools: fixture.Worker(),
		Hooks: []agent.Hook{hook, hook},
	}.Run(t, "go")
	facts, _, err := store.Search(t.Context(), memory.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return facts, ran.Script.Requests()
}

func TestOnlyLongRunsTeachProcedures(t *testing.T) {
	for _, c := range []struct {
		name  string
		hook  *memory.Extractor
		steps int
		end   looptest.Turn
		asked bool
	}{
		{"long", &memory.Extractor{Procedures: true}, 10, looptest.Reply("ok"), true},
		{"short", &memory.Extractor{Procedures: true}, 9, looptest.Reply("ok"), false},
		{"not wanted", &memory.Extractor{}, 10, looptest.Reply("ok"), false},
		{"failed", &memory.Extractor{Procedures: true}, 10, looptest.Error(errors.New("down")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, requests := worked(t, c.hook, c.steps, c.end, looptest.Reply(`{"facts": []}`))
			last := requests[len(requests)-1].Messages
			asked := strings.Contains(last[0].Content, "procedures")
			if asked != c.asked || strings.Contains(last[1].Content, "Calls and results:\n\nwork ") != c.asked {
				t.Errorf("asked: %t, with %s", asked, last[1].Content)
			}
		})
	}
}

func TestProceduresAreStoredAsFacts(t *testing.T) {
	long := strings.Repeat("a step ", 300)
	for _, c := range []struct{ name, reply, key, value string }{
		{"a name", restore, "procedure restore the database", "When tests need data: 1. stop the server 2. run make restore"},
		{"a name with the kind", strings.ReplaceAll(restore, "restore the", "procedure restore the"),
			"procedure restore the database", "When tests need data: 1. stop the server 2. run make restore"},
		{"several lines", `{"facts": [{"kind": "procedure", "key": "a\nb", "text": "use c\n# then d"}]}`, "procedure a b",
			"use c # then d"},
		{"long", `{"facts": [{"kind": "procedure", "key": "a", "text": "` + long + `"}]}`, "procedure a", long[:299] + "…"},
		{"about a person", `{"facts": [{"kind": "procedure", "key": "a", "text": "write to bob@example.org"}]}`,
			"procedure a", "write to [REDACTED:email]"},
		{"a fact", `{"facts": [{"kind": "remember", "key": "boss", "text": "write to bob@example.org"}]}`,
			"boss", "write to bob@example.org"},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts, _ := worked(t, &memory.Extractor{Procedures: true}, 10, looptest.Reply("ok"), looptest.Reply(c.reply))
			if len(facts) != 1 || facts[0].Key != c.key || facts[0].Value != c.value {
				t.Errorf("stored %+v", facts)
			}
		})
	}
}

func TestTheModelIsShownTheLastCalls(t *testing.T) {
	model := looptest.NewScript(looptest.Reply(restore))
	hook := &memory.Extractor{Store: new(memory.Facts), Procedures: true}
	err := hook.OnRunEnd(t.Context(), agent.NewRun(&agent.Env{Model: model}), agent.AgentResult{
		Steps: 60, Calls: make([]agent.ToolCallResult, 60), Stop: agent.EndRun{Cause: agent.CauseCompleted},
		Messages: talk("user: go", "assistant: done"),
	})
	text := model.Requests()[0].Messages[1].Content
	_, calls, _ := strings.Cut(text, "Calls and results:\n\n")
	if n := strings.Count(calls, "\n\n"); n != 50 || err != nil {
		t.Errorf("the model is shown %d calls, %v", n, err)
	}
}

// FuzzExtraction reads any reply of a model.
func FuzzExtraction(f *testing.F) {
	for _, reply := range []string{
		restore, `{}`, `}{`, `{"facts": null}`, `{"facts": [{"kind": [1]}]}`, "\xff",
		`{"facts": [{"text": "a fact\nof\u2028lines"}]}`,
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		facts, _ := worked(t, &memory.Extractor{Procedures: true}, 10, looptest.Reply("ok"), looptest.Reply(reply))
		for _, fact := range facts {
			if !fixture.IsLine(fact.Key) || !fixture.IsLine(fact.Value) || len(facts) > 8 {
				t.Errorf("stored %s", fmt.Sprintf("%q", facts))
			}
		}
	})
}
