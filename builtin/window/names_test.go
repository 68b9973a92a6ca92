package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestNamesAreTextsWithoutSpaces(t *testing.T) {
	pad := func(text string, n int) string { return text + strings.Repeat(" ", n-len(text)) }
	nested := func(n int) string {
		return strings.Repeat("[", n/2) + strings.Repeat(`{"k":`, n-n/2) + `"deep"` + strings.Repeat("}", n-n/2) +
			strings.Repeat("]", n/2)
	}
	var many, manyNames []string
	for i := range 600 {
		many = append(many, fmt.Sprintf(`"n%03d"`, i))
		if i < 500 {
			manyNames = append(manyNames, fmt.Sprintf("n%03d", i))
		}
	}
	for _, c := range []struct {
		name string
		args []string // of one call each
		want []string
	}{
		{"each once, in order", []string{`{"a":"one.go","b":["two.go","one.go"]}`, `{"key":"two.go"}`},
			[]string{"one.go", "two.go"}},
		{"invalid arguments", []string{`{"a":"bad.go"`, `["bad.go",`, ``, `{"a":"good.go"}`}, []string{"good.go"}},
		{"64 KB", []string{pad(`"long"`, 64<<10), pad(`"longer"`, 64<<10+1), `"short"`}, []string{"long", "short"}},
		{"ten levels", []string{nested(10)}, []string{"deep"}},
		{"many levels", []string{nested(300)}, []string{"deep"}},
		{"length", []string{`["ab","abc","` + strings.Repeat("ä", 80) + `","` + strings.Repeat("ö", 81) + `"]`},
			[]string{"abc", strings.Repeat("ä", 80)}},
		{"characters", []string{`["123","1a3","a b","a\tb","a\u0000b","a\u00a0b"]`}, []string{"1a3"}},
		{"at most 500", []string{"[" + strings.Join(many, ",") + "]"}, manyNames},
	} {
		t.Run(c.name, func(t *testing.T) {
			var message agent.Message
			for _, args := range c.args {
				message.ToolCalls = append(message.ToolCalls, agent.ToolCallRequest{Args: json.RawMessage(args)})
			}
			if got := argumentNames([]agent.Message{message}); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNoteListsNamesThatAreGone(t *testing.T) {
	known := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("name", i))
		}
		return names
	}
	call := func(args ...string) (m agent.Message) {
		for _, a := range args {
			m.ToolCalls = append(m.ToolCalls, agent.ToolCallRequest{Args: json.RawMessage(a)})
		}
		return m
	}
	for _, c := range []struct {
		name     string
		known    []string
		messages []agent.Message
		want     string // the end of the note
	}{
		{"two", known(2), nil, ""},
		{"three", known(3), nil, ": name0, name1, name2"},
		{"eight", known(8), nil, "name6, name7"},
		{"nine", known(9), nil, "name6, name7 and 1 more"},
		{"one remains in a text", known(4), []agent.Message{{Content: "see name3"}}, ": name0, name1, name2"},
		{"one remains in a call", known(4), []agent.Message{call("name0")}, ": name1, name2, name3"},
		{"two texts are not one", []string{"ab", "xy1", "xy2"}, []agent.Message{{Content: "a"}, {Content: "b"}},
			": ab, xy1, xy2"},
		{"two calls are not one", []string{"ab", "xy1", "xy2"}, []agent.Message{call("a", "b")}, ": ab, xy1, xy2"},
		{"forged lines", []string{"a\n## b", "xy1", strings.Repeat("c", 200)}, nil,
			": a ## b, xy1, " + strings.Repeat("c", 79) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := hiddenNote(c.known, c.messages)
			if !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want the end %q", got, c.want)
			}
		})
	}
}

func TestRecallKeyIsReadFromTheNote(t *testing.T) {
	const key = "result-0123456789abcdef"
	for body, want := range map[string]string{
		"text" + recallNote + key + "]":                    key,
		recallNote + key + "]":                             key,
		"text" + recallNote + key:                          "",
		"text" + recallNote + "none]":                      "",
		"123456789012" + key + "]":                         "",
		"text" + recallNote + key + "0]":                   "",
		"text" + recallNote + key[:22] + "]":               "",
		"text" + recallNote + "result-0123456789ABCDEF]":   "",
		"text" + recallNote + "0123456789abcdef]":          "",
		"text" + recallNote + "0123456789abcdef1234567]":   "",
		"text" + recallNote + key + "] and more " + "text": "",
		"": "",
	} {
		t.Run(body, func(t *testing.T) {
			if got := keyOfWhole(body); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
