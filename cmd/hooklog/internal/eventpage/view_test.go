package eventpage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// TestLongTimelineIsPaged reads the timeline of a run with large events from a handler.
func TestLongTimelineIsPaged(t *testing.T) {
	long := `"` + strings.Repeat("x", 6<<20) + `"`
	e := event(1, "a", "P", long)
	e.Ballots = []hooklog.Ballot{{By: "hook", Decision: "Deny", Value: json.RawMessage(long)}}
	many := indexOf(t, e, e, e, e, e, e, e, e, e)
	h := NewHandler(many, "name", token, host)
	for _, c := range []struct{ path, want string }{
		{"/api/items?run=0", "0 1 2 3 4 5 true"},
		{"/api/items?run=0&from=6", "6 7 8 false"},
		{"/api/items?run=0&last=1", "3 4 5 6 7 8 true"},
		{"/api/items?run=0&before=3", "0 1 2 false"},
	} {
		t.Run(c.path, func(t *testing.T) {
			var got timelineView
			if err := json.NewDecoder(ask(h, c.path).Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, i := range got.Items {
				text += fmt.Sprint(i.At, " ")
			}
			if text += fmt.Sprint(got.More); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// TestTimelineShowsWhatWasFired checks the excerpts of payloads, by which a reader finds the call of a tool.
func TestTimelineShowsWhatWasFired(t *testing.T) {
	long := strings.Repeat("ä", 100)
	for _, c := range []struct{ name, payload, reason, want string }{
		{"a call", `{"name":"read_file"}`, "", `{"name":"read_file"}`},
		{"a decision with a reason", `{"name":"read_file"}`, "not now", ""},
		{"escapes for HTML", `"\u003cb\u003e \u0026 \\u003c \n"`, "", `"<b> & \\u003c \n"`},
		{"a long payload", `"` + long + `"`, "", `"` + strings.Repeat("ä", 79) + "…"},
		{"a text that is not UTF-8", "\"\x80\xff\"", "", `""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := event(1, "a", "P", c.payload)
			e.Reason = c.reason
			if got := fireOf(0, e, eventlog.Place{}).Excerpt; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestSumsDiffer checks the sums by which the page compares the fires of two runs.
func TestSumsDiffer(t *testing.T) {
	change := func(change func(*hooklog.Event)) hooklog.Event {
		e := event(1, "a", "P", `{"to":"you"}`)
		e.Decision, e.Final, e.Value = "Edit", json.RawMessage(`{"to":"me"}`), json.RawMessage("1")
		change(&e)
		return e
	}
	payload, result := sumsOf(change(func(*hooklog.Event) {}))
	for _, c := range []struct {
		name            string
		e               hooklog.Event
		payload, result bool // they are the same
	}{
		{"another time", change(func(e *hooklog.Event) { e.Seq, e.Time = 2, time.Time{} }), true, true},
		{"another payload", change(func(e *hooklog.Event) { e.Payload = json.RawMessage("2") }), false, true},
		{"another replacement", change(func(e *hooklog.Event) { e.Final = json.RawMessage("2") }), true, false},
		{"another exit", change(func(e *hooklog.Event) { e.Value = json.RawMessage("2") }), true, false},
		{"another contribution", change(func(e *hooklog.Event) { e.Collected = json.RawMessage("[]") }), true, false},
		{"the exit as replacement", change(func(e *hooklog.Event) { e.Final, e.Value = e.Value, e.Final }), true, false},
	} {
		if p, r := sumsOf(c.e); p == payload != c.payload || r == result != c.result {
			t.Errorf("%s: the sums are %d and %d, and were %d and %d", c.name, p, r, payload, result)
		}
	}
}

func TestGoodOutcomesAreNotWarnings(t *testing.T) {
	for name, want := range map[string]string{
		"completed": "good", "finish_reason": "good", "done": "good", "Allow": "good", "AllowOnce": "good", "Approve": "good",
		"OK": "good", "Passed": "good", "error": "bad", "model_error": "bad", "Deny": "exit", "Refuse": "exit", "Ask": "exit",
		"Disallow": "exit", "NotDone": "exit", "Okapi": "exit", "token_limit": "exit", "suspended": "exit", "unknown": "exit",
		"": "continue",
	} {
		t.Run(name, func(t *testing.T) {
			fire := event(1, "a", "OnPermission", "{}")
			if name != "" {
				fire.Decision = name
			}
			end := event(2, "b", "OnRunEnd", fmt.Sprintf(`{"stop":{"cause":%q}}`, name))
			v := &views{Index: indexOf(t, fire, end)}
			var kinds []string
			for n := range 2 {
				r, _, _ := v.Run(n)
				kinds = append(kinds, v.run(r).Summary.Kind)
			}
			kind := fireOf(0, fire, eventlog.Place{}).Kind
			wantKind := strings.Replace(want, "bad", "exit", 1) // exits with such names are unusual
			if name != "" && (kinds[0] != wantKind || kinds[1] != want) || kind != wantKind {
				t.Errorf("the exit is %q, the runs are %q, want %q", kind, kinds, want)
			}
		})
	}
	for _, rule := range []string{".chip.good { color: var(--good);", "li.good::before { background: var(--good)",
		"span.good { color: var(--good)"} {
		if !strings.Contains(pageCSS, rule) {
			t.Errorf("the page has no rule %s", rule)
		}
	}
	if strings.Contains(pageJS, "class: 'exit'") {
		t.Error("the script chooses the class of an exit without its name")
	}
}
