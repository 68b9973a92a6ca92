package memory

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func FuzzMemoryFile(f *testing.F) {
	fixture.SeedFiles(f, `{"facts":[],"preferences":[],"episodes":[]}`,
		`{"facts":[{"id":"a","key":"k","value":{"a":[1]},"scope":"s","source":1,`+
			`"updated_at":1.5,"valid_from":null,"valid_to":-1,"invalidated_at":1e11,"supersedes":"a"},`+
			`{"key":"k","value":null,"scope":"s"},{"key":"k","scope":"s"}],`+
			`"preferences":[{"key":"p","value":"a","updated_at":253402300799},{"key":"p","value":2}],`+
			`"episodes":[{"kind":"a","payload":null,"outcome":true,"timestamp":1,`+
			`"agent":"a"},{"payload":{"a":1}}]}`,
		`{"facts":[{"key":"k","updated_at":-62135596800,"valid_from":1e-9}]}`,
		`{"episodes":[{"kind":"\u2028","payload":{"a":{"b":["<1>"]},"\u0085":1,"c":"\r"},`+
			`"outcome":[1, 2]},{"payload":["a"]}]}`)
	f.Fuzz(func(t *testing.T, data []byte) {
		given := new(Map)
		episode := Episode{Kind: string(data), Payload: data, Outcome: string(data)}
		if err := given.AddEpisode(t.Context(), episode); err != nil {
			t.Error(err)
		}
		renderedHolds(t, given)
		m := new(knowledge)
		if err := m.decode(data, memoryBegin); err != nil {
			return
		}
		first, err := m.encode()
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", data, err)
		}
		again := new(knowledge)
		if err := again.decode(first, memoryBegin); err != nil {
			t.Fatalf("%s was written and cannot be read: %v", first, err)
		}
		if second, err := again.encode(); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s came back as %s (%v)", first, second, err)
		}
		if is, was := renderedHolds(t, holding(again)), renderedHolds(t, holding(m)); is != was {
			t.Errorf("%s is rendered as %q, and as %q when it was written and read", data, was, is)
		}
		standing := make(map[factKey]bool)
		for _, fact := range m.facts {
			at := keyOf(fact.Key, fact.Scope)
			if fact.Current() && standing[at] {
				t.Errorf("two facts stand under %v: %+v", at, m.facts)
			}
			standing[at] = standing[at] || fact.Current()
		}
	})
}

// holding returns a store with a common memory.
func holding(k *knowledge) Store {
	m := new(Map)
	m.keep(agent.Identity{}, k)
	return m
}

// renderedHolds checks that each entry of a store is rendered as one line of limited length. It returns the text.
func renderedHolds(t *testing.T, m Store) string {
	t.Helper()
	const most = 4
	text, err := Render(t.Context(), m, most, most)
	if again, _ := Render(t.Context(), m, most, most); err != nil || again != text {
		t.Errorf("rendered as %q, %v, then as %q", text, err, again)
	}
	preferences, _ := m.Preferences(t.Context())
	facts, _ := m.Facts(t.Context(), "")
	episodes, _ := m.Recent(t.Context(), most, "")
	entries := min(len(preferences), most) + min(len(facts), most) + len(episodes)
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			entries--
		case line == "Known preferences:", line == "Known facts:", line == "Recent outcomes:", text == "":
		default:
			t.Errorf("%q is neither a title nor an entry", line)
		}
		if utf8.RuneCountInString(line) > 700 || !fixture.IsLine(line) {
			t.Errorf("a line is %q", line)
		}
	}
	if entries != 0 {
		t.Errorf("%d entries have no line: %q", entries, text)
	}
	return text
}
