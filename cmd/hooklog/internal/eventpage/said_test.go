package eventpage

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// FuzzAgentPayloads shows any payload at the points of an agent. The texts of its conversation are bounded.
func FuzzAgentPayloads(f *testing.F) {
	f.Add(`{"task":"Free space","messages":[{"role":"system","content":"You are"}]}`, `{"output":1}`)
	f.Add(`{"content":"yes","tool_calls":[{"name":"read","args":{"path":"a"}}],"elapsed_ns":-5}`, `[]`)
	f.Add(`{"call":{"id":"c","name":"read","args_text":"{"},"err":"no","stop":{"cause":"suspended"}}`, `{"call":null}`)
	f.Fuzz(func(t *testing.T, payload, final string) {
		if !json.Valid([]byte(payload)) || !json.Valid([]byte(final)) {
			return
		}
		for point, role := range roles {
			e := event(1, "a", point, payload)
			e.Final = json.RawMessage(final)
			fire := fireOf(0, e, eventlog.Place{})
			if fire.Span != nil && fire.Span.Took < 0 {
				t.Errorf("%s took %v", point, fire.Span.Took)
			}
			said := saidOf(e)
			if said == nil {
				continue // the payload has other types
			}
			texts := []string{said.Name, said.Text, said.Reasoning, said.State}
			for _, c := range said.Calls {
				texts = append(texts, c.Name, c.Args)
			}
			for _, text := range texts {
				if len(text) > maxSaid+len("…") || said.Role != role {
					t.Errorf("%s of %s has a text of %d bytes", role, point, len(text))
				}
			}
		}
	})
}
