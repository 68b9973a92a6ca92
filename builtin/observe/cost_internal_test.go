package observe

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestCharactersOfAPromptAreCountedAfterAnyChange(t *testing.T) {
	message := rapid.Custom(func(t *rapid.T) agent.Message {
		m := agent.Message{Content: rapid.StringN(0, 5, -1).Draw(t, "content")}
		if rapid.Bool().Draw(t, "call") {
			args := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "args")
			m.ToolCalls = []agent.ToolCallRequest{{Name: rapid.StringN(0, 3, -1).Draw(t, "name"), Args: args}}
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		var last lastPrompt
		for range 4 {
			prompt := rapid.SliceOfN(message, 0, 4).Draw(t, "prompt")
			last.count(prompt)
			var want, bytes int
			for _, m := range prompt {
				want, bytes = want+chars(m.Content, m.ToolCalls), bytes+size(m.Content, m.ToolCalls)
			}
			if last.chars != want || last.bytes != bytes {
				t.Fatalf("counted %d characters and %d bytes, want %d and %d", last.chars, last.bytes, want, bytes)
			}
		}
	})
}
