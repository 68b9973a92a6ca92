package agentspec

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Role is the author of a message.
type Role string

// The roles of chat-completion APIs.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// BriefingName is the Name of the system message with the texts of Briefing in a request.
const BriefingName = "briefing"

// InterruptionName is the Name of the user message that ends the conversation of an interrupted run. The model of the
// next run on the conversation learns from it that the task before was not done.
const InterruptionName = "interruption"

// A Message is one entry of a conversation. Its shape is that of chat-completion APIs, so that messages survive
// the way to a model and back unchanged. The zero value is an empty message without a role.
type Message struct {
	Role       Role              `json:"role"`
	Content    string            `json:"content"`
	Parts      []Part            `json:"parts,omitempty"`        // content other than text, after Content
	Name       string            `json:"name,omitempty"`         // of the speaker, or of the tool in a tool message
	ToolCalls  []ToolCallRequest `json:"tool_calls,omitempty"`   // of an assistant message, in call order
	ToolCallID string            `json:"tool_call_id,omitempty"` // of a tool message: the answered call
	IsError    bool              `json:"is_error,omitempty"`     // of a tool message: the call failed
	Reasoning  string            `json:"reasoning,omitempty"`    // of an assistant message, if the model exposes it

	// Extra holds data that a model API must get back and that has no field here, by the names of that API. The
	// loop passes it on unread. The values are valid JSON.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

// A Part is a piece of content that is not plain text: an image, a sound, a file. Exactly one of Data and
// URL is set.
type Part struct {
	MediaType string `json:"media_type"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
	Name      string `json:"name,omitempty"`
}

// Clone returns a deep copy of m.
func (m Message) Clone() Message {
	m.Parts = CloneParts(m.Parts)
	m.ToolCalls = CloneCalls(m.ToolCalls)
	m.Extra = cloneExtra(m.Extra)
	return m
}

// CloneParts returns a deep copy of parts. It is nil for nil.
func CloneParts(parts []Part) []Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Data = slices.Clone(parts[i].Data)
	}
	return parts
}

// CloneMessages returns a deep copy of messages. It is nil for nil.
func CloneMessages(messages []Message) []Message {
	if messages == nil {
		return nil
	}
	out := make([]Message, len(messages))
	for i, m := range messages {
		out[i] = m.Clone()
	}
	return out
}

// CheckPairs reports the first error in the pairing of calls and results. Errors are a tool message that answers
// no call of the previous assistant message, a second answer to a call, and a call without an answer. If open is
// true, the calls of the last assistant message may be unanswered.
func CheckPairs(messages []Message, open bool) error {
	var (
		calls   []ToolCallRequest      // of the last assistant message
		missing = make(map[string]int) // expected answers, by the id of the call
	)
	unanswered := func() string {
		at := slices.IndexFunc(calls, func(c ToolCallRequest) bool { return missing[c.ID] > 0 })
		return calls[at].ID
	}
	for i, m := range messages {
		if m.Role == RoleTool {
			n := missing[m.ToolCallID]
			if n == 0 {
				return fmt.Errorf("message %d answers call %q, which is not among the unanswered calls before it: "+
					"keep a result with its call", i, m.ToolCallID)
			}
			if n == 1 {
				delete(missing, m.ToolCallID)
			} else {
				missing[m.ToolCallID] = n - 1
			}
			continue
		}
		if len(missing) > 0 {
			return fmt.Errorf("message %d comes before the result of call %q: keep a call with its result", i, unanswered())
		}
		calls = m.ToolCalls
		for _, c := range calls {
			missing[c.ID]++
		}
	}
	if len(missing) > 0 && !open {
		return fmt.Errorf("call %q has no result: keep a call with its result", unanswered())
	}
	return nil
}

func cloneExtra(extra map[string]json.RawMessage) map[string]json.RawMessage {
	if extra == nil {
		return nil
	}
	out := make(map[string]json.RawMessage, len(extra))
	for k, v := range extra {
		out[k] = slices.Clone(v)
	}
	return out
}
