package eventlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

func TestFind(t *testing.T) {
	rich := event(1, "run-1")
	rich.Point, rich.Decision, rich.By, rich.Site = "BeforeTool", "Deny", "shell.Guard", "main.go:7"
	rich.Reason, rich.Error, rich.Run.Labels = "not <now>", "it broke", map[string]string{"user": "Zoë"}
	rich.Payload = json.RawMessage(`{"text":"a \"quoted\" \u003cb\u003e \uD83D\uDE00 line\nbreak Größe"}`)
	vote := hooklog.Ballot{By: "voter", Site: "votes.go:1", Decision: "Abstain", Value: json.RawMessage(`"ballot"`)}
	rich.Ballots = []hooklog.Ballot{vote}
	rich.Failures = []hooklog.Failure{{By: "failing", Cause: "out of paper"}}
	rich.Collected = json.RawMessage(`["gathered"]`)
	rich.Key, rich.Slow = json.RawMessage(`"the key"`), []hooklog.SlowHook{{By: "late", Site: "late.go:2"}}
	x, _ := open(t, line(rich)+lines("run-2", "run-3"))
	for _, c := range []struct {
		name string
		q    eventlog.Query
		want string
	}{
		{"everything", eventlog.Query{}, "[2 1 0]"},
		{"a run", eventlog.Query{Text: "run-2"}, "[1]"},
		{"a point", eventlog.Query{Text: "beforetool"}, "[0]"},
		{"a hook", eventlog.Query{Text: "SHELL.guard"}, "[0]"},
		{"a site", eventlog.Query{Text: "main.go:7"}, "[0]"},
		{"a reason", eventlog.Query{Text: "not <now>"}, "[0]"},
		{"an error", eventlog.Query{Text: "it broke"}, "[0]"},
		{"a label", eventlog.Query{Text: "ZOË"}, "[0]"},
		{"a quote", eventlog.Query{Text: `a "QUOTED" <b>`}, "[0]"},
		{"an emoji", eventlog.Query{Text: "😀"}, "[0]"},
		{"a line break", eventlog.Query{Text: "line\nbreak"}, "[0]"},
		{"another alphabet", eventlog.Query{Text: "GRÖSSE"}, "[]"},
		{"an umlaut", eventlog.Query{Text: "GRÖ"}, "[0]"},
		{"a voter", eventlog.Query{Text: "votes.go"}, "[0]"},
		{"a ballot", eventlog.Query{Text: "ballot"}, "[0]"},
		{"a failure", eventlog.Query{Text: "out of paper"}, "[0]"},
		{"a contribution", eventlog.Query{Text: "gathered"}, "[0]"},
		{"a key", eventlog.Query{Text: "THE KEY"}, "[0]"},
		{"a slow hook", eventlog.Query{Text: "late.go"}, "[0]"},
		{"blanks around", eventlog.Query{Text: "  gathered "}, "[0]"},
		{"a name of the format", eventlog.Query{Text: "protocol"}, "[]"},
		{"one point", eventlog.Query{Point: "BeforeSend"}, "[2 1]"},
		{"one hook", eventlog.Query{Hook: "shell.Guard"}, "[0]"},
		{"one decision", eventlog.Query{Decision: "continue"}, "[2 1]"},
		{"all decisions", eventlog.Query{Kind: eventlog.Decisions}, "[0]"},
		{"failures", eventlog.Query{Kind: eventlog.Failures}, "[0]"},
		{"an unknown point", eventlog.Query{Point: "AfterSend"}, "[]"},
		{"two conditions", eventlog.Query{Decision: "continue", Text: "run-3"}, "[2]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, next := x.Find(t.Context(), c.q, 100, 10)
			if fmt.Sprint(found) != c.want || next != 0 {
				t.Errorf("got %v and %d, want %s", found, next, c.want)
			}
		})
	}
}

func TestFindContinues(t *testing.T) {
	x, _ := open(t, lines("xx", "yy", "xx", "yy", "xx"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if found, next := x.Find(ended, eventlog.Query{Text: "xx"}, 100, 10); len(found) > 0 || next != 5 {
		t.Errorf("got %v and %d after the end of the context", found, next)
	}
	found, next := x.Find(t.Context(), eventlog.Query{Text: "xx"}, 100, 2)
	again, end := x.Find(t.Context(), eventlog.Query{Text: "xx"}, next, 2)
	if fmt.Sprint(found, again, end) != "[4 2] [0] 0" {
		t.Errorf("got %v, then %v and %d", found, again, end)
	}
}
