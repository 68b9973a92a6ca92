package openai

import (
	"encoding/json"
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

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func TestMessages(t *testing.T) {
	png := agent.Part{MediaType: "image/png", Data: []byte("png")}
	from := func(source string) string {
		return `{"type":"text","text":"This comes from ` + source + `, not from the user:"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}`
	}
	for name, c := range map[string]struct {
		messages []agent.Message
		want     string
	}{
		"system": {[]agent.Message{{Role: agent.RoleSystem, Name: agentspec.BriefingName, Content: "Be brief."}},
			`[{"role":"system","content":"Be brief."}]`},
		"user": {[]agent.Message{{Role: agent.RoleUser, Name: "ann b", Content: "Hi."}},
			`[{"role":"user","content":"Hi.","name":"ann_b"}]`},
		"interruption": {[]agent.Message{{Role: agent.RoleUser, Name: agentspec.InterruptionName, Content: "Stopped."}},
			`[{"role":"user","content":"Stopped."}]`},
		"images": {[]agent.Message{{Role: agent.RoleUser, Content: "See.", Parts: []agent.Part{
			png, {MediaType: "image/jpeg", URL: "https://example.com/a.jpg"},
		}}}, `[{"role":"user","content":[{"type":"text","text":"See."},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},` +
			`{"type":"image_url","image_url":{"url":"https://example.com/a.jpg"}}]}]`},
		"other parts": {[]agent.Message{{Role: agent.RoleUser, Parts: []agent.Part{
			{MediaType: "audio/wav", Data: []byte("wav")}, {MediaType: "audio/mpeg", Data: []byte("mp3")},
			{MediaType: "application/pdf", Data: []byte("pdf"), Name: "a.pdf"},
			{MediaType: "text/plain; charset=utf-8", Data: []byte("text"), Name: "a.txt"},
			{MediaType: "application/zip", Data: []byte("zip")}, {MediaType: "video/mp4", URL: "https://example.com/v"},
		}}}, `[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"d2F2","format":"wav"}},` +
			`{"type":"input_audio","input_audio":{"data":"bXAz","format":"mp3"}},` +
			`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,cGRm"}},` +
			`{"type":"text","text":"a.txt\ntext"},` +
			`{"type":"text","text":"[content of type application/zip, 3 bytes, which this API does not take]"},` +
			`{"type":"text","text":"[video/mp4: https://example.com/v]"}]}]`},
		"calls": {[]agent.Message{{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{
			{ID: "a", Name: "look", Args: raw(`{"at":1}`)}, {ID: "b", Name: "odd.name", Args: raw(`{"at`)}, {ID: "c"},
		}}}, `[{"role":"assistant","tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}},` +
			`{"id":"b","type":"function","function":{"name":"odd_name","arguments":"{\"args_text\":\"{\\\"at\"}"}},` +
			`{"id":"c","type":"function","function":{"name":"unknown","arguments":"{}"}}]}]`},
		"text and calls": {[]agent.Message{{Role: agent.RoleAssistant, Content: "I look.", Reasoning: "Hm.",
			ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "look"}}}},
			`[{"role":"assistant","content":"I look.","tool_calls":[` +
				`{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}}]}]`},
		"what the API must get back": {[]agent.Message{{Role: agent.RoleAssistant, Content: "Hi.",
			Extra: map[string]json.RawMessage{
				"reasoning_content": raw(`"Hm."`), "content": raw(`"other"`), "role": raw(`"user"`),
				"tool_calls": raw(`[{"extra_content":{"s":1},"id":"other"}]`),
			},
			ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "look"}}}},
			`[{"content":"Hi.","reasoning_content":"Hm.","role":"assistant","tool_calls":[{"extra_content":{"s":1},` +
				`"function":{"name":"look","arguments":"{}"},"id":"a","type":"function"}]}]`},
		"blocks of another API": {[]agent.Message{{Role: agent.RoleAssistant, Content: "Hi.",
			Extra: map[string]json.RawMessage{"content": raw(`[{"type":"thinking"}]`), "tool_calls": raw(`7`)}}},
			`[{"role":"assistant","content":"Hi."}]`},
		"images of results come after all results": {[]agent.Message{
			{Role: agent.RoleTool, Name: "see", ToolCallID: "a", Content: "Seen.", Parts: []agent.Part{png}},
			{Role: agent.RoleTool, Name: "look", ToolCallID: "b", Content: "error: no", IsError: true},
			{Role: agent.RoleUser, Content: "And?"},
		}, `[{"role":"tool","content":"Seen.\n(The content other than text is in the next user message.)",` +
			`"tool_call_id":"a"},` +
			`{"role":"tool","content":"error: no","tool_call_id":"b"},` +
			`{"role":"user","content":[{"type":"text","text":"This comes from the tool see (call a), not from the user:"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]},` +
			`{"role":"user","content":"And?"}]`},
		"an image alone at the end": {[]agent.Message{
			{Role: agent.RoleTool, Name: "see", ToolCallID: "a", Parts: []agent.Part{png}},
		}, `[{"role":"tool","content":"(The content other than text is in the next user message.)","tool_call_id":"a"},` +
			`{"role":"user","content":[{"type":"text","text":"This comes from the tool see (call a), not from the user:"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}]`},
		"images of a reply come after the results": {[]agent.Message{
			{Role: agent.RoleSystem, Content: "Draw.", Parts: []agent.Part{png}},
			{Role: agent.RoleAssistant, Content: "Drawn.", Reasoning: "Hm.", Parts: []agent.Part{png},
				ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "see"}}},
			{Role: agent.RoleTool, Name: "see", ToolCallID: "a", Content: "Seen."},
			{Role: agent.RoleAssistant, Parts: []agent.Part{png}},
		}, `[{"role":"system","content":"Draw."},` +
			`{"role":"user","content":[` + from("the system message above") + `]},` +
			`{"role":"assistant","content":"Drawn.","tool_calls":[` +
			`{"id":"a","type":"function","function":{"name":"see","arguments":"{}"}}]},` +
			`{"role":"tool","content":"Seen.","tool_call_id":"a"},` +
			`{"role":"user","content":[` + from("your own message above") + `]},` +
			`{"role":"assistant","content":""},` +
			`{"role":"user","content":[` + from("your own message above") + `]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := messages(c.messages)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := indented(t, data), indented(t, []byte(c.want)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	half, zero, big := 0.5, 0.0, uint64(1)<<63+5
	look := []agent.ToolSchema{{Name: "look", Description: "Looks."}}
	tools := `"tools":[{"type":"function","function":{"name":"look","description":"Looks.",` +
		`"parameters":{"type":"object","properties":{}}}}]`
	for name, c := range map[string]struct {
		req    agent.LLMRequest
		stream bool
		host   string
		want   string // after the model and the messages
	}{
		"nothing":      {agent.LLMRequest{}, false, "h", ``},
		"stream":       {agent.LLMRequest{}, true, "h", `"stream":true,"stream_options":{"include_usage":true}`},
		"temperature":  {agent.LLMRequest{Temperature: &half}, false, "h", `"temperature":0.5`},
		"zero":         {agent.LLMRequest{Temperature: &zero}, false, "h", `"temperature":0`},
		"seed":         {agent.LLMRequest{Seed: &big}, false, "h", `"seed":5`},
		"limit":        {agent.LLMRequest{MaxTokens: 9}, false, "h", `"max_tokens":9`},
		"openai limit": {agent.LLMRequest{MaxTokens: 9}, false, "api.openai.com", `"max_completion_tokens":9`},
		"azure limit":  {agent.LLMRequest{MaxTokens: 9}, false, "x.openai.azure.com", `"max_completion_tokens":9`},
		"own limit": {agent.LLMRequest{MaxTokens: 9, Extra: map[string]json.RawMessage{"max_completion_tokens": raw("7")}},
			false, "h", `"max_completion_tokens":7`},
		"tools":    {agent.LLMRequest{Tools: look}, false, "h", tools},
		"auto":     {agent.LLMRequest{Tools: look, ToolChoice: "auto"}, false, "h", tools + `,"tool_choice":"auto"`},
		"required": {agent.LLMRequest{Tools: look, ToolChoice: "required"}, false, "h", tools + `,"tool_choice":"required"`},
		"none":     {agent.LLMRequest{Tools: look, ToolChoice: "none"}, false, "h", tools + `,"tool_choice":"none"`},
		"one tool": {agent.LLMRequest{Tools: look, ToolChoice: "look"}, false, "h", tools +
			`,"tool_choice":{"type":"function","function":{"name":"look"}}`},
		"no tools": {agent.LLMRequest{ToolChoice: "required"}, false, "h", ``},
		"json": {agent.LLMRequest{ResponseFormat: &agent.ResponseFormat{Type: "json_object"}}, false, "h",
			`"response_format":{"type":"json_object"}`},
		"schema": {agent.LLMRequest{ResponseFormat: &agent.ResponseFormat{
			Type: "json_schema", Name: "an answer", Schema: raw(`{"type":"object"}`), Strict: true,
		}}, false, "h", `"response_format":{"type":"json_schema","json_schema":{"name":"an_answer",` +
			`"schema":{"type":"object"},"strict":true}}`},
		"extra": {agent.LLMRequest{Seed: &big, Extra: map[string]json.RawMessage{
			"seed": raw("null"), "top_p": raw("0.9"), "stream": raw("true"), "messages": raw("[]"),
			"stream_options": raw(`{"include_obfuscation":false}`),
		}}, true, "h", `"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true},"top_p":0.9`},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Model = "m"
			c.req.Messages = []agent.Message{{Role: agent.RoleUser, Content: "Hi."}}
			data, err := encode(c.req, c.stream, c.host)
			if err != nil {
				t.Fatal(err)
			}
			all := `{"model":"m","messages":[{"role":"user","content":"Hi."}],` + c.want
			if got, want := indented(t, data), indented(t, []byte(strings.TrimSuffix(all, ",")+"}")); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestHeadersAndAddress(t *testing.T) {
	var got *http.Request
	client := &http.Client{Transport: modeltest.Transport(func(r *http.Request) (*http.Response, error) {
		got = r
		return modeltest.Answers("").RoundTrip(r)
	})}
	for address, want := range map[string]string{
		"":                           "https://api.openai.com/v1/chat/completions",
		"http://localhost:11434/v1/": "http://localhost:11434/v1/chat/completions",
		"https://x.openai.azure.com/openai/deployments/d?api-version=1": "https://x.openai.azure.com/openai/deployments/" +
			"d/chat/completions?api-version=1",
	} {
		m := &Model{URL: address, Name: "m", Client: client, Key: func() string { return "sk-1" }}
		m.Header = func(h http.Header) {
			h.Del("Authorization")
			h.Set("api-key", "k")
		}
		_, _ = m.Generate(t.Context(), agent.LLMRequest{})
		if got.URL.String() != want || got.Header.Get("api-key") != "k" || got.Header.Get("Authorization") != "" {
			t.Errorf("%s: got %s, %v", address, got.URL, got.Header)
		}
	}
	_, _ = (&Model{Name: "m", Client: client}).Generate(t.Context(), agent.LLMRequest{})
	if _, ok := got.Header["Authorization"]; ok {
		t.Error("a key was sent")
	}
}

func TestWrongConfigurations(t *testing.T) {
	for name, c := range map[string]struct {
		model *Model
		req   agent.LLMRequest
		want  string
	}{
		"no name": {&Model{}, agent.LLMRequest{}, "openai: the model has no name; set Name"},
		"no host": {&Model{Name: "m", URL: "localhost:80"}, agent.LLMRequest{}, "openai: the URL is not valid"},
		"no URL":  {&Model{Name: "m", URL: "http://a b?key=secret"}, agent.LLMRequest{}, "openai: the URL is not valid"},
		"schema": {&Model{Name: "m"}, agent.LLMRequest{Tools: []agent.ToolSchema{{Name: "a", Parameters: raw("{")}}},
			"openai: the request cannot be encoded"},
		"extra": {&Model{Name: "m"}, agent.LLMRequest{Extra: map[string]json.RawMessage{"a": raw("{")}},
			`openai: the extra field "a" is not valid JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.model.Generate(t.Context(), c.req)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
