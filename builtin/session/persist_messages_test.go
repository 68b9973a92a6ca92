package session

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// talk returns a conversation: "?x" is a reply with the call x, "=x" the result of x, "-" an empty reply, and any other
// word a message of the user.
func talk(words ...string) []agent.Message {
	var messages []agent.Message
	for _, word := range words {
		m := agent.Message{Role: agent.RoleUser, Content: word}
		switch word[0] {
		case '?':
			m = agent.Message{Role: agent.RoleAssistant, Content: word}
			for _, id := range word[1:] {
				m.ToolCalls = append(m.ToolCalls, agent.ToolCallRequest{ID: string(id)})
			}
		case '=':
			m = agent.Message{Role: agent.RoleTool, Content: word, ToolCallID: word[1:]}
		case '-':
			m = agent.Message{Role: agent.RoleAssistant, Content: word}
		}
		messages = append(messages, m)
	}
	return messages
}

func TestOpenCallsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name         string
		before, want []agent.Message
	}{
		{"nothing", nil, nil},
		{"no calls", talk("hi", "-"), talk("hi", "-")},
		{"answered calls", talk("hi", "?ab", "=a", "=b"), talk("hi", "?ab", "=a", "=b")},
		{"an open call", talk("hi", "?a"), talk("hi")},
		{"one of two is open", talk("hi", "?ab", "=a"), talk("hi")},
		{"an open call after answered ones", talk("hi", "?a", "=a", "?b"), talk("hi", "?a", "=a")},
		{"a result without a call", talk("hi", "=a"), talk("hi", "=a")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := withoutOpen(c.before)
			if fixture.Transcript(got) != fixture.Transcript(c.want) {
				t.Errorf("got %s, want %s", fixture.Transcript(got), fixture.Transcript(c.want))
			}
		})
	}
}

func TestNoRunHidesMessagesOfAnother(t *testing.T) {
	for _, c := range []struct {
		name                             string
		stored, before, start, now, want []agent.Message
	}{
		{"the first run", nil, nil, nil, talk("a", "b"), talk("a", "b")},
		{"a run that continues", talk("a"), talk("a"), talk("a"), talk("a", "b"), talk("a", "b")},
		{"another run saved meanwhile", talk("a", "x"), talk("a"), talk("a"), talk("a", "b"), talk("a", "x", "b")},
		{"this run compacted", talk("a", "x"), talk("a"), talk("a"), talk("c"), talk("c", "x")},
		{"the other run compacted", talk("x"), talk("a"), talk("a"), talk("a", "b"), talk("x", "b")},
		{"both compacted", talk("x"), talk("a"), talk("a"), talk("c"), talk("x", "c")},
		{"the other run deleted it", nil, talk("a"), talk("a"), talk("a", "b"), talk("b")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := merged(c.stored, c.before, c.start, c.now)
			if fixture.Transcript(got) != fixture.Transcript(c.want) {
				t.Errorf("got %s, want %s", fixture.Transcript(got), fixture.Transcript(c.want))
			}
		})
	}
}

type emptyConversation struct{}

func (emptyConversation) ID() string                { return "c" }
func (emptyConversation) Messages() []agent.Message { return nil }

// Some hosts give hooks only the name of the conversation. Its messages are then those of the result.
func TestMessagesOfTheResultAreSaved(t *testing.T) {
	store, id := Sessions{Store: new(Map)}, agent.Identity{Conversation: "c"}
	var hooks agent.Hooks
	hooks.Use(&Persist{Store: store})
	run := agent.NewRun(&agent.Env{Conversation: emptyConversation{}})
	hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{Messages: talk("a", "-")})
	got, err := store.Load(t.Context(), id)
	if want := talk("a", "-"); err != nil || fixture.Transcript(got.Messages) != fixture.Transcript(want) {
		t.Errorf("saved %s, %v", fixture.Transcript(got.Messages), err)
	}
}
