package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
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

func TestStreamsOfServers(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for name, want := range map[string]agent.LLMResponse{
		"openai-text": {
			ID: "chatcmpl-1", Model: "gpt-5-mini-2025-08-07", Content: "Hello é", FinishReason: "stop",
			Usage: agent.Usage{Input: 1205, Output: 17, CacheRead: 1024},
		},
		"openai-parallel": {
			ID: "chatcmpl-1", Model: "gpt-5-mini-2025-08-07", FinishReason: "tool_calls",
			ToolCalls: []agent.ToolCallRequest{
				{ID: "call_a", Name: "look", Args: raw(`{"at":"door"}`)}, {ID: "call_b", Name: "write", Args: raw(`{"n":1}`)},
			},
			Usage: agent.Usage{Input: 1205, Output: 17, CacheRead: 1024},
		},
		"openai-refusal": {
			ID: "chatcmpl-1", Model: "gpt-5-mini-2025-08-07", Content: "I cannot.", FinishReason: "refusal",
			Usage: agent.Usage{Input: 1205, Output: 17, CacheRead: 1024},
		},
		"deepseek-reasoning": {
			ID: "d1", Model: "deepseek-reasoner", Content: "Hi.", Reasoning: "They greet.", FinishReason: "stop",
			Usage: agent.Usage{Input: 90, Output: 9, CacheRead: 64},
			Extra: map[string]json.RawMessage{"reasoning_content": raw(`"They greet."`)},
		},
		"openrouter-details": {
			ID: "gen-1", Model: "x/y", Content: "Hi.", Reasoning: "Think", FinishReason: "stop",
			Usage: agent.Usage{Input: 10, Output: 4, CacheWrite: 6},
			Extra: map[string]json.RawMessage{"reasoning_details": raw(`[{"type":"reasoning.text","text":"Th","index":0},` +
				`{"type":"reasoning.text","text":"ink","index":0},{"type":"reasoning.text","signature":"c2ln","index":0}]`)},
		},
		"azure-filter": {ID: "az1", Model: "gpt-4o", Content: "Hi.", FinishReason: "stop"},
		"gemini-calls": {
			ID: "g1", Model: "gemini-3-flash", FinishReason: "stop", Usage: agent.Usage{Input: 50, Output: 20},
			ToolCalls: []agent.ToolCallRequest{
				{ID: "function-call-1", Name: "look", Args: raw(`{"at":"a"}`)},
				{ID: "function-call-2", Name: "look", Args: raw(`{"at":"b"}`)},
			},
			Extra: map[string]json.RawMessage{
				"tool_calls": raw(`[{"extra_content":{"google":{"thought_signature":"c2lnbmF0dXJl"}}},null]`),
			},
		},
		"no-index-no-done": {
			ID: "o1", Model: "llama", FinishReason: "tool_calls",
			ToolCalls: []agent.ToolCallRequest{
				{ID: "call_1", Name: "look", Args: raw(`{"at":1}`)}, {ID: "call_2", Name: "look", Args: raw(`{"at":2}`)},
			},
		},
		"mistral-list": {
			ID: "m1", Model: "magistral", Content: "Hi.", Reasoning: "Hm.", FinishReason: "length",
			Usage: agent.Usage{Input: 8, Output: 4},
		},
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

// Servers of local models leave out ids and indexes, or send the same ones for each call. None of their calls is lost,
// and no call is cut in two.
func TestCallsWithoutIDsStayApart(t *testing.T) {
	piece := func(id, index, name, args string) string {
		text, _ := json.Marshal(args)
		return `{` + id + index + `"function":{"name":"` + name + `","arguments":` + string(text) + `}}`
	}
	const id, index = `"id":"c",`, `"index":0,`
	for name, c := range map[string]struct {
		events []string // the lists of tool calls
		want   []string
	}{
		"other names": {[]string{piece("", "", "look", `{}`), piece("", "", "write", `{}`)}, []string{"look{}", "write{}"}},
		"one list": {[]string{piece("", "", "look", `{}`) + "," + piece("", "", "look", `{}`)},
			[]string{"look{}", "look{}"}},
		"one name": {[]string{piece("", index, "look", `{"a":"}\"{"}`), piece("", index, "look", `{}`)},
			[]string{`look{"a":"}\"{"}`, "look{}"}},
		"one id": {[]string{piece(id, "", "look", `{}`), piece(id, "", "look", `{}`)}, []string{"look{}", "look{}"}},
		"one id, two indexes": {[]string{piece(id, index, "look", `{}`), piece(id, `"index":1,`, "look", `{}`)},
			[]string{"look{}", "look{}"}},
		"pieces": {[]string{piece("", "", "look", `{"a":`), piece("", "", "", `{}`), piece("", "", "", `}`)},
			[]string{`look{"a":{}}`}},
		"pieces with the name": {[]string{piece(id, index, "look", ``), piece(id, index, "look", `{"a":{}`),
			piece(id, index, "look", `}`), piece(id, index, "look", ``)}, []string{`look{"a":{}}`}},
		"another id with each piece": {[]string{piece(id, index, "look", `{"a`), piece(`"id":"d",`, index, "", `":1`),
			piece(`"id":"e",`, index, "look", `}`), piece(`"id":"f",`, index, "", ``)}, []string{`look{"a":1}`}},
		"a cut call": {[]string{piece(id, index, "look", `{"a`), piece(`"id":"d",`, index, "write", `{}`)},
			[]string{`look{"a`, "write{}"}},
		"other ids, one index": {[]string{piece(id, index, "look", `{}`), piece(`"id":"d",`, index, "look", `{"a":1}`)},
			[]string{"look{}", `look{"a":1}`}},
		"other ids, no arguments": {[]string{piece(id, index, "look", ``), piece(`"id":"d",`, index, "look", ``)},
			[]string{"look", "look"}},
		"gaps between indexes": {[]string{piece(id, `"index":3,`, "look", `{`),
			piece(`"id":"d",`, `"index":9,`, "write", `{`),
			piece("", `"index":3,`, "", `}`), piece("", `"index":9,`, "", `}`)}, []string{"look{}", "write{}"}},
		"indexes backwards": {[]string{piece(id, `"index":1,`, "look", `{`), piece(`"id":"d",`, index, "write", `{}`),
			piece("", `"index":1,`, "", `}`)}, []string{"look{}", "write{}"}},
		"huge and negative indexes": {[]string{piece(id, `"index":1000000000,`, "look", `{}`),
			piece(`"id":"d",`, `"index":-1,`, "write", `{}`)}, []string{"look{}", "write{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			stream := ""
			for _, event := range c.events {
				stream += `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + event + `]}}]}` + "\n\n"
			}
			reply, err := streamed(t, stream+`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\n")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, call := range reply.ToolCalls {
				got = append(got, call.Name+string(call.Args))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the calls are %q, want %q", got, c.want)
			}
		})
	}
}

// Servers and proxies differ in how they write the events.
func TestFormsOfEvents(t *testing.T) {
	text := func(delta string) string {
		return `{"choices":[{"index":0,"delta":{` + delta + `},"finish_reason":null}]}`
	}
	const end = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	events := func(all ...string) string { return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n" }
	for name, c := range map[string]struct{ stream, want string }{
		"carriage returns": {strings.ReplaceAll(events(text(`"content":"Hi"`), end, "[DONE]"), "\n", "\r\n"), "Hi"},
		"comments":         {": ping\n\n:\n" + events(text(`"content":"Hi"`)) + ": x\n" + events(end), "Hi"},
		"no space":         {"data:" + text(`"content":"Hi"`) + "\n\ndata:" + end + "\n\ndata:[DONE]\n\n", "Hi"},
		"lines of data": {"data: {\"choices\":[{\"index\":0,\n" +
			"data: \"delta\":{\"content\":\"Hi\"}}]}\n\n" + events(end), "Hi"},
		"other fields":     {"id: 1\nretry: 5\nevent: message\nhello\n" + events(text(`"content":"Hi"`), end), "Hi"},
		"byte order mark":  {"\ufeff" + events(text(`"content":"Hi"`), end), "Hi"},
		"no final newline": {strings.TrimSpace(events(text(`"content":"Hi"`), end, "[DONE]")), "Hi"},
		"null content": {events(text(`"role":"assistant","content":null,"tool_calls":null`),
			text(`"content":"Hi"`), end), "Hi"},
		"invalid UTF-8":    {events(text("\"content\":\"H\xffi\""), end), "H\ufffdi"},
		"half a character": {events(text(`"content":"\ud83d"`), text(`"content":"i"`), end), "\ufffdi"},
		"two choices": {events(`{"choices":[{"index":1,"delta":{"content":"No"},"finish_reason":"length"},`+
			`{"index":0,"delta":{"content":"Hi"}}]}`, end), "Hi"},
		"a choice without data": {events(text(`"content":"Hi"`), `{"choices":[{"index":0,"delta":null}]}`, `{"choices":null}`,
			end), "Hi"},
		"a long piece":       {events(text(`"content":"`+strings.Repeat("a", 1<<20)+`"`), end), strings.Repeat("a", 1<<20)},
		"more after the end": {events(text(`"content":"Hi"`), end, "[DONE]", text(`"content":"No"`)), "Hi"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := streamed(t, c.stream)
			if err != nil || reply.Content != c.want || reply.FinishReason != "stop" {
				t.Errorf("got %.100q, %s, %v", reply.Content, reply.FinishReason, err)
			}
		})
	}
}

// A stream may end at any byte, with or without an error of the connection.
func TestACutStreamIsNeverASuccess(t *testing.T) {
	for _, name := range []string{"openai-text", "openai-parallel", "deepseek-reasoning", "no-index-no-done"} {
		t.Run(name, func(t *testing.T) {
			stream := wireFile(t, name)
			whole, err := streamed(t, stream)
			if err != nil {
				t.Fatal(err)
			}
			for at := range len(stream) {
				got, err := streamed(t, stream[:at])
				if err == nil {
					got.Usage, whole.Usage = agent.Usage{}, agent.Usage{} // may come after the end of the reply
					if !reflect.DeepEqual(got, whole) {
						t.Fatalf("the first %d bytes are the reply %+v", at, got)
					}
					continue
				}
				var e *Error
				if !errors.As(err, &e) || !e.Temporary() {
					t.Fatalf("the first %d bytes: %v", at, err)
				}
				if at%20 != 0 {
					continue
				}
				broken := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Cut(stream[:at])}}
				if _, err := broken.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {}); !errors.As(err, &e) {
					t.Fatalf("the first %d bytes and a reset: %v", at, err)
				}
			}
		})
	}
}

func TestStreamsThatFail(t *testing.T) {
	text := `data: {"choices":[{"index":0,"delta":{"content":"He"},"finish_reason":null}]}` + "\n\n"
	for name, c := range map[string]struct {
		stream, want string
		retry        bool
	}{
		"invalid JSON": {text + "data: {nonsense\n\n", "openai: status 200 OK: the answer is invalid: not the JSON of this " +
			"API: syntax error at byte 2", true},
		"wrong type": {`data: {"choices":[{"delta":{"content":{"secret":1}}}]}` + "\n\n",
			"the answer is invalid: not the JSON of this API", true},
		"no choice":         {"data: [DONE]\n\n", "it has no choice", true},
		"nothing":           {"", "unexpected EOF", true},
		"only comments":     {": x\n\n", "unexpected EOF", true},
		"no finish, no end": {text, "unexpected EOF", true},
		"a page":            {"<html>Bad gateway</html>", "unexpected EOF", true},
		"error": {text + `data: {"error":{"message":"The server had an error","type":"server_error","code":null}}` + "\n\n",
			"openai: status 500 Internal Server Error: The server had an error (server_error)", true},
		"rate": {text + `data: {"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}` + "\n\n",
			"status 429", true},
		"quota": {`data: {"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}` + "\n\n",
			"status 402 Payment Required: pay (insufficient_quota)", false},
		"error event": {text + "event: error\ndata: {\"message\":\"crashed\",\"code\":503}\n\n",
			"status 503 Service Unavailable: crashed (503)", true},
		"error object": {`data: {"object":"error","message":"bad","type":"BadRequestError","code":400}` + "\n\n",
			"status 400 Bad Request: bad (BadRequestError, 400)", false},
		"error of a choice": {`data: {"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"upstream"}}]}` + "\n\n",
			"status 502 Bad Gateway: upstream (502)", true},
		"finish reason error": {text + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}` + "\n\n",
			"the server ended the reply because of an error", true},
		"too long": {`data: {"error":{"message":"maximum context length is 10 tokens","type":"invalid_request_error",` +
			`"code":"context_length_exceeded"}}` + "\n\n", "the prompt is too long for the model", false},
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
			if strings.HasPrefix(c.want, "the prompt") != errors.As(err, new(*agent.PromptTooLong)) {
				t.Errorf("wrong kind: %v", err)
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
				_, _ = io.WriteString(writer, `data: {"choices":[{"index":0,"delta":{"content":"He"}}]}`+"\n\n")
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

func TestManyPiecesTakeLinearWork(t *testing.T) {
	const n = 20_000
	var stream bytes.Buffer
	for range n {
		stream.WriteString(`data: {"choices":[{"index":0,"delta":{"content":"a","odd":"c"}}]}` + "\n\n")
	}
	stream.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	m := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Answers(stream.String())}}
	reply, err := m.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {})
	if err != nil || len(reply.Content) != n || len(reply.Extra["odd"]) != n+2 {
		t.Errorf("got %d bytes, %d bytes, %v", len(reply.Content), len(reply.Extra["odd"]), err)
	}
}

func TestCallsEndWithServerAndTheirContext(t *testing.T) {
	modeltest.CheckEnds(t, func(url string) agent.StreamingModel { return &Model{URL: url, Name: "m"} },
		`data: {"choices":[{"index":0,"delta":{"content":"He"}}]}`+"\n\n")
}

func FuzzStream(f *testing.F) {
	for _, name := range []string{
		"openai-text", "openai-parallel", "deepseek-reasoning", "openrouter-details", "gemini-calls", "no-index-no-done",
		"mistral-list",
	} {
		f.Add(wireFile(f, name))
	}
	f.Add("data: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n")
	f.Add(`data: {"choices":[{"index":0,"delta":{"content":"Hi"},"message":{"content":"Hi","tool_calls":[{}]}}]}` + "\n\n")
	f.Add(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{}]},"finish_reason":"stop"}]}` + "\n\n")
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
		if _, err := encode(agent.LLMRequest{Messages: []agent.Message{reply.Message()}}, true, ""); err != nil {
			t.Errorf("the reply cannot be sent back: %v", err)
		}
	})
}
