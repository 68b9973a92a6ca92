package memory_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestExtractSkipsReportsWithoutContent(t *testing.T) {
	for _, report := range []string{
		"I am done.", "I have finished the task.", "It failed again.", "Sorry, I cannot do that.",
	} {
		t.Run(report, func(t *testing.T) {
			if got := memory.Extract(talk("assistant: " + report)); got != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestExtractMeasuresSentences(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{"user: always a b", "always a b"}, // just long enough
		{"user: always ab", ""},
		{"user: From now on: 24/7!", "From now on: 24/7!"}, // requests may be short
		{"user: Can you do it for me?", "Can you do it for me?"},
		{"assistant: I fixed all of the login page.", "I fixed all of the login page."}, // just long enough
		{"assistant: I fixed all of the login pag.", ""},
	} {
		t.Run(c.message, func(t *testing.T) {
			got := memory.Extract(talk(c.message))
			if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || got[0].Text != c.want) {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

var french = talk("user: Bonjour", "assistant: Bonjour, que puis-je faire ?",
	"user: Retiens que je voyage avec un chien.", "assistant: C'est noté.", "user: Merci", "assistant: De rien.")

// extracted runs an agent with an Extractor on a French conversation. The model replies with extraction after its
// answer.
func extracted(t *testing.T, extraction looptest.Turn) (facts []memory.Fact, ran *looptest.Ran) {
	t.Helper()
	kept := &memory.Facts{Share: share.Everyone}
	ran = looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("Voilà."), extraction},
		Hooks: []agent.Hook{&memory.Extractor{Store: kept}},
	}.Do(t, t.Context(), loop.Request{Task: "Quelle heure est-il ?", Messages: french})
	facts, _, err := kept.Search(t.Context(), memory.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return facts, ran
}

func TestTheModelFindsFactsInAnyLanguage(t *testing.T) {
	facts, ran := extracted(t, looptest.Reply("Voici :\n```json\n"+
		`{"facts":[{"kind":"remember","text":"L'utilisateur voyage avec un chien."},{"kind":"outcome","text":" "}]}`+
		"\n```"))
	if len(facts) != 1 || facts[0].Value != "L'utilisateur voyage avec un chien." ||
		!strings.HasPrefix(facts[0].Key, "remember-") {
		t.Errorf("facts %+v", facts)
	}
	bare, _ := extracted(t, looptest.Reply(`{"facts":[{"kind":"remember","text":"L'utilisateur voyage."}]}`))
	if len(bare) != 1 || bare[0].Value != "L'utilisateur voyage." {
		t.Errorf("facts of a reply with nothing but JSON: %+v", bare)
	}
	request := ran.Script.Requests()[1]
	if f := request.ResponseFormat; f == nil || f.Type != "json_schema" || !f.Strict ||
		!strings.Contains(request.Messages[1].Content, "user: Retiens que je voyage avec un chien.") ||
		!strings.Contains(request.Messages[1].Content, "assistant: C'est noté.") {
		t.Errorf("the model got %+v", request)
	}
	if ran.ModelCalls != 2 {
		t.Errorf("%d model calls count", ran.ModelCalls)
	}
}

func TestAFailedExtractionIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		turn looptest.Turn
		want string
	}{
		"Error":     {looptest.Error(errors.New("down")), "the model found no facts: "},
		"NoJSON":    {looptest.Reply("no facts"), `the reply "no facts" cannot be read: it is not one JSON object`},
		"NoEnd":     {looptest.Reply("} {"), "it is not one JSON object"},
		"NoFacts":   {looptest.Reply("{}"), `it has no "facts"`},
		"WrongType": {looptest.Reply(`{"facts":"none"}`), "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			facts, ran := extracted(t, c.turn)
			var failed []hookkit.Event
			for _, e := range ran.Trace.Events() {
				if e.Failure != nil && e.Hook != "" {
					failed = append(failed, e)
				}
			}
			if len(facts) != 0 || len(failed) != 1 || failed[0].Point != "OnRunEnd" || ran.Failed != nil ||
				!strings.Contains(failed[0].Failure.Error(), c.want) {
				t.Errorf("facts %+v, failures %+v", facts, failed)
			}
		})
	}
}

func TestExtractCanReplaceTheModel(t *testing.T) {
	kept := &memory.Facts{Share: share.Everyone}
	phrases := func(_ context.Context, _ *agent.Run, messages []agent.Message) ([]memory.Extracted, error) {
		return memory.Extract(messages), nil
	}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("ok")}, Hooks: []agent.Hook{&memory.Extractor{Store: kept, Extract: phrases}},
	}.Do(t, t.Context(), loop.Request{Task: "x", Messages: factTalk[:6]})
	facts, _, err := kept.Search(t.Context(), memory.Query{})
	if diff := cmp.Diff(1, ran.ModelCalls); diff != "" || len(facts) == 0 || err != nil {
		t.Errorf("%d model calls, facts %+v, %v", ran.ModelCalls, facts, err)
	}
}
