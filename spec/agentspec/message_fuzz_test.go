package agentspec_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hookgen/hookgen/spec/agentspec"
)

// FuzzConversations decodes arbitrary JSON as a conversation. Encoding and cloning must preserve it, and
// CheckPairs must agree with a simple count of calls and answers.
func FuzzConversations(f *testing.F) {
	for _, text := range []string{
		`null`, `[]`, `[{}]`,
		`[{"role":"user","content":"x","parts":[{"media_type":"image/png","data":"AAEC"}],"extra":{"a":null}}]`,
		`[{"role":"assistant","tool_calls":[{"id":"a","name":"t","args":{"n":1}},{"id":"b","args_text":"{"}]},` +
			`{"role":"tool","tool_call_id":"b"},{"role":"tool","tool_call_id":"a"}]`,
		`[{"role":"tool","tool_call_id":"a"}]`, `[{"tool_calls":[{"id":"a"},{"id":"a"}]},{"role":"tool","tool_call_id":"a"}]`,
		`[{"tool_calls":[{"id":""}]},{"role":"tool"}]`, `[{"role":"tool","tool_calls":[{"id":"a"}]}]`,
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, open bool) {
		var messages []agentspec.Message
		if json.Unmarshal(text, &messages) != nil {
			return
		}
		if clone := agentspec.CloneMessages(messages); !reflect.DeepEqual(clone, messages) {
			t.Errorf("%+v was cloned as %+v", messages, clone)
		}
		first, err := json.Marshal(messages)
		var back []agentspec.Message
		if err == nil {
			err = json.Unmarshal(first, &back)
		}
		if second, _ := json.Marshal(back); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s was encoded as %s, then as %s, %v", text, first, second, err)
		}
		if got, want := agentspec.CheckPairs(messages, open) == nil, paired(messages, open); got != want {
			t.Errorf("%s is legal: %t, want %t", first, got, want)
		}
	})
}

// paired reports whether each call is answered exactly once, by the tool messages that follow it.
func paired(messages []agentspec.Message, open bool) bool {
	for i := 0; i < len(messages); {
		var calls []string
		if messages[i].Role != agentspec.RoleTool {
			for _, c := range messages[i].ToolCalls {
				calls = append(calls, c.ID)
			}
			i++
		}
		for ; i < len(messages) && messages[i].Role == agentspec.RoleTool; i++ {
			at := -1
			for n, id := range calls {
				if id == messages[i].ToolCallID {
					at = n
				}
			}
			if at < 0 {
				return false
			}
			calls = append(calls[:at], calls[at+1:]...)
		}
		if len(calls) > 0 && !(open && i == len(messages)) {
			return false
		}
	}
	return true
}
