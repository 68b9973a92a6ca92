package session

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzCheckpointArguments checks that calls with any arguments are saved and read back.
func FuzzCheckpointArguments(f *testing.F) {
	for _, s := range append([]string{`{"path":"a"}`, `{"a":null,"a":[1]}`}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		talk := conversationOf{
			{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "t", Args: args}}},
			{Role: agent.RoleTool, ToolCallID: "1", Content: string(args)},
		}
		c := &Checkpoint{Store: new(Map), Every: 1, OnError: func(err error) { t.Errorf("%s: %v", args, err) }}
		c.step(t.Context(), agent.NewRun(&agent.Env{Conversation: talk}), agent.StepResult{Step: agent.Step{Number: 1}})
		state, err := Latest(t.Context(), c.Store, agent.Identity{Conversation: "c"})
		if err != nil || state.StepNumber != 1 || len(state.Messages) != 2 ||
			state.Messages[1].Content != string([]rune(string(args))) {
			t.Errorf("%s is saved as %+v, %v", args, state, err)
		}
	})
}

type conversationOf []agent.Message

func (conversationOf) ID() string                  { return "c" }
func (c conversationOf) Messages() []agent.Message { return slices.Clone(c) }

func TestAChangedConversationBeginsANewChain(t *testing.T) {
	earlier := agent.Message{Role: agent.RoleTool, Content: "text", ToolCallID: "1", Name: "tool"}
	for _, c := range []struct {
		name string
		edit func(*agent.Message)
		want bool
	}{
		{"unchanged", func(*agent.Message) {}, true},
		{"role", func(m *agent.Message) { m.Role = agent.RoleUser }, false},
		{"content", func(m *agent.Message) { m.Content = "other" }, false},
		{"call ID", func(m *agent.Message) { m.ToolCallID = "2" }, false},
		{"name", func(m *agent.Message) { m.Name = "other" }, false},
		{"calls", func(m *agent.Message) { m.ToolCalls = make([]agent.ToolCallRequest, 1) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := earlier
			c.edit(&now)
			if got := continues([]agent.Message{now, {}}, []agent.Message{earlier}); got != c.want {
				t.Errorf("continues: %t, want %t", got, c.want)
			}
			if c.want && continues([]agent.Message{now}, []agent.Message{earlier, earlier}) {
				t.Error("a shorter conversation continues a longer one")
			}
		})
	}
}
