package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp"
	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
)

func wireFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".sse")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// streamed returns the reply of a stream and checks that its pieces add up to it.
func streamed(t *testing.T, stream string) (agent.LLMResponse, error) {
	t.Helper()
	m := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Answers(stream)}}
	var content, reasoning string
	calls := make(map[int]agent.ToolCallDelta)
	reply, err := m.Stream(t.Context(), agent.LLMRequest{}, func(d agent.Delta) {
		content += d.Content
		reasoning += d.Reasoning
		if d.ToolCall != nil {
			c := calls[d.ToolCall.Index]
			calls[d.ToolCall.Index] = agent.ToolCallDelta{
				ID: c.ID + d.ToolCall.ID, Name: c.Name + d.ToolCall.Name, Args: c.Args + d.ToolCall.Args,
			}
		}
	})
	if err != nil {
		return reply, err
	}
	if content != reply.Content || reasoning != reply.Reasoning || len(calls) != len(reply.ToolCalls) {
		t.Errorf("the pieces %q, %q, %v do not add up to %+v", content, reasoning, calls, reply)
	}
	for i, c := range reply.ToolCalls {
		if want := (agent.ToolCallDelta{ID: c.ID, Name: c.Name, Args: string(c.Args)}); calls[i] != want {
			t.Errorf("the pieces of call %d are %+v, want %+v", i, calls[i], want)
		}
	}
	return reply, nil
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

const sonnet = "claude-sonnet-4-5-20250929"

func TestStreams(t *testing.T) {
	usage := agent.Usage{Input: 25, Output: 15}
	for name, want := range map[string]agent.LLMResponse{
		"text": {ID: "msg_1", Model: sonnet, Content: "Hello é", FinishReason: "stop", Usage: usage},
		"calls": {
			ID: "msg_1", Model: sonnet, Content: "I look.", FinishReason: "tool_calls",
			ToolCalls: []agent.ToolCallRequest{
				{ID: "toolu_a", Name: "look", Args: raw(`{"at": "door"}`)}, {ID: "toolu_b", Name: "list", Args: raw(`{}`)},
			},
			Usage: agent.Usage{Input: 2130, Output: 89, CacheRead: 2000, CacheWrite: 30},
		},
		"thinking": {
			ID: "msg_1", Model: sonnet, Content: "Hi. Wait.", Reasoning: "They greet.\n\nMore.", FinishReason: "tool_calls",
			ToolCalls: []agent.ToolCallRequest{{ID: "toolu_a", Name: "look", Args: raw(`{"at":1}`)}}, Usage: usage,
			Extra: map[string]json.RawMessage{"content": raw(`[` +
				`{"signature":"EqQBCgIYAhIM","thinking":"They greet.","type":"thinking"},` +
				`{"data":"EmwKAhgBEgy3va3p","type":"redacted_thinking"},{"bytes":4,"type":"text"},` +
				`{"signature":"c2ln","thinking":"More.","type":"thinking"},` +
				`{"caller":{"type":"direct"},"id":"toolu_a","type":"tool_use"},{"bytes":5,"type":"text"}]`)},
		},
		"server-tool": {
			ID: "msg_1", Model: sonnet, Content: "Go.", FinishReason: "stop", Usage: usage,
			Extra: map[string]json.RawMessage{"content": raw(`[` +
				`{"id":"srvtoolu_1","input":{"query":"go"},"name":"web_search","type":"server_tool_use"},` +
				`{"content":[{"type":"web_search_result","title":"Go","url":"https://go.dev","encrypted_content":"RXJr"}],` +
				`"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"},{"bytes":3,"type":"text"}]`)},
		},
		"refusal": {ID: "msg_1", Model: sonnet, Content: "Not this.", FinishReason: "refusal", Usage: usage},
		"cut-off": {ID: "msg_1", Model: sonnet, Content: "It was", FinishReason: "length", Usage: usage},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := streamed(t, wireFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// The API wants the blocks of a reply with thoughts back as they were, each at its place.
func TestBlocksComeBackUnchanged(t *testing.T) {
	for name, want := range map[string]string{
		"thinking": `[{"signature":"EqQBCgIYAhIM","thinking":"They greet.","type":"thinking"},` +
			`{"data":"EmwKAhgBEgy3va3p","type":"redacted_thinking"},{"type":"text","text":"Hi. "},` +
			`{"signature":"c2ln","thinking":"More.","type":"thinking"},` +
			`{"type":"tool_use","id":"toolu_a","name":"look","input":{"at":1},"caller":{"type":"direct"}},` +
			`{"type":"text","text":"Wait."}]`,
		"server-tool": `[{"id":"srvtoolu_1","input":{"query":"go"},"name":"web_search","type":"server_tool_use"},` +
			`{"content":[{"type":"web_search_result","title":"Go","url":"https://go.dev","encrypted_content":"RXJr"}],` +
			`"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"},{"type":"text","text":"Go."}]`,
		"calls": `[{"type":"text","text":"I look."},{"type":"tool_use","id":"toolu_a","name":"look","input":{"at":"door"}},` +
			`{"type":"tool_use","id":"toolu_b","name":"list","input":{}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := streamed(t, wireFile(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := indented(t, []byte(encoded(said(reply.Message())))); got != indented(t, []byte(want)) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// A hook has redacted the text and removed the call of a reply with thoughts.
func TestBlocksAfterAChangeOfTheMessage(t *testing.T) {
	reply, err := streamed(t, wireFile(t, "thinking"))
	if err != nil {
		t.Fatal(err)
	}
	m := reply.Message()
	m.Content, m.ToolCalls = "Redacted é.", []agent.ToolCallRequest{{ID: "other", Name: "list"}}
	want := `[{"signature":"EqQBCgIYAhIM","thinking":"They greet.","type":"thinking"},` +
		`{"data":"EmwKAhgBEgy3va3p","type":"redacted_thinking"},{"type":"text","text":"Redacted é."},` +
		`{"signature":"c2ln","thinking":"More.","type":"thinking"},` +
		`{"type":"tool_use","id":"other","name":"list","input":{}}]`
	if got := indented(t, []byte(encoded(said(m)))); got != indented(t, []byte(want)) {
		t.Errorf("got %s", got)
	}
	m.Extra = map[string]json.RawMessage{"content": raw(`[{"type":"text","bytes":9223372036854775807},` +
		`{"type":"text","bytes":9223372036854775807},{"type":"text","bytes":14}]`)}
	if got := encoded(said(m)); !strings.HasPrefix(got, `[{"type":"text","text":"Redacted é."},{"type":"tool_use"`) {
		t.Errorf("got %s", got)
	}
	for _, content := range []string{`7`, `"x"`, `[7]`, `[{}]`, `[{"type":"text","bytes":-1}]`, `{`, `null`} {
		m.Extra = map[string]json.RawMessage{"content": raw(content)}
		if got := encoded(said(m)); got != `[{"type":"text","text":"Redacted é."},`+
			`{"type":"tool_use","id":"other","name":"list","input":{}}]` {
			t.Errorf("%s: got %s", content, got)
		}
	}
}

// A stream may end at any byte, with or without an error of the connection.
func TestACutStreamIsNeverASuccess(t *testing.T) {
	for _, name := range []string{"text", "calls", "thinking", "refusal"} {
		t.Run(name, func(t *testing.T) {
			stream := wireFile(t, name)
			end := strings.LastIndex(stream, "\n\n") + 1 // the empty line after the last event may be missing
			for at := range end {
				got, err := streamed(t, stream[:at])
				var e *Error
				if !errors.As(err, &e) || !e.Temporary() {
					t.Fatalf("the first %d bytes: %+v, %v", at, got, err)
				}
			}
			broken := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Cut(stream[:end/2])}}
			var e *Error
			if _, err := broken.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {}); !errors.As(err, &e) {
				t.Errorf("a reset: %v", err)
			}
		})
	}
}

// Servers and proxies differ in how they write the events, and the API adds events, blocks and deltas over time.
func TestFormsOfEvents(t *testing.T) {
	events := func(all ...string) string { return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n" }
	const (
		start = `{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":3.0,"output_tokens":null}}}`
		ping  = `{"type":"ping"}`
		open  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		hi    = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`
		done  = `{"type":"content_block_stop","index":0}`
		delta = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}`
		stop  = `{"type":"message_stop"}`
	)
	plain := events(start, open, hi, done, delta, stop)
	for name, c := range map[string]struct{ stream, want, reason, calls string }{
		"carriage returns": {strings.ReplaceAll(plain, "\n", "\r\n"), "Hi", "stop", ""},
		"pings": {events(ping, start, ping, open, ping, hi, ping, done, ping, delta, ping, stop), "Hi", "stop",
			""},
		"comments":      {": x\n\n" + strings.ReplaceAll(plain, "\n\n", "\n: y\n\n"), "Hi", "stop", ""},
		"lines of data": {strings.ReplaceAll(plain, `,"index"`, ",\ndata: \"index\""), "Hi", "stop", ""},
		"invalid UTF-8": {strings.Replace(plain, "Hi", "H\xffi", 1), "H\ufffdi", "stop", ""},
		"a long piece": {strings.Replace(plain, "Hi", strings.Repeat("a", 1<<20), 1), strings.Repeat("a", 1<<20), "stop",
			""},
		"more after the end": {plain + events(open, hi), "Hi", "stop", ""},
		"no end of a block":  {events(start, open, hi, delta, stop), "Hi", "stop", ""},
		"null fields": {events(start, open, `{"type":"content_block_delta","index":0,"delta":null}`, hi, done,
			`{"type":"message_delta","delta":null,"usage":null}`, delta, stop), "Hi", "stop", ""},
		"unknown event and delta": {events(start, `{"type":"weather","index":7}`, open,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":1}}}`, hi, done, delta,
			stop), "Hi", "stop", ""},
		"unknown block": {events(start, open, hi, done,
			`{"type":"content_block_start","index":1,"content_block":{"type":"hologram","data":"x"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"light_delta","light":"x"}}`,
			`{"type":"content_block_stop","index":1}`, delta, stop), "Hi", "stop", ""},
		"blocks that alternate": {events(start, open,
			`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}`, hi,
			`{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`, done,
			`{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"content_block_stop","index":5}`, strings.Replace(delta, "end_turn", "tool_use", 1), stop),
			"Hi", "tool_calls", `look{"a":1}`},
		"one id for two calls": {events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}`,
			done, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"look",`+
				`"input":{"a":1}}}`, done, delta, stop), "", "stop", `look{}look{"a":1}`},
		"a pause": {events(start, open, hi, done,
			`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search",`+
				`"input":{}}}`, `{"type":"content_block_stop","index":1}`, strings.Replace(delta, "end_turn", "pause_turn", 1),
			stop),
			"Hi", "pause_turn", ""},
		"a refusal": {events(start, open, hi, done, strings.Replace(delta, "end_turn", "refusal", 1), stop), "Hi", "refusal",
			""},
		"an unknown reason": {strings.Replace(plain, "end_turn", "tired", 1), "Hi", "tired", ""},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := streamed(t, c.stream)
			calls := ""
			for _, call := range reply.ToolCalls {
				calls += call.Name + string(call.Args)
			}
			if err != nil || reply.Content != c.want || reply.FinishReason != c.reason || calls != c.calls {
				t.Errorf("got %.100q, %s, %s, %v", reply.Content, reply.FinishReason, calls, err)
			}
			if err == nil && (reply.Usage.Input != 3 || reply.Usage.Output != 2) {
				t.Errorf("got %+v", reply.Usage)
			}
		})
	}
}

func TestStreamsThatFail(t *testing.T) {
	text := wireFile(t, "text")
	begun := text[:strings.Index(text, "event: message_delta")]
	for name, c := range map[string]struct {
		stream, want string
		retry        bool
	}{
		"overloaded": {begun + `event: error` + "\n" +
			`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}` + "\n\n",
			"anthropic: status 529: Overloaded (overloaded_error)", true},
		"rate": {`data: {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}` + "\n\n",
			"status 429 Too Many Requests: slow (rate_limit_error)", true},
		"server": {`data: {"type":"error","error":{"type":"api_error","message":"Internal"}}` + "\n\n",
			"status 500 Internal Server Error: Internal (api_error)", true},
		"denied": {`data: {"type":"error","error":{"type":"permission_error","message":"no"}}` + "\n\n",
			"status 403 Forbidden: no (permission_error)", false},
		"too long": {`data: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: ` +
			`208310 tokens > 200000 maximum"}}` + "\n\n", "the prompt has 208310 tokens, the model takes 200000", false},
		"nothing":      {"", "unexpected EOF", true},
		"a page":       {"<html>Bad gateway</html>", "unexpected EOF", true},
		"invalid JSON": {begun + "data: {secret\n\n", "syntax error at byte 2", true},
		"wrong type":   {`data: {"type":"message_start","message":7}` + "\n\n", `field "message" has the wrong type`, true},
		"no block": {`data: {"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"secret"}}` + "\n\n",
			"an event is about a block that is not open", true},
		"no reason": {begun + `data: {"type":"message_stop"}` + "\n\n", "it has no stop reason", true},
		"a block that is no object": {`data: {"type":"content_block_start","index":0,"content_block":7}` + "\n\n",
			"the answer is invalid", true},
		"a block that is null": {`data: {"type":"content_block_start","index":0,"content_block":null}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n", "the answer is invalid: a block without a type", true},
		"a block without content": {`data: {"type":"content_block_start","index":0}` + "\n\n", "the answer is invalid", true},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := streamed(t, c.stream)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Temporary() != c.retry {
				t.Errorf("got %+v, %v, want %q", reply, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error quotes the answer: %v", err)
			}
		})
	}
}

func TestASilentStreamFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Model{Name: "m", Idle: time.Minute, Client: &http.Client{Transport: modeltest.Transport(func(
			r *http.Request,
		) (*http.Response, error) {
			reader, writer := io.Pipe()
			go func() {
				_, _ = io.WriteString(writer, `data: {"type":"ping"}`+"\n\n")
				<-r.Context().Done()
				_ = writer.CloseWithError(r.Context().Err())
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: reader}, nil
		})}}
		begun := time.Now()
		_, err := m.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {})
		var silence *modelhttp.SilenceError
		if !errors.As(err, &silence) || time.Since(begun) < time.Minute || time.Since(begun) > 2*time.Minute {
			t.Errorf("got %v after %v", err, time.Since(begun))
		}
	})
}

func TestCallsEndWithServerAndTheirContext(t *testing.T) {
	modeltest.CheckEnds(t, func(url string) agent.StreamingModel { return &Model{URL: url, Name: "m"} },
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"He"}}`+"\n\n")
}

// FuzzBlocks encodes messages whose blocks come from a store.
func FuzzBlocks(f *testing.F) {
	f.Add(`[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","bytes":3}]`, "Hi.")
	f.Add(`[{"type":"text","bytes":1},{"type":"tool_use","id":"a","caller":{}},{"type":"text","bytes":2}]`, "Hi.")
	f.Add(`[{"type":"text","bytes":-1}]`, "Hi.")
	f.Fuzz(func(t *testing.T, content, text string) {
		m := agent.Message{
			Role: agent.RoleAssistant, Content: text, Extra: map[string]json.RawMessage{"content": raw(content)},
			ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "look"}},
		}
		var texts strings.Builder
		calls := 0
		for _, b := range said(m) {
			texts.WriteString(b.Text)
			if b.Type == "tool_use" {
				calls++
			}
			if _, err := json.Marshal(b); err != nil {
				t.Errorf("a block cannot be encoded: %v", err)
			}
		}
		words := func(s string) string { return strings.Join(strings.Fields(s), "") } // blank texts are left out
		if words(texts.String()) != words(text) || calls != 1 {
			t.Errorf("the blocks have the text %q and %d calls", texts.String(), calls)
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, name := range []string{"text", "calls", "thinking", "server-tool", "refusal", "cut-off"} {
		f.Add(wireFile(f, name))
	}
	f.Fuzz(func(t *testing.T, stream string) {
		reply, err := streamed(t, stream)
		if err != nil {
			return
		}
		if _, err := json.Marshal(reply); err != nil {
			t.Errorf("the reply cannot be encoded: %v", err)
		}
		if u := reply.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 {
			t.Errorf("negative usage: %+v", u)
		}
		// The reply can be part of the next request.
		if _, err := encode(agent.LLMRequest{Messages: []agent.Message{reply.Message()}}, true); err != nil {
			t.Errorf("the reply cannot be sent back: %v", err)
		}
	})
}

// A call that was cut before its first argument is not one without arguments: package loop does not run it.
func TestACallCutAtItsBeginningHasNoArguments(t *testing.T) {
	whole := wireFile(t, "calls")
	for reason, want := range map[string]string{"max_tokens": "", "tool_use": "{}"} {
		m := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Answers(
			strings.Replace(whole, `"stop_reason":"tool_use"`, `"stop_reason":"`+reason+`"`, 1))}}
		reply, err := m.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {})
		if err != nil || len(reply.ToolCalls) != 2 || string(reply.ToolCalls[1].Args) != want ||
			string(reply.ToolCalls[0].Args) != `{"at": "door"}` {
			t.Errorf("%s: got %+v, %v", reason, reply, err)
		}
	}
}
