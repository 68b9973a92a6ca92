package memory

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
)

// FuzzJournal checks that a memory whose stored text was changed is read or an error, and that a fact which is put then
// is found.
func FuzzJournal(f *testing.F) {
	for _, s := range append([]string{
		`[]`, `[{"id":"1","seq":1,"key":"k","value":"v","scope":"global","time":"2030-01-02T03:04:05Z"}]`,
		`[{"id":"1","seq":9223372036854775807,"key":"k","forget":true},{"id":"1"}]`,
	}, fixture.HostileJSON...) {
		f.Add(s, "0000000000000001-a")
	}
	f.Fuzz(func(t *testing.T, value, name string) {
		in := new(session.Map)
		if err := in.Put(t.Context(), "memory////fact/"+name, []byte(value)); err != nil {
			t.Fatal(err)
		}
		m := &Facts{In: in}
		if _, _, err := m.Search(t.Context(), Query{Text: "v"}); err != nil {
			return
		}
		if err := m.Put(t.Context(), Fact{Key: "the new fact", Value: "fact"}); err != nil {
			t.Fatal(err)
		}
		found, _, err := m.Search(t.Context(), Query{})
		isNew := func(f Fact) bool { return f.Key == "the new fact" && f.Value == "fact" }
		if err != nil || !slices.ContainsFunc(found, isNew) {
			t.Errorf("the new fact is not in %+v, %v", found, err)
		}
	})
}
