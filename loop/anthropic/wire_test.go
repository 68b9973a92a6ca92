package anthropic

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
		URL: modeltest.Serve(t, handler) + "/v1", Name: "claude-sonnet-4-5", Key: func() string { return "sk-verysecret" },
	}
}

// script returns a server that sends replies as Anthropic does, and then no more.
func script(replies ...agent.LLMResponse) *modeltest.Script {
	return &modeltest.Script{Replies: replies, Write: write}
}

func write(w http.ResponseWriter, reply agent.LLMResponse, stream bool) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, whole(reply))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range events(reply) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], encoded(e))
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
	return object("input_tokens", u.Input-u.CacheRead-u.CacheWrite, "output_tokens", u.Output,
		"cache_read_input_tokens", u.CacheRead, "cache_creation_input_tokens", u.CacheWrite)
}

// stopReason returns the reason as the API names it.
func stopReason(r agent.LLMResponse) string {
	return map[string]string{"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}[r.FinishReason]
}

// blocks returns the content of a reply.
func blocks(r agent.LLMResponse) []map[string]any {
	var out []map[string]any
	if r.Reasoning != "" {
		out = append(out, object("type", "thinking", "thinking", r.Reasoning, "signature", "c2ln"))
	}
	if r.Content != "" {
		out = append(out, object("type", "text", "text", r.Content))
	}
	for _, c := range r.ToolCalls {
		out = append(out, object("type", "tool_use", "id", c.ID, "name", c.Name, "input", c.Args))
	}
	return out
}

func whole(r agent.LLMResponse) string {
	return encoded(object("id", "msg_1", "type", "message", "role", "assistant", "model", "claude-sonnet-4-5",
		"content", blocks(r), "stop_reason", stopReason(r), "stop_sequence", nil, "usage", usageOf(r.Usage)))
}

// events encodes a reply as a stream in small pieces.
func events(r agent.LLMResponse) []map[string]any {
	begun := r.Usage
	begun.Output = 1
	out := []map[string]any{object("type", "message_start", "message", object("id", "msg_1", "type", "message",
		"model", "claude-sonnet-4-5", "content", []any{}, "usage", usageOf(begun)))}
	for i, b := range blocks(r) {
		delta := func(kind, field, text string) {
			out = append(out, object("type", "content_block_delta", "index", i, "delta", object("type", kind, field, text)))
		}
		begin := func(block map[string]any) {
			out = append(out, object("type", "content_block_start", "index", i, "content_block", block), object("type", "ping"))
		}
		switch b["type"] {
		case "text":
			begin(object("type", "text", "text", ""))
			for _, c := range b["text"].(string) {
				delta("text_delta", "text", string(c))
			}
		case "thinking":
			begin(object("type", "thinking", "thinking", "", "signature", ""))
			for _, c := range b["thinking"].(string) {
				delta("thinking_delta", "thinking", string(c))
			}
			delta("signature_delta", "signature", b["signature"].(string))
		case "tool_use":
			begin(object("type", "tool_use", "id", b["id"], "name", b["name"], "input", object()))
			delta("input_json_delta", "partial_json", "")
			if args := string(b["input"].(json.RawMessage)); args != "{}" {
				for len(args) > 0 {
					piece := args[:min(5, len(args))]
					args = args[len(piece):]
					delta("input_json_delta", "partial_json", piece)
				}
			}
		}
		out = append(out, object("type", "content_block_stop", "index", i))
	}
	return append(out, object("type", "message_delta", "delta", object("stop_reason", stopReason(r), "stop_sequence", nil),
		"usage", object("output_tokens", r.Usage.Output)), object("type", "message_stop"))
}

func TestConformance(t *testing.T) {
	looptest.CheckModel(t, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
		return serve(t, script(replies...).ServeHTTP)
	})
}
