package fingerprint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func canonicalArgs(args []byte) []byte {
	var w writer
	w.args(args)
	return w.out
}

func TestArgumentsAreComparedByValue(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b" : 2, "a" : 1 }`, true},
		{`{"x":{"a":[1,2],"b":null}}`, `{"x":{"b":null,"a":[1,2]}}`, true},
		{``, `{}`, true},
		{` `, `{}`, true},
		{`{"n":1}`, `{"n":1.0}`, true},
		{`{"n":1}`, `{"n":10e-1}`, true},
		{`{"n":100}`, `{"n":1E+2}`, true},
		{`{"n":-0}`, `{"n":0.00}`, true},
		{`{"n":0.1}`, `{"n":1e-1}`, true},
		{`{"s":"A"}`, `{"s":"\u0041"}`, true},
		{`not json`, `not json`, true},

		{`{"n":1}`, `{"n":-1}`, false},
		{`{"n":1}`, `{"n":10}`, false},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, false},
		{`{"n":1e5000000000}`, `{"n":10e4999999999}`, true},
		{`{"n":1e-5000000000}`, `{"n":0.1e-4999999999}`, true},
		{`{"n":1e999999999999999999999}`, `{"n":1e999999999999999999998}`, false},
		{`{"n":1}`, `{"n":"1"}`, false},
		{`{"n":true}`, `{"n":"true"}`, false},
		{`{"n":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[[1],2]`, `[[1,2]]`, false},
		{`{"a":"b"}`, `["a","b"]`, false},
		{`{"a":"1\"1:b"}`, `{"a":"1","b":""}`, false},
		{`{"a":1} {"b":2}`, `{"a":1}`, false},
		{`not json`, `not  json`, false},
		{`{"a":1`, `{"a":1}`, false},
		{`{"path":"\udcff"}`, `{"path":"\udcfe"}`, false},
		{`{"\udcff":1}`, `{"\udcfe":1}`, false},
		{"{\"path\":\"\xff\"}", "{\"path\":\"\xfe\"}", false},
		{"{\"path\":\"\xff\"}", "{\"path\":\"\ufffd\"}", false},
		{"{\"path\":\"\ufffd\",\"n\":1}", "{\"n\":1,\"path\":\"\ufffd\"}", false},
		{"{\"\ufffd\":1,\"n\":1}", "{\"n\":1,\"\ufffd\":1}", false},
		{"{\"\ufffd\":1}", "{\"\ufffd\":1}", true},
		{`{"path":"\ud83d\ude00"}`, `{"path":"😀"}`, true},
	} {
		t.Run(c.a+" and "+c.b, func(t *testing.T) {
			a := Call(agent.ToolCallRequest{Name: "t", Args: json.RawMessage(c.a)})
			b := Call(agent.ToolCallRequest{Name: "t", Args: json.RawMessage(c.b)})
			if (a == b) != c.same {
				t.Errorf("equal is %t, want %t", a == b, c.same)
			}
		})
	}
}

func TestCallsOfOtherToolsDiffer(t *testing.T) {
	a := Call(agent.ToolCallRequest{Name: "t", Args: json.RawMessage(`{}`)})
	if b := Call(agent.ToolCallRequest{Name: "t{", Args: json.RawMessage(`}`)}); a == b {
		t.Error("the border between name and arguments makes no difference")
	}
	if b := Call(agent.ToolCallRequest{Name: "u", Args: json.RawMessage(`{}`)}); a == b {
		t.Error("the name makes no difference")
	}
	if Result(agent.ToolCallResult{Output: "x"}) == Result(agent.ToolCallResult{Err: "x"}) {
		t.Error("an output and an error with the same text are equal")
	}
}

func TestHostileArgumentsHaveAFingerprint(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000)
	huge := `{"a":"` + strings.Repeat("x", 5<<20) + `"}`
	for name, args := range map[string]string{
		"unclosed": deep, "deep": deep[:9000] + strings.Repeat("]", 9000), "large": huge, "not UTF-8": "\xff\xfe",
		"surrogate": `{"a":"\ud800"}`, "exponent": `1e`, "sign": `-`,
	} {
		t.Run(name, func(t *testing.T) {
			a := Call(agent.ToolCallRequest{Args: json.RawMessage(args)})
			if b := Call(agent.ToolCallRequest{Args: json.RawMessage(args + " x")}); a == b {
				t.Error("more text makes no difference")
			}
		})
	}
}

// FuzzCanonicalNumberKeepsTheValue checks that the canonical text of a number has the value of the number.
func FuzzCanonicalNumberKeepsTheValue(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "12e3", "1e-7", "120"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, n string) {
		var v float64
		if json.Unmarshal([]byte(n), &v) != nil || len(n) > 15 || strings.TrimSpace(n) != n || n == "null" {
			t.Skip()
		}
		var again float64
		if err := json.Unmarshal([]byte(canonicalNumber(n)), &again); err != nil || again != v {
			t.Errorf("%s became %s, which is %v (%v)", n, canonicalNumber(n), again, err)
		}
	})
}

// Objects whose keys have another order at every level are equal up to a bound of levels.
func TestDeepArgumentsAreComparedByValue(t *testing.T) {
	nest := func(levels int, a, b string) string {
		return strings.Repeat(a, levels) + "1" + strings.Repeat(b, levels)
	}
	for _, c := range []struct {
		levels int
		same   bool
	}{{maxDepth - 1, true}, {maxDepth + 1, false}} {
		x, y := nest(c.levels, `{"a":0,"b":`, `}`), nest(c.levels, `{"b":`, `,"a":0}`)
		if string(canonicalArgs([]byte(x))) == string(canonicalArgs([]byte(y))) != c.same {
			t.Errorf("%d levels: equal is not %v", c.levels, c.same)
		}
	}
}
