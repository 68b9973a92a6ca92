package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestErrorsOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string // Retry-After
		body   string
		retry  bool
		after  time.Duration
		long   *agent.PromptTooLong
	}{
		"rate": {429, "7", `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`,
			true, 7 * time.Second, nil},
		"date": {503, "Fri, 02 Jan 2099 03:00:00 GMT", `{}`, true, 24 * time.Hour, nil},
		"quota": {429, "", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota",` +
			`"code":"insufficient_quota"}}`, false, 0, nil},
		"server": {500, "", `nonsense`, true, 0, nil},
		"key":    {401, "", `{"error":{"message":"Incorrect API key provided: sk-verysecret."}}`, false, 0, nil},
		"OpenAI too long": {400, "", `{"error":{"message":"This model's maximum context length is 8192 tokens. However, ` +
			`your messages resulted in 9001 tokens. Please reduce the length of the messages.",` +
			`"type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, false, 0,
			&agent.PromptTooLong{Tokens: 9001, Window: 8192}},
		"vLLM too long": {400, "", `{"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. ` +
			`However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens.",` +
			`"type":"BadRequestError","param":"input_tokens","code":400}}`, false, 0,
			&agent.PromptTooLong{Tokens: 1015, Window: 1024}},
		"llama.cpp too long": {400, "", `{"error":{"code":400,"message":"request (1407 tokens) exceeds the available ` +
			`context size (256 tokens), try increasing it","type":"exceed_context_size_error",` +
			`"n_prompt_tokens":1407,"n_ctx":256}}`,
			false, 0, &agent.PromptTooLong{Tokens: 1407, Window: 256}},
		"long reply": {400, "", `{"error":{"message":"max_tokens is too large: 99999. This model supports at most 4096 ` +
			`completion tokens","type":"invalid_request_error"}}`, false, 0, nil},
		"not found": {404, "", `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, false, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			for way, send := range map[string]func() error{
				"Generate": func() error { _, err := m.Generate(t.Context(), agent.LLMRequest{}); return err },
				"Stream": func() error {
					_, err := m.Stream(t.Context(), agent.LLMRequest{}, func(agent.Delta) {})
					return err
				},
			} {
				err := send()
				var e *Error
				if !errors.As(err, &e) || e.Status != c.status {
					t.Fatalf("%s: %v", way, err)
				}
				var temporary interface{ Temporary() bool }
				var after interface{ RetryAfter() time.Duration }
				if !errors.As(err, &temporary) || !errors.As(err, &after) || temporary.Temporary() != c.retry ||
					after.RetryAfter() != c.after {
					t.Errorf("%s: temporary %v after %v: %v", way, e.Temporary(), e.RetryAfter(), err)
				}
				var long *agent.PromptTooLong
				if errors.As(err, &long); !reflect.DeepEqual(long, c.long) {
					t.Errorf("%s: too long: %+v, want %+v", way, long, c.long)
				}
				if strings.Contains(err.Error(), "verysecret") {
					t.Errorf("%s: the error has the key: %v", way, err)
				}
			}
		})
	}
}

func TestNotFoundSaysWhatIsUsuallyWrong(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":{"message":"The model does not exist"}}`)
			return
		}
		http.NotFound(w, r)
	})
	for name, c := range map[string]struct{ path, want string }{
		"no version":    {"", "URL ends with the version"},
		"unknown model": {"/v1", "The model does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			m := *m
			m.URL = strings.TrimSuffix(m.URL, "/v1/") + c.path
			_, err := m.Generate(t.Context(), agent.LLMRequest{})
			var e *Error
			if !errors.As(err, &e) || e.Status != http.StatusNotFound || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "model of Name") {
				t.Error(err)
			}
		})
	}
}

func TestWholeAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want agent.LLMResponse
		err  string
	}{
		"no choice": {`{"id":"1","choices":[]}`, agent.LLMResponse{}, "the answer is invalid: it has no choice"},
		"an error":  {`{"error":{"message":"upstream","code":502}}`, agent.LLMResponse{}, "status 502 Bad Gateway: upstream"},
		"not JSON":  {`nonsense`, agent.LLMResponse{}, "not the JSON of this API"},
		"empty":     {``, agent.LLMResponse{}, "not the JSON of this API"},
		"no reason": {`{"choices":[{"message":{"content":"Hi."}}]}`,
			agent.LLMResponse{Content: "Hi.", FinishReason: "stop"}, ""},
		"an image": {`{"choices":[{"message":{"content":"Here.","images":[{"type":"image_url",` +
			`"image_url":{"url":"data:image/png;base64,cG5n"}}]},"finish_reason":"stop"}]}`,
			agent.LLMResponse{Content: "Here.", FinishReason: "stop", Parts: []agent.Part{
				{MediaType: "image/png", Data: []byte("png")},
			}}, ""},
		"calls without ids": {`{"choices":[{"message":{"tool_calls":[{"function":{"name":"look","arguments":"{}"}},` +
			`{"function":{"name":"look","arguments":"{}"}},{}]}}]}`,
			agent.LLMResponse{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
				{Name: "look", Args: raw(`{}`)}, {Name: "look", Args: raw(`{}`)},
			}}, ""},
		"calls with one id": {`{"choices":[{"message":{"tool_calls":[` +
			`{"id":"c","function":{"name":"look","arguments":"{\"at\":1}"}},` +
			`{"id":"c","function":{"name":"write","arguments":"{\"n\":1}"}}]},"finish_reason":"tool_calls"}]}`,
			agent.LLMResponse{FinishReason: "tool_calls", ToolCalls: []agent.ToolCallRequest{
				{ID: "c", Name: "look", Args: raw(`{"at":1}`)}, {ID: "c", Name: "write", Args: raw(`{"n":1}`)},
			}}, ""},
		"several choices": {`{"choices":[{"index":1,"message":{"content":"B"}},{"index":0,"message":{"content":"A"},` +
			`"finish_reason":"stop"}]}`, agent.LLMResponse{Content: "A", FinishReason: "stop"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.body)
			})
			// A server without streams answers both ways with JSON.
			for range 2 {
				got, err := m.Generate(t.Context(), agent.LLMRequest{})
				if c.err != "" {
					if err == nil || !strings.Contains(err.Error(), c.err) {
						t.Errorf("got %v, want %q", err, c.err)
					}
				} else if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("got %+v, %v, want %+v", got, err, c.want)
				}
			}
			var pieces string
			got, err := m.Stream(t.Context(), agent.LLMRequest{}, func(d agent.Delta) { pieces += d.Content })
			if (err == nil) != (c.err == "") || err == nil && pieces != got.Content {
				t.Errorf("streamed: %q, %+v, %v", pieces, got, err)
			}
		})
	}
}

func TestTheKeyIsNeverPrinted(t *testing.T) {
	m := &Model{Name: "m", Key: func() string { return "sk-verysecret" }, Header: func(h http.Header) {
		h.Set("X-Gateway-Key", "sk-othersecret")
	}}
	type app struct{ model Model }
	for _, value := range []any{m, *m, app{*m}} {
		modeltest.CheckNotPrinted(t, value, "verysecret", "othersecret")
	}
}

// The model calls two tools at once, sees their results, and answers.
func TestAnAgentRuns(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("streaming ", stream), func(t *testing.T) {
			server := script(
				agent.LLMResponse{
					Content: "I look.", FinishReason: "tool_calls", Usage: agent.Usage{Input: 10, Output: 5},
					ToolCalls: []agent.ToolCallRequest{
						{ID: "call_a", Name: "weather", Args: raw(`{"city":"Oslo"}`)},
						{ID: "call_b", Name: "weather", Args: raw(`{"city":"Rome"}`)},
					},
				},
				agent.LLMResponse{
					Content: "Rain in both.", FinishReason: "stop", Usage: agent.Usage{Input: 20, Output: 3, CacheRead: 8},
				},
			)
			m := serve(t, server.ServeHTTP)
			m.Window = 1000
			a := &loop.Agent{Name: "w", Model: m, Tools: []agent.Tool{&looptest.Tool{Name: "weather", Result: "rain"}}}
			var result agent.AgentResult
			var err error
			var pieces string
			if stream {
				for e, failed := range a.Stream(t.Context(), loop.Request{Task: "Rain?"}) {
					err = failed
					if e.Chunk != nil {
						pieces += e.Chunk.Delta.Content
					}
					if e.End != nil {
						result = *e.End
					}
				}
				if pieces != "I look.Rain in both." {
					t.Errorf("pieces %q", pieces)
				}
			} else {
				result, err = a.Run(t.Context(), "Rain?")
			}
			if err != nil || result.Reply != "Rain in both." || result.Usage.Input != 30 || result.Usage.CacheRead != 8 {
				t.Errorf("got %+v, %v", result, err)
			}
			if len(server.Bodies()) != 2 || !strings.Contains(server.Bodies()[1],
				`{"role":"tool","content":"rain","tool_call_id":"call_b"}`) {
				t.Errorf("sent %q", server.Bodies())
			}
		})
	}
}

// The server refuses the prompt once. The loop compacts the conversation and asks again.
func TestLoopCompactsATooLongPrompt(t *testing.T) {
	server := script(agent.LLMResponse{Content: "Done.", FinishReason: "stop"})
	refused := false
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !refused {
			refused = true
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"message":"too long","code":"context_length_exceeded"}}`)
			return
		}
		server.ServeHTTP(w, r)
	})
	a := &loop.Agent{Name: "w", Model: m, Compactor: lastMessage{}}
	result, err := a.Do(t.Context(), loop.Request{Task: "Now?", Messages: []agent.Message{
		{Role: agent.RoleUser, Content: strings.Repeat("long ", 100)}, {Role: agent.RoleAssistant, Content: "I see."},
	}})
	if err != nil || result.Reply != "Done." || len(server.Bodies()) != 1 ||
		strings.Contains(server.Bodies()[0], "long long") {
		t.Errorf("got %+v, %v after %q", result, err, server.Bodies())
	}
}

// lastMessage is a compactor that keeps the last message.
type lastMessage struct{}

func (lastMessage) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: c.Messages[len(c.Messages)-1:]}, nil
}

// The server is busy, then cuts its reply, then replies. The hook retry.Model waits as long as the server asks.
func TestAHookRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := wireFile(t, "openai-text")
		calls := 0
		m := &Model{Name: "m", Client: &http.Client{Transport: modeltest.Transport(func(
			r *http.Request,
		) (*http.Response, error) {
			switch calls++; calls {
			case 1:
				return &http.Response{
					StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}, Body: http.NoBody,
				}, nil
			case 2:
				return modeltest.Answers(stream[:strings.Index(stream, "lo ")]).RoundTrip(r)
			}
			return modeltest.Answers(stream).RoundTrip(r)
		})}}
		hooks := new(agent.Hooks)
		hooks.Use(&retry.Model{})
		a := &loop.Agent{Name: "w", Model: m, Hooks: hooks}
		begun := time.Now()
		attempts := make(map[int]string)
		for e, err := range a.Stream(t.Context(), loop.Request{Task: "Hi."}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Chunk != nil {
				attempts[e.Chunk.Attempt] += e.Chunk.Delta.Content
			}
		}
		if calls != 3 || time.Since(begun) < 7*time.Second || attempts[2] != "Hel" || attempts[3] != "Hello é" {
			t.Errorf("%d calls in %v: %v", calls, time.Since(begun), attempts)
		}
	})
}
