package eventlog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// FuzzIndex compares an index, which reads a text in two parts, with hooklog.Read.
func FuzzIndex(f *testing.F) {
	text := lines("a", "a/b") + "\n{\n" + lines("b/a")
	f.Add(text, 30)
	f.Add(text[:40]+text, 400)
	f.Add(strings.TrimSpace(text), len(text)-1)
	f.Add(strings.ReplaceAll(text, `"payload":{`, `"final":null,"payload":null,"x":{`), 0)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		x, path := open(t, text[:cut])
		first := x.Status().Generation
		appendTo(t, path, text[cut:])
		update(t, x)
		s := x.Status()
		if s.Generation != first {
			t.Fatal("the record was read again")
		}
		bad := map[int]bool{}
		for _, p := range s.Problems {
			bad[p.Line] = true
		}
		n := 0
		for e, err := range hooklog.Read(strings.NewReader(text)) {
			var damaged *hooklog.LineError
			if errors.As(err, &damaged) {
				if s.More == 0 && !bad[damaged.Line] {
					t.Errorf("%v: not reported", err)
				}
				continue
			}
			names := []string{e.Spec, e.Point, e.Run.ID, e.Run.Parent, e.Decision, e.By}
			if slices.ContainsFunc(names, func(name string) bool { return len(name) > 4096 }) {
				continue
			}
			if n >= s.Events {
				if s.More == 0 && len(bad) == 0 {
					t.Errorf("the index has %d events, and not the one of %s", s.Events, e.Time)
				}
				break
			}
			got, place, err := x.Event(n)
			if err != nil {
				t.Fatal(err)
			}
			if bad[place.Line] {
				return // text follows the event in its line, which only one of both could see
			}
			if got.Point != e.Point || got.Seq != e.Seq || got.Run.ID != e.Run.ID {
				t.Fatalf("event %d is %v, want %v", n, got, e)
			}
			n++
		}
		for i := range s.Runs {
			if _, _, ok := x.Run(i); !ok {
				t.Errorf("run %d is missing", i)
			}
			x.Items(i, eventlog.Window{Most: 10})
			x.Items(i, eventlog.Window{Last: true, Before: s.Events, Most: 10, Kind: eventlog.Decisions})
		}
		x.Find(t.Context(), eventlog.Query{Text: "you"}, s.Events, 10)
	})
}
