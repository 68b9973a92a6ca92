package window

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzNames checks that argumentNames returns only legal names, whatever the arguments.
func FuzzNames(f *testing.F) {
	for _, s := range fixture.HostileJSON {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		call := agent.ToolCallRequest{ID: "1", Name: "t", Args: args}
		names := argumentNames([]agent.Message{{ToolCalls: []agent.ToolCallRequest{call, call}}})
		for i, name := range names {
			if !couldBeName(name) || i >= maxNames {
				t.Errorf("%q is name %d of %s", name, i, args)
			}
		}
	})
}

// FuzzRecall checks that the recall tool returns only stored texts, whatever the arguments.
func FuzzRecall(f *testing.F) {
	for _, s := range append([]string{
		`{"key":"result-0123456789abcdef","offset":1e1}`, `{"key":"result-0123456789abcdef","offset":-1e300}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	store := new(session.Map)
	const kept = "a résumé of 24 characters"
	if err := store.Put(f.Context(), storeKey(agent.Identity{}, "result-0123456789abcdef"), []byte(kept)); err != nil {
		f.Fatal(err)
	}
	recall := RecallTool{Store: store, MaxChars: 10}
	f.Fuzz(func(t *testing.T, args []byte) {
		call := agent.ToolCallRequest{ID: "1", Name: "t", Args: args}
		piece, err := recall.Call(t.Context(), call)
		var refused *agent.ToolError
		text, _, _ := strings.Cut(piece, "\n[characters ")
		if err != nil && !errors.As(err, &refused) || err == nil &&
			(utf8.RuneCountInString(text) > 10 || !strings.Contains(kept, text)) {
			t.Errorf("recalled with %s: %q, %v", args, piece, err)
		}
	})
}

// FuzzResultSummary checks that every summary is bounded and valid UTF-8.
func FuzzResultSummary(f *testing.F) {
	for _, s := range append([]string{
		`[{"a":1},"b",null,4]`, `[1,2] and more`, `{"a":"b@c.org","b":["4111 1111 1111 1111",4111111111111111],"c@d.org":{}}`,
		strings.Repeat("é", 700), `["` + strings.Repeat("x", 700) + `"]`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, output string) {
		text := resultSummary(output, "")
		if len(text) > maxSummaryBytes || utf8.ValidString(output) && !utf8.ValidString(text) ||
			!strings.HasPrefix(text, summaryPrefix) {
			t.Errorf("%q is summarised as %q", output, text)
		}
	})
}
