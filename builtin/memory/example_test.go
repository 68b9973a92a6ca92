package memory_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A user says once where she lives, and later that she moved. The second fact replaces the first.
func Example() {
	facts := func(text string) looptest.Turn {
		return looptest.Reply(`{"facts": [{"kind": "remember", "key": "home city", "text": "` + text + `"}]}`)
	}
	model := looptest.NewScript(
		looptest.Reply("Noted."), facts("The user lives in Oslo."),
		looptest.Reply("Enjoy Bern!"), facts("The user lives in Bern."),
		looptest.Reply("It is 20 degrees in Bern."), looptest.Reply(`{"facts": []}`),
	)
	store := &memory.Facts{Share: share.User}
	a := &loop.Agent{Model: model, Hooks: loop.Hooks(
		&memory.Injector{Store: store}, &memory.Extractor{Store: store},
	)}
	for _, task := range []string{"Remember that I live in Oslo.", "I moved to Bern.", "How warm is it at home?"} {
		if _, err := a.Do(context.Background(), loop.Request{Task: task, User: "ann"}); err != nil {
			fmt.Println(err)
		}
	}
	for _, m := range model.Requests()[4].Messages { // the prompt of the third task
		fmt.Printf("%s: %s\n", m.Role, m.Content)
	}
	// Output:
	// user: How warm is it at home?
	// system: ## Memory
	// Known facts:
	// - home city: The user lives in Bern.
}

// topics is an embedder for two topics. A real one asks a model.
type topics struct{}

func (topics) Embed(_ context.Context, texts []string) (vectors [][]float32, err error) {
	for _, text := range texts {
		vector := make([]float32, 2)
		for i, words := range [][]string{{"home", "live", "Bern"}, {"drink", "thirst", "tea"}} {
			for _, w := range words {
				if strings.Contains(text, w) {
					vector[i] = 1
				}
			}
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}

// With an Embedder, a fact is found although it has no word of the question.
func ExampleFacts() {
	ctx := context.Background()
	facts := &memory.Facts{Embedder: topics{}} // or In: session.Dir{Path: "memory"}
	_ = facts.Put(ctx, memory.Fact{Key: "city", Value: "Bern"}, memory.Fact{Key: "favourite", Value: "green tea"})
	found, more, err := facts.Search(ctx, memory.Query{Text: "Where do I live?", Limit: 1})
	fmt.Println(found[0].Key, found[0].Value, more, err)

	_ = facts.Put(ctx, memory.Fact{Key: "city", Value: "Oslo"})
	history, _ := facts.History(ctx, "city", "")
	for _, f := range history {
		fmt.Println(f.Value, f.Current())
	}
	// Output:
	// city Bern 0 <nil>
	// Bern false
	// Oslo true
}

func TestFactsOfTheTaskAreShownFirst(t *testing.T) {
	store := &memory.Facts{Share: share.Everyone}
	for i := range 30 {
		value := fmt.Sprint("nothing of interest, number ", i)
		if i == 0 {
			value = "The staging server is called Heron."
		}
		if err := store.Put(t.Context(), memory.Fact{Key: fmt.Sprint("key ", i), Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("done")}, Hooks: []agent.Hook{&memory.Injector{Store: store}},
	}.Run(t, "Restart the STAGING server!")
	var prompt strings.Builder
	for _, m := range ran.Script.Requests()[0].Messages {
		prompt.WriteString(m.Content + "\n")
	}
	want := "facts:\n- key 0: The staging server is called Heron.\n- key 29:"
	if text := prompt.String(); !strings.Contains(text, want) || !strings.Contains(text, "\n- (10 more in memory)\n") {
		t.Errorf("the prompt is %s", text)
	}
}

func TestFactsBeyondTheMostAreReported(t *testing.T) {
	var hooks agent.Hooks
	store := &memory.Facts{Share: share.Everyone}
	hooks.Use(&memory.Extractor{Store: store, Extract: func(
		context.Context, *agent.Run, []agent.Message,
	) (found []memory.Extracted, err error) {
		for i := range 11 {
			found = append(found, memory.Extracted{Text: fmt.Sprint("fact of the number ", i)})
		}
		return found, nil
	}})
	var reported []string
	hooks.HandleFailures(func(_ context.Context, f *hookkit.Failure) { reported = append(reported, f.Error()) })
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{Messages: make([]agent.Message, 2)})
	facts, _, err := store.Search(t.Context(), memory.Query{})
	if err != nil || len(facts) != 8 || len(reported) != 1 || !strings.Contains(reported[0], "3 facts are not stored") {
		t.Errorf("%d facts, reported %q, %v", len(facts), reported, err)
	}
}

func TestArchivedConversationsAreRecalled(t *testing.T) {
	store := &memory.Facts{}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("Plan: first the roof, then the windows, and the heating in May.")},
		Hooks: []agent.Hook{&memory.Archive{Store: store}},
	}.Do(t, t.Context(), loop.Request{Task: "Make a plan for the house.", Conversation: "house"})
	if ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	for query, want := range map[string]string{
		"plan HEATING": "the user: Make a plan for the house.\nyou: Plan: first the roof", "boat": "nothing found",
	} {
		ran := looptest.Harness{
			Turns: []looptest.Turn{looptest.Call("recall", `{"query":"`+query+`"}`), looptest.Reply("done")},
			Tools: memory.Tools(store),
		}.Do(t, t.Context(), loop.Request{Task: "x", Conversation: "house"})
		if got := ran.Calls[0].Output; !strings.Contains(got, want) {
			t.Errorf("%s: recalled %q, want %q", query, got, want)
		}
	}
}
