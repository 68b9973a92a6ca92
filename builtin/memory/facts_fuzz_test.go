package memory

import (
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
)

// FuzzReadFacts checks that facts are read equally if text and a code fence surround them.
func FuzzReadFacts(f *testing.F) {
	for _, s := range append([]string{
		`{"facts":[{"kind":"remember","text":"a"}]}`, `{"facts":[]}`, `{"facts":null}`, `{}`, `}{`, `{"facts":[null]}`,
		`{"FACTS":[{"Kind":"x","Text":"}{"}]}`, "```json\n{\"facts\":[{\"text\":\" \"}]}\n```",
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		facts, err := readFacts(reply)
		if err != nil {
			if facts != nil {
				t.Errorf("%q cannot be read (%v) and has %+v", reply, err, facts)
			}
			return
		}
		for _, fact := range facts {
			if strings.TrimSpace(fact.Text) == "" {
				t.Errorf("%q has an empty fact", reply)
			}
		}
		again, err := readFacts("So:\n```json\n" + string(jsonx.Encode(map[string]any{"facts": facts})) + "\n```")
		if len(facts) > 0 && (err != nil || !reflect.DeepEqual(again, facts)) {
			t.Errorf("%+v are %+v, %v", facts, again, err)
		}
	})
}
