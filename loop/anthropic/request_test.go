package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/modelhttp/modeltest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// indented returns JSON with sorted fields, in a form that is easy to compare.
func indented(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	out, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func user(text string) agent.Message { return agent.Message{Role: agent.RoleUser, Content: text} }

func TestMessages(t *testing.T) {
	png := agent.Part{MediaType: "image/png", Data: []byte("png")}
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}`
	from := func(source string) string {
		return `{"type":"text","text":"This comes from ` + source + `, not from the user:"}`
	}
	for name, c := range map[string]struct {
		messages []agent.Message
		want     string // the fields system and messages
	}{
		"system": {[]agent.Message{
			{Role: agent.RoleSystem, Content: "Be brief."}, {Role: agent.RoleSystem, Content: "Be kind."}, user("Hi."),
		}, `"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"Be kind."}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]`},
		"later system messages": {[]agent.Message{
			user("Hi."), {Role: agent.RoleSystem, Name: agentspec.BriefingName, Content: "It is late."},
		}, `"messages":[{"role":"user","content":[{"type":"text","text":"Hi."},` +
			`{"type":"text","text":"<system>\nIt is late.\n</system>"}]}]`},
		"blank texts": {[]agent.Message{
			{Role: agent.RoleSystem, Content: " "}, user("\n"), user("Hi."), {Role: agent.RoleAssistant}, user("So?"),
		}, `"messages":[{"role":"user","content":[{"type":"text","text":"Hi."},{"type":"text","text":"So?"}]}]`},
		"begins with the model": {[]agent.Message{{Role: agent.RoleAssistant, Content: "Hi."}, user("So?")},
			`"messages":[{"role":"user","content":[{"type":"text","text":"(the beginning of the conversation was removed)"}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"Hi."}]},` +
				`{"role":"user","content":[{"type":"text","text":"So?"}]}]`},
		"results": {[]agent.Message{
			user("Look."),
			{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{
				{ID: "call:1", Name: "odd.name", Args: raw(`{"at`)}, {ID: "b", Name: "see"}, {ID: "c"},
			}},
			{Role: agent.RoleTool, Name: "odd.name", ToolCallID: "call:1", Content: "error: not JSON", IsError: true},
			{Role: agent.RoleTool, Name: "see", ToolCallID: "b", Content: "Seen.", Parts: []agent.Part{png}},
			{Role: agent.RoleTool, ToolCallID: "c"},
			user("And?"),
		}, `"messages":[{"role":"user","content":[{"type":"text","text":"Look."}]},{"role":"assistant","content":[` +
			`{"type":"tool_use","id":"call_1","name":"odd_name","input":{"args_text":"{\"at"}},` +
			`{"type":"tool_use","id":"b","name":"see","input":{}},{"type":"tool_use","id":"c","name":"unknown","input":{}}]},` +
			`{"role":"user","content":[` +
			`{"type":"tool_result","tool_use_id":"call_1","is_error":true,` +
			`"content":[{"type":"text","text":"error: not JSON"}]},` +
			`{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"Seen."},` + image + `]},` +
			`{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"And?"}]}]`},
		"parts": {[]agent.Message{{Role: agent.RoleUser, Content: "See.", Parts: []agent.Part{
			png, {MediaType: "image/jpeg", URL: "https://example.com/a.jpg"}, {MediaType: "image/tiff", Data: []byte("tiff")},
			{MediaType: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
			{MediaType: "text/plain; charset=utf-8", Data: []byte("text"), Name: "a.txt"},
			{MediaType: "video/mp4", URL: "https://example.com/v"},
		}}}, `"messages":[{"role":"user","content":[{"type":"text","text":"See."},` + image + `,` +
			`{"type":"image","source":{"type":"url","url":"https://example.com/a.jpg"}},` +
			`{"type":"text","text":"[content of type image/tiff, 4 bytes, which this API does not take]"},` +
			`{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"cGRm"}},` +
			`{"type":"document","title":"a.txt","source":{"type":"text","media_type":"text/plain","data":"text"}},` +
			`{"type":"text","text":"[video/mp4: https://example.com/v]"}]}]`},
		"images of a reply come after the results": {[]agent.Message{
			{Role: agent.RoleSystem, Content: "Draw.", Parts: []agent.Part{png}}, {Role: agent.RoleSystem, Content: "Be kind."},
			{Role: agent.RoleAssistant, Content: "Drawn.", Parts: []agent.Part{png},
				ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "see"}}},
			{Role: agent.RoleTool, Name: "see", ToolCallID: "a", Content: "Seen."},
			{Role: agent.RoleAssistant, Content: "So.", Parts: []agent.Part{png}},
		}, `"system":[{"type":"text","text":"Draw."},{"type":"text","text":"Be kind."}],"messages":[` +
			`{"role":"user","content":[` + from("the system prompt") + `,` + image + `]},` +
			`{"role":"assistant","content":[{"type":"text","text":"Drawn."},` +
			`{"type":"tool_use","id":"a","name":"see","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"Seen."}]},` +
			from("your own message above") + `,` + image + `]},` +
			`{"role":"assistant","content":[{"type":"text","text":"So."}]},` +
			`{"role":"user","content":[` + from("your own message above") + `,` + image + `]}]`},
		"fields of another API": {[]agent.Message{user("Hi."), {
			Role: agent.RoleAssistant, Content: "Hm.", Reasoning: "They greet.",
			Extra: map[string]json.RawMessage{"reasoning_content": raw(`"They greet."`)},
		}, user("So?")}, `"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]},` +
			`{"role":"assistant","content":[{"type":"text","text":"Hm."}]},` +
			`{"role":"user","content":[{"type":"text","text":"So?"}]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := encode(agent.LLMRequest{
				Model: "m", MaxTokens: 9, Messages: c.messages, Extra: map[string]json.RawMessage{"cache_control": raw("null")},
			}, false)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"model":"m","max_tokens":9,` + c.want + `}`
			if got, want := indented(t, data), indented(t, []byte(want)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	zero, seed := 0.0, uint64(7)
	look := []agent.ToolSchema{{Name: "look", Description: "Looks."}}
	tools := `"tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{}}}]`
	extra := func(name, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"cache_control": raw("null"), name: raw(value)}
	}
	format := &agent.ResponseFormat{Type: "json_schema", Name: "answer", Schema: raw(`{"type":"object"}`), Strict: true}
	for name, c := range map[string]struct {
		req    agent.LLMRequest
		stream bool
		want   string // after the model and the messages
	}{
		"nothing":     {agent.LLMRequest{}, false, `"max_tokens":16384`},
		"stream":      {agent.LLMRequest{}, true, `"max_tokens":16384,"stream":true`},
		"temperature": {agent.LLMRequest{Temperature: &zero, Seed: &seed}, false, `"max_tokens":16384,"temperature":0`},
		"limit":       {agent.LLMRequest{MaxTokens: 9}, false, `"max_tokens":9`},
		"tools":       {agent.LLMRequest{Tools: look}, false, `"max_tokens":16384,` + tools},
		"auto": {agent.LLMRequest{Tools: look, ToolChoice: "auto"}, false,
			`"max_tokens":16384,"tool_choice":{"type":"auto"},` + tools},
		"required": {agent.LLMRequest{Tools: look, ToolChoice: "required"}, false,
			`"max_tokens":16384,"tool_choice":{"type":"any"},` + tools},
		"none": {agent.LLMRequest{Tools: look, ToolChoice: "none"}, false,
			`"max_tokens":16384,"tool_choice":{"type":"none"},` + tools},
		"one tool": {agent.LLMRequest{Tools: look, ToolChoice: "look"}, false,
			`"max_tokens":16384,"tool_choice":{"type":"tool","name":"look"},` + tools},
		"no tools": {agent.LLMRequest{ToolChoice: "required"}, false, `"max_tokens":16384`},
		"schema": {agent.LLMRequest{ResponseFormat: format}, false,
			`"max_tokens":16384,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`},
		"schema and effort": {agent.LLMRequest{
			ResponseFormat: format, Extra: extra("output_config", `{"effort":"high"}`),
		}, false, `"max_tokens":16384,"output_config":{"effort":"high",` +
			`"format":{"type":"json_schema","schema":{"type":"object"}}}`},
		"text": {agent.LLMRequest{ResponseFormat: &agent.ResponseFormat{Type: "text"}}, false, `"max_tokens":16384`},
		"thinking": {agent.LLMRequest{Extra: extra("thinking", `{"type":"enabled","budget_tokens":2000}`)}, false,
			`"max_tokens":16384,"thinking":{"type":"enabled","budget_tokens":2000}`},
		"stream in extra": {agent.LLMRequest{Extra: extra("stream", `true`)}, false, `"max_tokens":16384`},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Model = "m"
			c.req.Messages = []agent.Message{user("Hi.")}
			if c.req.Extra == nil {
				c.req.Extra = extra("cache_control", "null")
			}
			data, err := encode(c.req, c.stream)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],` + c.want + `}`
			if got, want := indented(t, data), indented(t, []byte(want)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// marked returns the texts of the blocks with a mark for the cache, in order, and tool:NAME for a tool.
func marked(t *testing.T, req agent.LLMRequest) []string {
	t.Helper()
	data, err := encode(req, false)
	if err != nil {
		t.Fatal(err)
	}
	type textBlock struct {
		Text         string          `json:"text"`
		ToolUseID    string          `json:"tool_use_id"`
		CacheControl json.RawMessage `json:"cache_control"`
	}
	var body struct {
		System []textBlock `json:"system"`
		Tools  []struct {
			Name         string          `json:"name"`
			CacheControl json.RawMessage `json:"cache_control"`
		} `json:"tools"`
		Messages []struct {
			Content []textBlock `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tool := range body.Tools {
		if tool.CacheControl != nil {
			out = append(out, "tool:"+tool.Name)
		}
	}
	for _, m := range append([]struct {
		Content []textBlock `json:"content"`
	}{{body.System}}, body.Messages...) {
		for _, b := range m.Content {
			if b.CacheControl != nil {
				out = append(out, b.Text+b.ToolUseID)
			}
		}
	}
	return out
}

func TestThePrefixIsMarkedForTheCache(t *testing.T) {
	system := agent.Message{Role: agent.RoleSystem, Content: "Be brief."}
	late := agent.Message{Role: agent.RoleSystem, Name: agentspec.BriefingName, Content: "It is late."}
	calls := agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{{ID: "a"}, {ID: "b"}}}
	resultA := agent.Message{Role: agent.RoleTool, ToolCallID: "a", Content: "A."}
	resultB := agent.Message{Role: agent.RoleTool, ToolCallID: "b", Content: "B."}
	tools := []agent.ToolSchema{{Name: "look"}, {Name: "see"}}
	conversation := func(m ...agent.Message) agent.LLMRequest { return agent.LLMRequest{Messages: m} }
	for name, c := range map[string]struct {
		req  agent.LLMRequest
		want string
	}{
		"one message":               {conversation(user("Hi.")), "[Hi.]"},
		"system":                    {conversation(system, user("Hi.")), "[Be brief. Hi.]"},
		"not the briefing":          {conversation(system, user("Hi."), late), "[Be brief. Hi.]"},
		"only a briefing":           {conversation(user("Hi."), calls, late), "[Hi.]"},
		"an earlier system message": {conversation(user("Hi."), late, user("So?")), "[So?]"},
		"tools": {
			agent.LLMRequest{Tools: tools, Messages: []agent.Message{user("Hi.")}}, "[tool:see Hi.]",
		},
		"tools and system": {
			agent.LLMRequest{Tools: tools, Messages: []agent.Message{system, user("Hi.")}}, "[Be brief. Hi.]",
		},
		"this request and the one before": {
			conversation(system, user("Hi."), calls, resultA, resultB, calls, resultA, resultB, late), "[Be brief. b b]",
		},
		"the host decides": {agent.LLMRequest{
			Messages: []agent.Message{system, user("Hi.")},
			Extra:    map[string]json.RawMessage{"cache_control": raw(`{"type":"ephemeral","ttl":"1h"}`)},
		}, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fmt.Sprint(marked(t, c.req)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The text before the mark of a request is a prefix of the next request, whatever the briefings say.
func TestLaterRequestsBeginWithTheMarkedPrefix(t *testing.T) {
	conversation := []agent.Message{{Role: agent.RoleSystem, Content: "Be brief."}, user("Hi.")}
	blocksOf := func(n int) (flat []string, lastMark int) {
		r := &request{}
		volatile := r.converse(append(conversation[:len(conversation):len(conversation)], agent.Message{
			Role: agent.RoleSystem, Content: fmt.Sprint("step ", n),
		}))
		r.cache(volatile)
		all := r.System
		for _, m := range r.Messages {
			all = append(all, m.Content...)
		}
		for i, b := range all {
			if b.CacheControl != nil {
				lastMark = i
			}
			b.CacheControl = nil
			flat = append(flat, encoded(b))
		}
		return flat, lastMark
	}
	var before []string
	for n := range 10 {
		now, mark := blocksOf(n)
		if len(before) > len(now) || strings.Join(before, "") != strings.Join(now[:len(before)], "") {
			t.Fatalf("step %d begins with %q, want %q", n, now, before)
		}
		before = now[:mark+1]
		id := fmt.Sprint("call", n)
		conversation = append(conversation,
			agent.Message{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{{ID: id, Name: "look"}}},
			agent.Message{Role: agent.RoleTool, ToolCallID: id, Content: fmt.Sprint("result ", n)})
	}
}

func TestHeaders(t *testing.T) {
	var got *http.Request
	m := &Model{
		Name: "m", Key: func() string { return "sk-1" },
		Header: func(h http.Header) { h.Set("anthropic-beta", "b") },
		Client: &http.Client{Transport: modeltest.Transport(func(r *http.Request) (*http.Response, error) {
			got = r
			return modeltest.Answers("").RoundTrip(r)
		})},
	}
	_, _ = m.Generate(t.Context(), agent.LLMRequest{})
	if got.URL.String() != "https://api.anthropic.com/v1/messages" || got.Header.Get("x-api-key") != "sk-1" ||
		got.Header.Get("anthropic-version") != "2023-06-01" || got.Header.Get("anthropic-beta") != "b" {
		t.Errorf("got %s, %v", got.URL, got.Header)
	}
}

func TestWrongConfigurations(t *testing.T) {
	for name, c := range map[string]struct {
		model *Model
		req   agent.LLMRequest
		want  string
	}{
		"no name": {&Model{}, agent.LLMRequest{}, "anthropic: the model has no name; set Name"},
		"no host": {&Model{Name: "m", URL: "localhost:80"}, agent.LLMRequest{}, "anthropic: the URL is not valid"},
		"JSON without a schema": {&Model{Name: "m"}, agent.LLMRequest{
			ResponseFormat: &agent.ResponseFormat{Type: "json_object"},
		}, "anthropic: the API has no response format without a schema; use json_schema with one"},
		"schema": {&Model{Name: "m"}, agent.LLMRequest{Tools: []agent.ToolSchema{{Name: "a", Parameters: raw("{")}}},
			"anthropic: the request cannot be encoded"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.model.Generate(t.Context(), c.req)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
