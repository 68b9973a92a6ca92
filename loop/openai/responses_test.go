package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
	"github.com/hookgen/hookgen/loop/looptest"
)

// outputsOf encodes a reply as items of the Responses API, with encrypted reasoning first.
func outputsOf(r agent.LLMResponse) (out []map[string]any) {
	if r.Reasoning != "" {
		out = append(out, object("type", "reasoning", "id", "rs_1", "encrypted_content", "c2VjcmV0", "status", nil,
			"summary", []any{object("type", "summary_text", "text", r.Reasoning)}))
	}
	if r.Content != "" {
		out = append(out, object("type", "message", "id", "msg_1", "role", "assistant",
			"content", []any{object("type", "output_text", "text", r.Content, "annotations", []any{})}))
	}
	for _, c := range r.ToolCalls {
		out = append(out, object("type", "function_call", "id", "fc_"+c.ID, "call_id", c.ID, "name", c.Name,
			"arguments", string(c.Args)))
	}
	return out
}

func responseOf(r agent.LLMResponse) map[string]any {
	whole := object("id", "resp_1", "object", "response", "model", "gpt-5-mini", "status", "completed", "error", nil,
		"incomplete_details", nil, "output", outputsOf(r), "usage", object("input_tokens", r.Usage.Input,
			"output_tokens", r.Usage.Output, "input_tokens_details", object("cached_tokens", r.Usage.CacheRead)))
	if r.FinishReason == "length" {
		whole["status"], whole["incomplete_details"] = "incomplete", object("reason", "max_output_tokens")
	}
	return whole
}

// eventsOf encodes a reply as the events of a stream.
func eventsOf(r agent.LLMResponse) (out []map[string]any) {
	out = append(out, object("type", "response.created", "response", object("id", "resp_1", "status", "in_progress")))
	for i, o := range outputsOf(r) {
		begun := object("type", o["type"], "id", o["id"])
		var kind, text string
		switch o["type"] {
		case "reasoning":
			kind, text = "response.reasoning_summary_text.delta", r.Reasoning
		case "message":
			kind, text = "response.output_text.delta", r.Content
		case "function_call":
			kind, text = "response.function_call_arguments.delta", o["arguments"].(string)
			begun["call_id"], begun["name"], begun["arguments"] = o["call_id"], o["name"], ""
		}
		out = append(out, object("type", "response.output_item.added", "output_index", i, "item", begun))
		for _, c := range text {
			out = append(out, object("type", kind, "output_index", i, "delta", string(c)))
		}
		out = append(out, object("type", "response.output_item.done", "output_index", i, "item", o))
	}
	whole := responseOf(r)
	return append(out, object("type", "response."+whole["status"].(string), "response", whole))
}

func writeResponse(w http.ResponseWriter, reply agent.LLMResponse, stream bool) {
	if !stream {
		_, _ = io.WriteString(w, encoded(responseOf(reply)))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range eventsOf(reply) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], encoded(e))
	}
}

// responses returns a model that uses the Responses API of a server.
func responses(t testing.TB, handler http.HandlerFunc) *Model {
	m := serve(t, handler)
	m.Responses = true
	return m
}

// answering returns a model whose server answers with a stream.
func answering(stream string) *Model {
	client := &http.Client{Transport: modeltest.Answers(stream)}
	return &Model{URL: "http://model", Name: "m", Responses: true, Client: client}
}

func TestResponsesConformance(t *testing.T) {
	looptest.CheckModel(t, func(t testing.TB, replies ...agent.LLMResponse) agent.Model {
		return responses(t, (&modeltest.Script{Replies: replies, Write: writeResponse}).ServeHTTP)
	})
}

func TestResponsesEndAsTheyShould(t *testing.T) {
	event := "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n"
	modeltest.CheckEnds(t, func(url string) agent.StreamingModel {
		return &Model{URL: url, Name: "m", Responses: true}
	}, event)
}

func TestEncryptedReasoningGoesBack(t *testing.T) {
	call := agent.ToolCallRequest{ID: "call_1", Name: "look", Args: json.RawMessage(`{"at":1}`)}
	first := agent.LLMResponse{Reasoning: "I look.", ToolCalls: []agent.ToolCallRequest{call}, FinishReason: "tool_calls"}
	type send func(*Model, agent.LLMRequest) (agent.LLMResponse, error)
	for way, send := range map[string]send{
		"whole": func(m *Model, req agent.LLMRequest) (agent.LLMResponse, error) { return m.Generate(t.Context(), req) },
		"stream": func(m *Model, req agent.LLMRequest) (agent.LLMResponse, error) {
			return m.Stream(t.Context(), req, func(agent.Delta) {})
		},
	} {
		t.Run(way, func(t *testing.T) {
			server := &modeltest.Script{Replies: []agent.LLMResponse{first, {Content: "Done."}}, Write: writeResponse}
			m := responses(t, server.ServeHTTP)
			req := agent.LLMRequest{
				ToolChoice: "look", MaxTokens: 9, Tools: []agent.ToolSchema{{Name: "look"}},
				ResponseFormat: &agent.ResponseFormat{Type: "json_schema", Schema: json.RawMessage(`{}`)},
				Messages: []agent.Message{
					{Role: agent.RoleSystem, Content: "Be brief."}, {Role: agent.RoleUser, Content: "Go"},
				},
			}
			for range 2 {
				reply, err := send(m, req)
				if err != nil {
					t.Fatal(err)
				}
				req.Messages = append(req.Messages, reply.Message(),
					agent.Message{Role: agent.RoleTool, ToolCallID: call.ID, Name: call.Name, Content: "a door"})
			}
			want := `{"model":"gpt-5-mini","input":[{"role":"system","content":"Be brief."},{"content":"Go","role":"user"},` +
				`{"encrypted_content":"c2VjcmV0","id":"rs_1","summary":[{"type":"summary_text","text":"I look."}],` +
				`"type":"reasoning"},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{\"at\":1}"},` +
				`{"call_id":"call_1","output":"a door","type":"function_call_output"}],` +
				`"tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{}},"strict":false}],` +
				`"tool_choice":{"type":"function","name":"look"},` +
				`"text":{"format":{"type":"json_schema","name":"reply","schema":{},"strict":false}},` +
				`"max_output_tokens":9,"store":false,"include":["reasoning.encrypted_content"]`
			if got := server.Bodies()[1]; !strings.HasPrefix(got, want) {
				t.Errorf("the request is\n%s\nwant\n%s", got, want)
			}
			data, err := encode(req, false, "h")
			if err != nil || strings.Contains(string(data), "c2VjcmV0") {
				t.Errorf("chat completions get %s, %v", data, err)
			}
		})
	}
}

// TestReasoningStaysBeforeItsCall also has a reply of which a hook has removed the second call.
func TestReasoningStaysBeforeItsCall(t *testing.T) {
	d := &responder{emit: func(agent.Delta) {}}
	answer := `{"status":"completed","output":[
		{"type":"reasoning","id":"1","encrypted_content":"x"},{"type":"message","content":[{"text":"a"}]},
		{"type":"reasoning","id":"2","encrypted_content":"x"},{"type":"function_call","call_id":"c"},
		{"type":"web_search_call"},{"type":"reasoning","id":"3"},
		{"type":"reasoning","id":"4","encrypted_content":"x"},{"type":"function_call","call_id":"d"}]}`
	if err := json.Unmarshal([]byte(answer), &d.whole); err != nil {
		t.Fatal(err)
	}
	m := d.reply().Message()
	order := func() (out []string) {
		for _, i := range items(m) {
			data := encoded(i)
			for _, mark := range []string{
				`"id":"1"`, `"id":"2"`, `"id":"4"`, `"content":"a"`, `"call_id":"c"`, `"call_id":"d"`,
			} {
				if strings.Contains(data, mark) {
					out = append(out, mark[len(mark)-2:len(mark)-1])
				}
			}
		}
		return out
	}
	if got := order(); !slices.Equal(got, []string{"1", "a", "2", "c", "4", "d"}) {
		t.Errorf("the order is %q", got)
	}
	m.ToolCalls = m.ToolCalls[:1]
	if got := order(); !slices.Equal(got, []string{"1", "a", "2", "c"}) {
		t.Errorf("without the call the order is %q", got)
	}
}

func TestResponsesOnOtherServers(t *testing.T) {
	m := responses(t, func(w http.ResponseWriter, r *http.Request) {
		got := r.URL.String() + " " + r.Header.Get("Api-Key") + r.Header.Get("Authorization")
		if got != "/openai/v1/responses?api-version=preview secret" {
			t.Errorf("the server gets %s", got)
		}
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "include") {
			t.Errorf("the body is %s", body)
		}
		writeResponse(w, agent.LLMResponse{Content: "Hello."}, false)
	})
	m.URL = strings.TrimSuffix(m.URL, "v1/") + "openai/v1?api-version=preview"
	m.Key, m.Header = nil, func(h http.Header) { h.Set("Api-Key", "secret") }
	extra := map[string]json.RawMessage{"include": json.RawMessage("null")}
	if reply, err := m.Generate(t.Context(), agent.LLMRequest{Extra: extra}); err != nil || reply.Content != "Hello." {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestEndsOfResponses(t *testing.T) {
	text := func(fields string) string { return `data: {"type":"response.` + fields + "}\n\n" }
	said := text(`output_text.delta","delta":"a"`)
	for _, c := range []struct{ name, stream, want string }{
		{"refusal", text(`completed","response":{"output":[{"type":"message","content":[{"refusal":"No."}]}]}`),
			"No. refusal"},
		{"filter", said + text(`incomplete","response":{"status":"incomplete",`+
			`"incomplete_details":{"reason":"content_filter"},"output":[]}`), " content_filter"},
		{"output only in items", said + text(`output_item.done","item":{"type":"message","content":[{"text":"ab"}]}`) +
			text(`completed","response":{"status":"completed","output":[]}`), "ab stop"},
		{"no output", text(`completed","response":{}`), "it has no output"},
		{"failed", said + text(`failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded",`+
			`"message":"slow down"}}`), "status 429 Too Many Requests: slow down"},
		{"error", "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"oh\"}\n\n", "status 500"},
		{"cut", said, "unexpected EOF"},
		{"done without a response", said + "data: [DONE]\n\n", "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := answering(c.stream)
			var pieces string
			reply, err := m.Stream(t.Context(), agent.LLMRequest{}, func(d agent.Delta) { pieces += d.Content })
			got := reply.Content + " " + reply.FinishReason
			if err != nil {
				got = err.Error()
			} else if reply.Content != "" && pieces != reply.Content {
				t.Errorf("the pieces are %q", pieces)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestContentOtherThanTextIsSent(t *testing.T) {
	image := agent.Part{MediaType: "image/png", Data: []byte("x")}
	sound := agent.Part{MediaType: "audio/wav", Data: []byte("x")}
	file := agent.Part{MediaType: "application/pdf", Data: []byte("x"), Name: "a.pdf"}
	for _, c := range []struct {
		message agent.Message
		want    string
	}{
		{agent.Message{Role: agent.RoleUser, Content: "See", Parts: []agent.Part{image}},
			`[{"role":"user","content":[{"type":"input_text","text":"See"},` +
				`{"type":"input_image","image_url":"data:image/png;base64,eA=="}]}]`},
		{agent.Message{Role: agent.RoleTool, ToolCallID: "c", Parts: []agent.Part{file, sound}},
			`[{"type":"function_call_output","call_id":"c","output":[{"type":"input_file","filename":"a.pdf",` +
				`"file_data":"data:application/pdf;base64,eA=="},{"type":"input_text",` +
				`"text":"[content of type audio/wav, 1 bytes, which this API does not take]"}]}]`},
		{agent.Message{Role: agent.RoleAssistant, Content: "Here", Parts: []agent.Part{image}},
			`[{"role":"assistant","content":"Here"},{"role":"user","content":[{"type":"input_text",` +
				`"text":"This comes from the assistant message above, not from the user:"},` +
				`{"type":"input_image","image_url":"data:image/png;base64,eA=="}]}]`},
	} {
		if got := encoded(items(c.message)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// FuzzResponses reads any stream: the pieces agree with the reply, and the reply can be sent back.
func FuzzResponses(f *testing.F) {
	for _, r := range []agent.LLMResponse{
		{Content: "Hello.", Reasoning: "I greet."},
		{ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "look", Args: json.RawMessage(`{}`)}}},
	} {
		var stream strings.Builder
		for _, e := range eventsOf(r) {
			fmt.Fprintf(&stream, "data: %s\n\n", encoded(e))
		}
		f.Add(stream.String())
	}
	f.Add("data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":-1}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		m := answering(stream)
		reply, err := m.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {})
		if err != nil {
			return
		}
		if _, err := encodeResponses(agent.LLMRequest{Messages: []agent.Message{reply.Message()}}, false); err != nil {
			t.Error(err)
		}
	})
}
