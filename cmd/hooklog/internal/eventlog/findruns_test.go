package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// manyRuns writes the runs a to e, with a run below a that has its own tenant and cost.
func manyRuns(t *testing.T) *eventlog.Index {
	end := func(seq int64, run, tenant, cause, cost string) string {
		e := event(seq, run)
		e.Point, e.Run.Labels = "OnRunEnd", map[string]string{"tenant": tenant}
		e.Payload = fmt.Appendf(nil, `{"stop":{"cause":%q},"usage":{"cost":%s}}`, cause, cost)
		return line(e)
	}
	denied, failed, slow := event(12, "d"), event(13, "e"), event(14, "e")
	denied.Decision = "Deny"
	failed.Failures = []hooklog.Failure{{By: "hook", Cause: "out of paper"}}
	slow.Elapsed = time.Second
	x, _ := open(t, lines("a", "b", "a/sub")+end(5, "sub", "other", "error", "100")+end(6, "a", "acme", "completed", "2")+
		end(7, "b", "acme", "completed", "3")+end(10, "c", "corp", "error", "-1")+line(denied)+line(failed)+line(slow))
	return x
}

func TestFindRuns(t *testing.T) {
	x := manyRuns(t)
	for _, c := range []struct {
		name  string
		q     eventlog.Query
		order string
		want  string
	}{
		{"the newest", eventlog.Query{}, eventlog.Newest, "e d c b a"},
		{"the longest", eventlog.Query{}, eventlog.Longest, "b a e d c"},
		{"the dearest", eventlog.Query{}, eventlog.Dearest, "b a e d c"},
		{"the fullest", eventlog.Query{}, eventlog.Fullest, "a e b d c"},
		{"with the most failures", eventlog.Query{}, eventlog.Failures, "e d c b a"},
		{"with an outcome", eventlog.Query{Outcome: "completed"}, eventlog.Newest, "b a"},
		{"with an exit", eventlog.Query{Outcome: "Deny"}, eventlog.Newest, "d"},
		{"with a failure and a fire after it", eventlog.Query{Outcome: "failed"}, eventlog.Newest, "e"},
		{"with an outcome in no run", eventlog.Query{Outcome: "suspended"}, eventlog.Newest, ""},
		{"of a tenant", eventlog.Query{Tenant: "acme"}, eventlog.Fullest, "a b"},
		{"of an unknown tenant", eventlog.Query{Tenant: "none"}, eventlog.Newest, ""},
		{"of the tenant of a run below", eventlog.Query{Tenant: "other"}, eventlog.Newest, ""},
		{"with a cost", eventlog.Query{MinCost: 2.5}, eventlog.Newest, "b"},
		{"with a duration", eventlog.Query{MinDuration: 5 * time.Second}, eventlog.Newest, "b a"},
		{"with a text", eventlog.Query{Text: "PAPER"}, eventlog.Newest, "e"},
		{"with a text in a run below", eventlog.Query{Text: "sub"}, eventlog.Newest, "a"},
		{"with a decision", eventlog.Query{Decision: "Deny"}, eventlog.Dearest, "d"},
		{"with slow hooks", eventlog.Query{Kind: eventlog.Slow}, eventlog.Newest, "e"},
		{"with two conditions", eventlog.Query{Point: "OnRunEnd", Tenant: "acme"}, eventlog.Longest, "b a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for most := 1; most <= 6; most++ {
				var got []string
				for mark := &eventlog.Start; mark != nil; {
					var runs []eventlog.Run
					runs, mark = x.FindRuns(t.Context(), c.q, c.order, *mark, most, time.Minute)
					if len(runs) > most {
						t.Errorf("%d runs, and want at most %d", len(runs), most)
					}
					for _, r := range runs {
						got = append(got, r.ID)
					}
				}
				if text := strings.Join(got, " "); text != c.want {
					t.Errorf("%d at once: got %q, want %q", most, text, c.want)
				}
			}
		})
	}
}

// TestFindKnowsTheRun finds fires by the tenant of the run above them.
func TestFindKnowsTheRun(t *testing.T) {
	x := manyRuns(t)
	found, _ := x.Find(t.Context(), eventlog.Query{Tenant: "acme", Point: "OnRunEnd"}, 100, 10)
	if fmt.Sprint(found) != "[5 4 3]" {
		t.Errorf("got %v", found)
	}
}

func TestFindRunsMakesProgress(t *testing.T) {
	x := manyRuns(t)
	var got []string
	for mark := &eventlog.Start; mark != nil; {
		var runs []eventlog.Run
		runs, mark = x.FindRuns(t.Context(), eventlog.Query{Text: "you"}, eventlog.Newest, *mark, 10, 0)
		for _, r := range runs {
			got = append(got, r.ID)
		}
	}
	if text := strings.Join(got, " "); text != "e d b a" {
		t.Errorf("got %q without any time", text)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	runs, next := x.FindRuns(ended, eventlog.Query{}, eventlog.Newest, eventlog.Start, 10, time.Minute)
	if len(runs) > 0 || next == nil {
		t.Errorf("got %d runs after the end of the context", len(runs))
	}
}

func TestRunsHaveResults(t *testing.T) {
	for _, c := range []struct {
		name    string
		events  []string // payloads
		outcome string
		cost    float64
	}{
		{"a result", []string{`{"stop":{"cause":"completed"},"usage":{"cost":0.5}}`}, "completed", 0.5},
		{"a result, and an observer after it", []string{`{"stop":{"cause":"completed"}}`, `1`}, "completed", 0},
		{"two results", []string{
			`{"stop":{"cause":"suspended"}}`, `{"stop":{"cause":"error"},"usage":{"cost":2}}`,
		}, "error", 2},
		{"other types", []string{`{"stop":{"cause":1}}`, `{"stop":"cause"}`, `["stop","cause"]`}, "", 0},
		{"another cost", []string{`{"stop":{"cause":"completed"},"usage":{"cost":"much"}}`}, "", 0},
		{"a long cause", []string{fmt.Sprintf(`{"stop":{"cause":%q}}`, strings.Repeat("x", 5000))}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			for i, payload := range c.events {
				e := event(int64(i), "a")
				e.Payload = json.RawMessage(payload)
				text += line(e)
			}
			x, _ := open(t, text)
			r, _, _ := x.Run(0)
			if r.Outcome != c.outcome || r.Cost != c.cost {
				t.Errorf("the outcome is %q with cost %v, want %q and %v", r.Outcome, r.Cost, c.outcome, c.cost)
			}
		})
	}
}

func TestNumbersCountRuns(t *testing.T) {
	n := manyRuns(t).Numbers()
	got := fmt.Sprint(n.Events, n.Runs, n.SubRuns, len(n.Points), len(n.Hooks))
	for _, g := range append(n.Outcomes, n.Tenants...) {
		got += fmt.Sprintf("; %s %d %d %d %v %v", g.Name, g.Runs, g.Fires, g.Failures, g.Cost, g.Duration)
	}
	want := "10 6 1 2 1; completed 2 6 0 5 10.002s; Deny 1 1 0 0 1ms; error 1 1 0 0 1ms; failed 1 2 1 0 2s; " +
		" 2 3 1 0 2.001s; acme 2 6 0 5 10.002s; corp 1 1 0 0 1ms"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
