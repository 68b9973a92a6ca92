package loop

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// lengths counts one token per byte.
type lengths struct{}

func (lengths) CountTokens(messages []agent.Message) (n int) {
	for _, m := range messages {
		n += len(m.Content)
	}
	return n
}

func TestAConversationKeepsWhatIsStored(t *testing.T) {
	for _, instructions := range []string{"", "be good"} {
		t.Run(fmt.Sprintf("Instructions%q", instructions), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var want []agent.Message
				c := newConversation("id", instructions, nil, lengths{})
				t.Repeat(map[string]func(*rapid.T){
					"store": func(t *rapid.T) {
						m := agent.Message{Role: agent.RoleUser, Content: rapid.String().Draw(t, "text")}
						want = append(want, m)
						c.store(m)
					},
					"replace": func(t *rapid.T) {
						want = slices.Clone(want[:rapid.IntRange(0, len(want)).Draw(t, "kept")])
						c.replace(want)
					},
					"spoil": func(t *rapid.T) {
						if len(want) > 0 {
							c.Messages()[rapid.IntRange(0, len(want)-1).Draw(t, "which")].Content = "spoilt"
							c.restore()
						}
					},
					"": func(t *rapid.T) {
						same := func(a, b agent.Message) bool { return sameMessage(&a, &b) }
						if got := c.Messages(); !slices.EqualFunc(got, want, same) {
							t.Fatalf("hooks see %+v, want %+v", got, want)
						}
						if got := c.recorded(); !slices.EqualFunc(got, want, same) {
							t.Fatalf("the record is %+v, want %+v", got, want)
						}
					},
				})
			})
		})
	}
}

func TestTokensOfPartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newConversation("id", rapid.String().Draw(t, "instructions"), nil, lengths{})
		for _, text := range rapid.SliceOf(rapid.String()).Draw(t, "texts") {
			c.store(agent.Message{Content: text})
		}
		shared, _ := c.request()
		briefed, _ := c.request(agent.Message{Content: "a briefing"})
		for _, messages := range [][]agent.Message{shared, briefed, c.Messages(), c.recorded()} {
			part := messages[:rapid.IntRange(0, len(messages)).Draw(t, "part")]
			if got, want := c.CountTokens(part), (lengths{}).CountTokens(part); got != want {
				t.Fatalf("%d messages have %d tokens, want %d", len(part), got, want)
			}
		}
	})
}

// counted is a counter that remembers how many messages it was asked about.
type counted struct{ messages int }

func (c *counted) CountTokens(messages []agent.Message) int {
	c.messages += len(messages)
	return lengths{}.CountTokens(messages)
}

func TestStoredMessagesOfARequestAreCountedOnce(t *testing.T) {
	counter := new(counted)
	c := newConversation("id", "be good", nil, counter)
	for range 100 {
		c.store(agent.Message{Content: "x"})
		req, _ := c.request(agent.Message{Content: "a briefing"})
		c.CountTokens(req)
	}
	if counter.messages != 201 { // the instructions, and a message and a briefing for each request
		t.Errorf("%d messages were counted", counter.messages)
	}
}

func TestOpenCallsAreAnswered(t *testing.T) {
	user := agent.Message{Role: agent.RoleUser, Content: "x"}
	calls := func(ids ...string) agent.Message {
		m := agent.Message{Role: agent.RoleAssistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, agent.ToolCallRequest{ID: id, Name: "work"})
		}
		return m
	}
	answer := func(id string) agent.Message { return agent.Message{Role: agent.RoleTool, ToolCallID: id} }
	for _, c := range []struct {
		name     string
		messages []agent.Message
		answered []string // ids of the calls that the added messages answer
	}{
		{"Empty", nil, nil},
		{"NoCalls", []agent.Message{user}, nil},
		{"AllAnswered", []agent.Message{user, calls("a", "b"), answer("b"), answer("a")}, nil},
		{"NoneAnswered", []agent.Message{user, calls("a", "b")}, []string{"a", "b"}},
		{"OneAnswered", []agent.Message{user, calls("a", "b", "c"), answer("b")}, []string{"a", "c"}},
		{"EarlierCalls", []agent.Message{calls("a"), answer("a"), user, calls("a")}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.messages)
			got := answerOpen(c.messages)
			if err := agentspec.CheckPairs(got, false); err != nil {
				t.Error(err)
			}
			var answered []string
			for _, m := range got[len(before):] {
				if !m.IsError {
					t.Errorf("call %s succeeded", m.ToolCallID)
				}
				answered = append(answered, m.ToolCallID)
			}
			if !slices.Equal(answered, c.answered) {
				t.Errorf("answered %q, want %q", answered, c.answered)
			}
		})
	}
}

// FuzzOpenCalls answers the open calls of arbitrary conversations. If the open calls were the only problem, the
// result must be valid. Each input byte is a message: from the user, with calls, or the answer to a call.
func FuzzOpenCalls(f *testing.F) {
	for _, text := range []string{"", "u", "uc", "uca", "ucab", "u\x01\x02ab", "aaa", "cucu"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var messages []agent.Message
		for _, b := range text {
			id := fmt.Sprint(b % 4)
			switch {
			case b%3 == 0:
				messages = append(messages, agent.Message{Role: agent.RoleUser})
			case b%3 == 1:
				messages = append(messages, agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{
					{ID: id, Name: "work"}, {ID: id + "b", Name: "work"},
				}})
			default:
				messages = append(messages, agent.Message{Role: agent.RoleTool, ToolCallID: id})
			}
		}
		n := len(messages)
		got := answerOpen(messages)
		if agentspec.CheckPairs(messages, true) != nil {
			return
		}
		if err := agentspec.CheckPairs(got, false); err != nil {
			t.Errorf("%v: %+v", err, got)
		}
		if len(got) < n || agentspec.CheckPairs(messages, false) == nil && len(got) != n {
			t.Errorf("%d messages became %d", n, len(got))
		}
	})
}
