package otel

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestReasonsDoNotQuotePayloads(t *testing.T) {
	call := agent.ToolCallRequest{
		Name: "shell", Args: json.RawMessage(`{"command":"rm -rf /home/Ann/keys\u002epem\n42 ü"}`),
	}
	for _, c := range []struct {
		name, reason string
		payload      any
		want         string
	}{
		{"no quote", "not on weekends", call, "not on weekends"},
		{"name of the tool", "the shell is off", call, "the shell is off"},
		{"a path", `denied: "/home/ann/keys.pem" is private`, call, `denied: "/…" is private`},
		{"in other capitals", "no HOME", call, "no …"},
		{"the beginning of a word", "secret com… denied", call, "secret …… denied"},
		{"a number", "code 42", call, "code …"},
		{"at the end", "no home.", call, "no …"},
		{"no payload", "home", nil, "home"},
		{"enumerations", "a tool message", agent.Message{Role: agent.RoleTool, Content: "x"}, "a tool message"},
		{"of messages", "it says attack", agent.LLMRequest{Messages: []agent.Message{{Content: "Attack!"}}}, "it says …"},
		{"without spaces", "不允许密码", agent.Message{Content: "我的密码"}, "不允许…"},
		{"an escape", "no ärger", agent.ToolCallRequest{Args: json.RawMessage(`{"a":"\u00c4rger"}`)}, "no …"},
		{"a huge payload", "fine", agent.Message{Content: strings.Repeat("x ", maxPayload)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := withoutQuotes(c.reason, c.payload); got != c.want {
				t.Errorf("%q, not %q", got, c.want)
			}
		})
	}
}

// No word of the result that is long enough to be compared occurs in the payload.
func FuzzReasonsDoNotQuotePayloads(f *testing.F) {
	f.Add("denied: rm -rf /home", "rm -rf /home")
	f.Add("不允许密码", "我的密码")
	f.Add("İstanbul ǅ ß", "istanbul Ǆ SS")
	f.Add("a\xffbcd", "bcd\xff")
	f.Fuzz(func(t *testing.T, reason, payload string) {
		got := withoutQuotes(reason, payload)
		if payload == "" || strings.ToValidUTF8(payload, "") != payload {
			return
		}
		words := strings.FieldsFunc(got, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || unspaced(r)
		})
		for _, word := range words {
			if compared([]rune(word)) && strings.Contains(strings.ToLower(payload), strings.ToLower(word)) {
				t.Errorf("%q has the word %q of %q", got, word, payload)
			}
		}
	})
}
