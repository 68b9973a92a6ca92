package repair

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// EchoedPayload replaces a reply in which a small model repeats a tool's error instead of answering.
//
// For example, a tool fails with {"ok": false, "error": "not found"}, and the model replies with the same JSON.
// EchoedPayload replaces the reply by Reply. It ignores code fences and text before the JSON, and also recognizes an
// array of such objects. A reply with text after the JSON, or with tool calls, is not replaced.
//
// An object is an error payload if it has a key that no answer uses: retry_hint, you_sent, expected_schema or
// retries_exhausted. An object that has only "ok": false and "error" is one too, unless the request asked for JSON.
//
// EchoedPayload rewrites replies at AfterLLM, with the priority Detection, and observes BeforeLLM. The zero value is
// ready to use. It is safe for concurrent use.
type EchoedPayload struct {
	Reply string // "": "Sorry, I couldn't answer that."

	asked hookkit.PerRun[bool]
}

// Bind adds the hook to its points.
func (e *EchoedPayload) Bind(h *agent.Hooks) {
	h.BeforeLLM.Observe(e)
	h.AfterLLM.Add(e, hookkit.Priority(hookkit.Detection))
}

// ObserveBeforeLLM records whether the request asks for JSON.
func (e *EchoedPayload) ObserveBeforeLLM(
	_ context.Context, run *agent.Run, fired agent.BeforeLLMFired[agent.LLMRequest],
) {
	e.asked.Do(run, func(json *bool) { *json = asksJSON(fired.Final.ResponseFormat) })
}

// AfterLLM replaces an echoed payload.
func (e *EchoedPayload) AfterLLM(
	_ context.Context, run *agent.Run, reply agent.LLMResponse,
) (agent.AfterLLMOutcome, error) {
	if len(reply.ToolCalls) > 0 {
		return nil, nil
	}
	if !isEcho(reply.Content, e.asked.Load(run)) {
		return nil, nil
	}
	reply.Content = cmp.Or(e.Reply, "Sorry, I couldn't answer that.")
	return agent.ReplaceAfterLLM(reply, "echoed payload"), nil
}

func asksJSON(f *agent.ResponseFormat) bool { return f != nil && f.Type != "text" }

// maxOpenings bounds the brackets in leading text that are tried as the beginning of the JSON.
const maxOpenings = 16

// isEcho reports whether a text ends in an error payload or an array of them. If strict, only payloads with a key that
// no answer uses count.
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
		return false // text after the JSON is an answer
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
	object, _ := jsonx.Members(data, -1) // none if data is not an object
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

// unfenced removes the marks of code fences. The language name after a mark counts as text before the JSON.
func unfenced(text string) string {
	return strings.NewReplacer("```", "", "~~~", "").Replace(text)
}
