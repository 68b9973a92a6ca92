package declared

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

func TestCallsAreSelected(t *testing.T) {
	for _, c := range []struct {
		name    string
		m       matcher
		payload string
		want    bool
	}{
		{"everything", matcher{}, `{"name":"x"}`, true},
		{"tool", matcher{tools: []string{"y", "x*"}}, `{"name":"x1"}`, true},
		{"other tool", matcher{tools: []string{"y"}}, `{"name":"x"}`, false},
		{"tool of a result", matcher{tools: []string{"x"}}, `{"call":{"name":"x"},"output":"y"}`, true},
		{"other tool of a result", matcher{tools: []string{"y"}}, `{"call":{"name":"x"},"name":"y"}`, false},
		{"arguments", matcher{when: permission.Expr("args.n > 1")}, `{"name":"x","args":{"n":2}}`, true},
		{"other arguments", matcher{when: permission.Expr("args.n > 1")}, `{"name":"x","args":{"n":1}}`, false},
		{"arguments of a result", matcher{when: permission.Expr("args.n > 1")}, `{"call":{"args":{"n":1}}}`, false},
		{"unexpected arguments", matcher{when: permission.Expr("args.n > 1")}, `{"name":"x","args":{"n":"a"}}`, true},
		{"tool and other arguments", matcher{tools: []string{"x"}, when: permission.Expr("args.n > 1")},
			`{"name":"x","args":{"n":1}}`, false},
		{"not a call", matcher{tools: []string{"y"}}, `[1]`, true},
		{"not JSON", matcher{tools: []string{"y"}}, `{`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.m.selects([]byte(c.payload)); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestHeaderNamesAreTokens(t *testing.T) {
	for name, want := range map[string]bool{
		"": false, "a": true, "Z": true, "a1-B_2": true, "0": true, "9": true, "!#$%&'*+-.^_`|~": true,
		"a b": false, "a:": false, "é": false, "a\n": false, "/": false, "[": false, "@": false, "{": false, "a\x00": false,
	} {
		if got := isToken(name); got != want {
			t.Errorf("%q is a token: %t", name, got)
		}
	}
}
