package eventpage

import (
	"strings"
	"testing"
)

func TestStepsHaveTheIDOfTheirAct(t *testing.T) {
	for _, c := range []struct{ name, point, payload, want string }{
		{"a text", "BeforeSend", `{"to":"you","id":"m1"}`, `"m1"`},
		{"a number", "AfterSend", `{"ID":12,"to":"you"}`, `12`},
		{"in the payload of BeforeX", "AfterSend", `{"mail":{"id":"m1"},"took":7}`, `"m1"`},
		{"of the act and of another thing", "AfterSend", `{"id":"m1","server":{"id":"s"}}`, `"m1"`},
		{"of two things", "AfterSend", `{"mail":{"id":"m1"},"server":{"id":"s"}}`, ""},
		{"an object", "BeforeSend", `{"id":{"a":1}}`, ""},
		{"null", "BeforeSend", `{"id":null,"mail":null}`, ""},
		{"none", "BeforeSend", `{"to":"you"}`, ""},
		{"another type", "BeforeSend", `["id"]`, ""},
		{"another point", "OnSend", `{"id":"m1"}`, ""},
		{"a very long payload", "BeforeSend", `{"id":"m1","text":"` + strings.Repeat("x", maxCompare) + `"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if s := spanOf(event(1, "a", c.point, c.payload)); s != nil {
				got = s.Call
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
