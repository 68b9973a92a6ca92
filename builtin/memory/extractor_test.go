package memory_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

type plainTalk struct{ messages []agent.Message }

func (plainTalk) ID() string { return "" }

func (p plainTalk) Messages() []agent.Message { return p.messages }

func talk(lines ...string) []agent.Message {
	var messages []agent.Message
	for _, line := range lines {
		role, text, _ := strings.Cut(line, ": ")
		messages = append(messages, agent.Message{Role: agent.Role(role), Content: text})
	}
	return messages
}

func endOf(t testing.TB, hooks *agent.Hooks, messages []agent.Message) {
	t.Helper()
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(&agent.Env{Conversation: plainTalk{messages}}),
		agent.AgentResult{})
}

var factTalk = talk("user: Hello there, my friend", "assistant: Hello.",
	"user: Please remember that I like window seats. And tea.",
	"user: Can you book the train?", "assistant: Done. The booking is saved at https://rail.example.org/b/17.",
	"user: thanks", "user: note that", "tool: always failed at /etc/passwd/x")

func TestExtractFindsFacts(t *testing.T) {
	want := []memory.Extracted{
		{Kind: "remember", Text: "Please remember that I like window seats."},
		{Kind: "request", Text: "Can you book the train?"},
		{Kind: "outcome", Text: "The booking is saved at https://rail.example.org/b/17."},
		{Kind: "address", Text: "https://rail.example.org/b/17"},
	}
	if got := memory.Extract(factTalk); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := memory.Extract(talk("user: fix it", "assistant: done")); got != nil {
		t.Errorf("short texts: %+v", got)
	}
}

func TestExtractorStoresEachFactOnce(t *testing.T) {
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	extractor := &memory.Extractor{Store: remembered}
	hooks.Use(extractor)
	hooks.Use(extractor)
	endOf(t, &hooks, factTalk)
	endOf(t, &hooks, factTalk)
	facts, _, _ := remembered.Search(t.Context(), memory.Query{})
	if len(facts) != 4 || facts[3].Source != "conversation" || !strings.HasPrefix(facts[3].Key, "remember-") ||
		facts[3].Value != "Please remember that I like window seats." {
		t.Errorf("facts: %+v", facts)
	}
	endOf(t, &hooks, talk("user: please remember the milk"))
	if again, _, _ := remembered.Search(t.Context(), memory.Query{}); len(again) != 4 {
		t.Errorf("a task without a reply was looked at: %+v", again)
	}
	endOf(t, &hooks, talk("user: please remember the milk", "assistant: done, saved"))
	again, _, _ := remembered.Search(t.Context(), memory.Query{})
	if len(again) != 5 || again[0].Value != "please remember the milk" {
		t.Errorf("a short conversation was ignored: %+v", again)
	}
	fixture.MustPanic(t, "Store is nil", func() { hooks.Use(&memory.Extractor{}) })
}

func TestShortFactsAreNotStored(t *testing.T) {
	for text, want := range map[string]int{"0123456789": 1, "012345678": 0} {
		remembered := &memory.Facts{Share: share.Everyone}
		var hooks agent.Hooks
		hooks.Use(&memory.Extractor{Store: remembered, Extract: func(
			_ context.Context, _ *agent.Run, messages []agent.Message,
		) ([]memory.Extracted, error) {
			if len(messages) != len(factTalk) {
				t.Errorf("searched %d messages", len(messages))
			}
			return []memory.Extracted{{Text: text}}, nil
		}})
		endOf(t, &hooks, factTalk)
		if facts, _, err := remembered.Search(t.Context(), memory.Query{}); len(facts) != want || err != nil {
			t.Errorf("stored %v of %q, %v", facts, text, err)
		}
	}
}

func TestExtractorStoresAtMostEightFacts(t *testing.T) {
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	saw := 0
	hooks.Use(&memory.Extractor{Store: remembered,
		Extract: func(_ context.Context, _ *agent.Run, m []agent.Message) ([]memory.Extracted, error) {
			saw = len(m)
			facts := []memory.Extracted{{Text: "too short"}, {Text: "token=hunter2 of bob@example.org"},
				{Text: "token=hunter3 of bob@example.org"}}
			for i := range 20 {
				facts = append(facts, memory.Extracted{Kind: "k\nk", Text: fmt.Sprintf("fact number %d\n# and more", i)})
			}
			return facts, errors.New("and then it failed")
		}})
	var events hookkit.TraceRecorder
	hooks.Trace(&events)
	endOf(t, &hooks, make([]agent.Message, 50))
	facts, _, _ := remembered.Search(t.Context(), memory.Query{})
	if saw != 20 || len(facts) != 8 || facts[7].Value != "token=[REDACTED] of bob@example.org" ||
		facts[6].Value != "fact number 0 # and more" || !strings.HasPrefix(facts[6].Key, "k k-") {
		t.Errorf("saw %d messages, kept %+v", saw, facts)
	}
	if e := events.Events()[0]; e.Failure == nil || !strings.Contains(e.Failure.Error(), "and then it failed") {
		t.Errorf("reported: %v", e.Failure)
	}
}

func ExampleExtractor() {
	remembered := &memory.Facts{Share: share.Everyone}
	var hooks agent.Hooks
	hooks.Use(&memory.Extractor{Store: remembered})

	run := agent.NewRun(&agent.Env{})
	hooks.OnRunEnd.Fire(context.Background(), run, agent.AgentResult{Messages: []agent.Message{
		{Role: agent.RoleUser, Content: "Hi."}, {Role: agent.RoleAssistant, Content: "Hello."},
		{Role: agent.RoleUser, Content: "Remember that I travel with a dog."},
		{Role: agent.RoleAssistant, Content: "I will."},
		{Role: agent.RoleUser, Content: "Thanks."}, {Role: agent.RoleAssistant, Content: "You are welcome."},
	}})
	facts, _, _ := remembered.Search(context.Background(), memory.Query{})
	for _, f := range facts {
		fmt.Println(f.Value)
	}
	// Output: Remember that I travel with a dog.
}
