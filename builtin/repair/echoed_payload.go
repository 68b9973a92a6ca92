package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// EchoedPayload replaces a reply in which a small model repeats the envelope of a tool's failure instead of answering.
//
// It rewrites replies at AfterLLM, in the tier Detection, and observes BeforeLLM. Only replies without tool calls are
// looked at. A reply is such an envelope if it is, after a code fence and leading prose were taken away, a JSON object
// with one of the keys that no answer has (retry_hint, you_sent, expected_schema, retries_exhausted), or one that holds
// ok, which is false, and error, and nothing else; or an array of such objects. Its content becomes Fallback. Where the
// request asked for JSON, ok and error alone are an answer. State: per run, whether the last request did.
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
	e.asked.Do(run, func(json *bool) { *json = asksJSON(fired.Final.ResponseFormat) })
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

func asksJSON(f *agent.ResponseFormat) bool { return f != nil && f.Type != "text" }

// maxOpenings is how many brackets in leading prose are tried as the beginning of an envelope.
const maxOpenings = 16

// isEcho reports whether a text ends in an envelope or an array of them. With strict, only what no answer has makes
// one.
func isEcho(text string, strict bool) bool {
	text = strings.TrimSpace(unfenced(text))
	if len(text) > fingerprint.MaxBytes {
		return false
	}
	at := 0
	for range maxOpenings {
		next := strings.IndexAny(text[at:], "{[")
		if next < 0 {
			return false
		}
		at += next
		if isEnvelopes([]byte(text[at:]), strict) {
			return true
		}
		at++
	}
	return false
}

func isEnvelopes(data []byte, strict bool) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if d.Decode(&raw) != nil || len(bytes.TrimSpace(data[d.InputOffset():])) > 0 {
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
	object, ok := jsonx.Members(data, -1)
	if !ok {
		return false
	}
	failed, failure := false, false
	for _, m := range object {
		switch m.Key {
		case "retry_hint", "you_sent", "expected_schema", "retries_exhausted":
			return true
		case "ok":
			failed = string(m.Value) == "false"
		case "error":
			failure = true
		}
	}
	return !strict && failed && failure && len(object) == 2
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
