package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server and returns a model on it.
func serve(t testing.TB, handler http.HandlerFunc) *Model {
	t.Helper()
	return &Model{
		URL: modeltest.Serve(t, handler) + "/v1/", Name: "gpt-5-mini", Key: func() string { return "sk-verysecret" },
	}
}

// script returns a server that sends replies as OpenAI does, and then no more.
func script(replies ...agent.LLMResponse) *modeltest.Script {
	return &modeltest.Script{Replies: replies, Write: write}
}

func write(w http.ResponseWriter, reply agent.LLMResponse, stream bool) {
	if !stream {
		_, _ = io.WriteString(w, whole(reply)) // some servers send no media type
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, c := range chunks(reply) {
		_, _ = fmt.Fprintf(w, "data: %s\n\n", c)
		_ = http.NewResponseController(w).Flush()
	}
}

func object(fields ...any) map[string]any {
	out := make(map[string]any)
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func usageOf(u agent.Usage) map[string]any {
	return object("prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Total(),
		"prompt_tokens_details", object("cached_tokens", u.CacheRead, "audio_tokens", 0))
}

func whole(r agent.LLMResponse) string {
	message := object("role", "assistant", "content", r.Content, "refusal", nil, "annotations", []any{})
	if r.Reasoning != "" {
		message["reasoning_content"] = r.Reasoning
	}
	var calls []any
	for _, c := range r.ToolCalls {
		calls = append(calls, object("id", c.ID, "type", "function",
			"function", object("name", c.Name, "arguments", string(c.Args))))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return encoded(object("id", "chatcmpl-1", "object", "chat.completion", "model", "gpt-5-mini",
		"choices", []any{object("index", 0, "message", message, "finish_reason", r.FinishReason)},
		"usage", usageOf(r.Usage)))
}

// chunks encodes a reply as a stream in small pieces. The arguments of parallel calls alternate.
func chunks(r agent.LLMResponse) []string {
	var out []string
	chunk := func(delta map[string]any, finish any) {
		out = append(out, encoded(object("id", "chatcmpl-1", "object", "chat.completion.chunk", "model", "gpt-5-mini",
			"choices", []any{object("index", 0, "delta", delta, "finish_reason", finish)}, "usage", nil)))
	}
	chunk(object("role", "assistant", "content", "", "refusal", nil), nil)
	for _, c := range r.Reasoning {
		chunk(object("reasoning_content", string(c)), nil)
	}
	for _, c := range r.Content {
		chunk(object("content", string(c)), nil)
	}
	piece := func(fields ...any) { chunk(object("tool_calls", []any{object(fields...)}), nil) }
	longest := 0
	for i, c := range r.ToolCalls {
		piece("index", i, "id", c.ID, "type", "function", "function", object("name", c.Name, "arguments", ""))
		longest = max(longest, len(c.Args))
	}
	const step = 5
	for at := 0; at < longest; at += step {
		for i, c := range r.ToolCalls {
			if at < len(c.Args) {
				args := string(c.Args[at:min(at+step, len(c.Args))])
				piece("index", i, "function", object("arguments", args))
			}
		}
	}
	chunk(object(), r.FinishReason)
	out = append(out, encoded(object("id", "chatcmpl-1", "choices", []any{}, "usage", usageOf(r.Usage))))
	return append(out, "[DONE]")
}

func TestConformance(t *testing.T) {
	looptest.CheckModel(t, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
		return serve(t, script(replies...).ServeHTTP)
	})
}
