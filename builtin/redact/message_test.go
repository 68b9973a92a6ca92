package redact

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// filled returns a message in which each text that a model or a tool chose is made by text.
func filled(text func(place string) string) agent.Message {
	return agent.Message{
		Role: agent.Role(text("role")), Name: text("name"), ToolCallID: text("id"), Content: text("content"),
		Reasoning: text("reasoning"),
		ToolCalls: []agent.ToolCallRequest{
			{ID: text("call id"), Name: text("tool"), Args: []byte(`{"a":"` + text("args") + `"}`)},
			{ID: "2", Name: "b", Args: []byte(`{"a":"` + text("broken args"))}, {ID: "3", Name: "c"},
		},
		Extra: map[string]json.RawMessage{"x": json.RawMessage(`["` + text("extra") + `"]`), "y": json.RawMessage(`{`)},
		Parts: []agent.Part{
			{MediaType: text("type"), URL: text("url"), Name: text("part"), Data: []byte(text("data"))},
			{MediaType: "image/png", Data: []byte{0xff, 0xd8}},
		},
	}
}

func TestEveryTextOfAMessageIsRedacted(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	secret := func(place string) string { return place + " " + token + " end" }
	marked := func(place string) string { return place + " [REDACTED:github-token] end" }
	r := &Redactor{}
	given := filled(secret)
	if got, want := r.Message(given), filled(marked); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(given, filled(secret)) {
		t.Error("the message itself was changed")
	}

	reply := func(text func(string) string) agent.LLMResponse {
		m := filled(text)
		return agent.LLMResponse{
			Content: m.Content, Reasoning: m.Reasoning, ToolCalls: m.ToolCalls, Extra: m.Extra, Parts: m.Parts,
			FinishReason: text("reason"), Model: text("model"), ID: text("reply"), Usage: agent.Usage{Input: 3}, Step: 2,
		}
	}
	if got, want := r.Response(reply(secret)), reply(marked); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	request := agent.LLMRequest{Messages: []agent.Message{filled(secret), filled(secret)}, Model: "m", Step: 4}
	want := agent.LLMRequest{Messages: []agent.Message{filled(marked), filled(marked)}, Model: "m", Step: 4}
	if got := r.Request(request); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !strings.Contains(request.Messages[0].Content, token) {
		t.Error("the request itself was changed")
	}
}

func TestCutJSONKeepsValidAndInvalidData(t *testing.T) {
	long := strings.Repeat("a ", 200<<10)
	for name, c := range map[string]struct{ data, want string }{
		"nothing":   {"", ""},
		"an object": {`{"password":"hunter2","a":[1,true,null]}`, `{"a":[1,true,null],"password":"[REDACTED]"}`},
		"invalid":   {`{"password":"hunter2",`, `"{\"password\":\"[REDACTED]\","`},
		"a text":    {`"password=hunter2"`, `"password=[REDACTED]"`},
		"large":     {`["` + long + `"]`, `"[\"a a a a a a a a a a a a a a a a a a a…"`},
		"long text": {`["` + long[:1000] + `"]`, `["a a a a a a a a a a a a a a a a a a a a…"]`},
		"large end": {`{"a":"` + long + `password=hunter2"}`, `"{\"a\":\"a a a a a a a a a a a a a a a a a…"`},
		"exact":     {`["` + strings.Repeat("b", 40) + `"]`, `["` + strings.Repeat("b", 40) + `"]`},
		"one more":  {`["` + strings.Repeat("b", 41) + `"]`, `["` + strings.Repeat("b", 39) + `…"]`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string((&Redactor{}).CutJSON([]byte(c.data), 40)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPatternsAndRulesMayOverlap(t *testing.T) {
	r := &Redactor{Patterns: []*regexp.Regexp{
		regexp.MustCompile(`order-\d+`), regexp.MustCompile(`x=hun`), regexp.MustCompile(`\d+-z`), regexp.MustCompile(`q*`),
	}}
	for text, want := range map[string]string{
		"order-17 of bob":           "[REDACTED] of bob",
		"order-17-z":                "[REDACTED]",
		"password=hunter2 order-1":  "password=[REDACTED] [REDACTED]",
		"x=hunter2":                 "[REDACTED]ter2",
		"order-1 password: hunter2": "[REDACTED] password: [REDACTED]",
		"nothing":                   "nothing",
	} {
		t.Run(text, func(t *testing.T) {
			if got := unkinded(r.Text(text)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := unkinded(r.CutText(text+strings.Repeat(" y", 3000), 100)); !strings.HasPrefix(got, want+" y") {
				t.Errorf("truncated: got %q, want %q", got, want)
			}
		})
	}
}
