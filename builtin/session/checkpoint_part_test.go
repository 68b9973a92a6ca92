package session

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestLogHasALineForEachStep(t *testing.T) {
	c := &Checkpoint{Store: new(Map), Every: 1, Name: "n"}
	run := agent.NewRun(&agent.Env{Agent: "a"})
	result := func(tool, output string) agent.ToolCallResult {
		return agent.ToolCallResult{Call: agent.ToolCallRequest{ID: tool, Name: tool}, Output: output}
	}
	for i, step := range []agent.StepResult{
		{Response: &agent.LLMResponse{Content: "I begin."}},
		{Response: &agent.LLMResponse{Content: "hidden"}, Results: []agent.ToolCallResult{result("look", "a\ndoor")}},
		{Err: "no connection"},
		{Results: []agent.ToolCallResult{result("look", "a door"), result("open", "it opens")}},
		{},
	} {
		step.Step.Number = i + 1
		c.step(t.Context(), run, step)
	}
	state, err := Latest(t.Context(), c.Store, agent.Identity{Conversation: "n"})
	want := []string{
		"#1 I begin.", "#2 look: a door", "#3 no connection", "#4 look: a door open: it opens", "#5",
	}
	if err != nil || !slices.Equal(state.SessionLog.Entries, want) {
		t.Errorf("the log is %q, %v", state.SessionLog.Entries, err)
	}
}

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
