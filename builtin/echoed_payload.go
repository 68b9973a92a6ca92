package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// EchoedPayload replaces a reply in which a small model repeats the envelope of a tool's failure instead of answering.
//
// It rewrites replies at AfterLLM, in the tier Detection, and observes BeforeLLM. Only replies without tool calls are
// looked at. A reply is such an envelope if it is, after a code fence and leading prose were taken away, a JSON object
// that has retry_hint, you_sent or expected_schema, or nothing but keys of the envelope (those, ok and error); or an
// array of such objects. Its content becomes Fallback. Where JSON was asked for, an object with an error of its own
// passes. State: per run, whether the last request asked for JSON.
type EchoedPayload struct {
	Fallback string // "": "Sorry, I couldn't answer that."

	asked hookkit.PerRun[bool]
}

// Bind adds the hook.
func (e *EchoedPayload) Bind(h *agent.Hooks) {
	h.BeforeLLM.Observe(e)
	h.AfterLLM.Add(e, hookkit.Priority(hookkit.Detection))
}

// ObserveBeforeLLM notes whether JSON is asked for.
func (e *EchoedPayload) ObserveBeforeLLM(_ context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest]) {
	e.asked.Do(run, func(json *bool) { *json = fired.Left.ResponseFormat != nil })
}

// AfterLLM replaces an echo.
func (e *EchoedPayload) AfterLLM(_ context.Context, run *agent.Run, reply agent.LLMResponse) (agent.AfterLLMOutcome, error) {
	if len(reply.ToolCalls) > 0 {
		return nil, nil
	}
	var wantsJSON bool
	e.asked.Do(run, func(json *bool) { wantsJSON = *json })
	if !isEcho(reply.Content, wantsJSON) {
		return nil, nil
	}
	reply.Content = e.Fallback
	if reply.Content == "" {
		reply.Content = "Sorry, I couldn't answer that."
	}
	return agent.ReplaceAfterLLM(reply, "echoed payload"), nil
}

// isEcho reports whether a text is an envelope. With strict, only what no answer has makes one.
func isEcho(text string, strict bool) bool {
	text = strings.TrimSpace(unfenced(text))
	at := strings.IndexAny(text, "{[")
	if at < 0 || len(text) > maxCanonical {
		return false
	}
	data := []byte(text[at:])
	d := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if d.Decode(&raw) != nil || strings.TrimSpace(unfenced(string(data[d.InputOffset():]))) != "" {
		return false // prose behind it is an answer
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		if !isEnvelope(item, strict) {
			return false
		}
	}
	return len(list) > 0
}

func isEnvelope(data []byte, strict bool) bool {
	object, ok := members(data, -1)
	if !ok || len(object) == 0 {
		return false
	}
	ours := 0
	for _, m := range object {
		switch m.key {
		case "retry_hint", "you_sent", "expected_schema":
			return true
		case "ok", "error":
			ours++
		}
	}
	return !strict && ours == len(object)
}

// unfenced takes away the marks of code fences, with the word behind the first of them.
func unfenced(text string) string {
	for _, mark := range []string{"```", "~~~"} {
		before, rest, ok := strings.Cut(text, mark)
		if !ok {
			continue
		}
		for _, word := range []string{"json", "tool_call", "JSON"} {
			rest = strings.TrimPrefix(rest, word)
		}
		text = before + strings.ReplaceAll(rest, mark, "")
	}
	return text
}
