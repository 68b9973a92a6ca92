package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// views are one of each, with a function that returns their values.
type views struct {
	metrics record.Metrics
	timing  record.Timing
	history record.History
	summary record.Summary
}

func (v *views) all() []record.View {
	return []record.View{&v.metrics, &v.timing, &v.history, &v.summary}
}

// A value is all that the views computed; the times of the observation are left out.
type value struct {
	Metrics record.MetricsReport
	Samples []string
	Runs    []record.HistoryEntry
	Page    string
}

func (v *views) value(t *testing.T) (got value) {
	t.Helper()
	got = value{Metrics: v.metrics.Report(), Runs: v.history.Runs(agent.Identity{}, "")}
	for _, s := range v.timing.Samples() {
		got.Samples = append(got.Samples, s.Run+" "+s.Kind+" "+s.Name+" "+s.Duration.String())
	}
	for i := range got.Runs {
		if got.Runs[i].Time.IsZero() {
			t.Error("a run has no time")
		}
		got.Runs[i].Time = time.Time{}
	}
	page, err := os.ReadFile(filepath.Join(v.summary.Dir, "acme", "ann", "door.md"))
	if err != nil {
		t.Error(err)
	}
	_, got.Page, _ = strings.Cut(string(page), "\n") // without the time in its title
	return got
}

// recorded runs an agent with a sub-run, failures and two owners, with hooks.
func recorded(t *testing.T, hooks ...agent.Hook) {
	t.Helper()
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Error(errors.New("no line"))).ForEachRun()}
	for _, owner := range []agent.Identity{{Tenant: "acme", User: "ann", Conversation: "door"}, {Conversation: "own"}} {
		looptest.Harness{
			Agent: &loop.Agent{Name: "clerk"},
			Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`).Uses(agent.Usage{Input: 3, Output: 1}),
				looptest.Calls(looptest.Call("look", nil), looptest.Call("missing", nil)), looptest.Reply("done")},
			Tools: []agent.Tool{loop.Subagent(helper), &looptest.Tool{Name: "look", Result: "a door"}},
			Hooks: hooks,
		}.Do(t, t.Context(), loop.Request{Task: "go", Tenant: owner.Tenant, User: owner.User,
			Conversation: owner.Conversation})
	}
}

type recordTo struct{ sink hooklog.Sink }

func (r recordTo) Bind(h *agent.Hooks) { h.ObserveAny(agent.Record(r.sink)) }

func TestViewsOfARecordEqualLiveViews(t *testing.T) {
	var log bytes.Buffer
	live, later := &views{summary: record.Summary{Dir: t.TempDir()}}, &views{summary: record.Summary{Dir: t.TempDir()}}
	recorded(t, append([]agent.Hook{recordTo{hooklog.Lines(&log)}}, &live.metrics, &live.timing, &live.history,
		&live.summary)...)
	if err := record.Read(t.Context(), hooklog.Read(&log), later.all()...); err != nil {
		t.Fatal(err)
	}
	want := live.value(t)
	if diff := cmp.Diff(want, later.value(t)); diff != "" {
		t.Errorf("from the record (-live +record):\n%s", diff)
	}
	if want.Metrics.Runs != 4 || want.Metrics.Tools["missing"].Failures != 2 || len(want.Runs) != 4 ||
		len(want.Samples) != 10 {
		t.Errorf("live: %+v", want)
	}
}

func TestReadReportsTheFirstUnreadableEvent(t *testing.T) {
	events := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	const end = `,"decision":"continue"}`
	const spec = `"spec":"github.com/hookgen/hookgen/spec/agentspec"`
	for _, c := range []struct{ name, text, want string }{
		{"other specs are skipped", events(`{"protocol":1,"seq":1,"spec":"x","point":"OnRunEnd","payload":7` + end), ""},
		{"other points are skipped", events(`{"protocol":1,"seq":1,` + spec + `,"point":"Gone","payload":7` + end), ""},
		{"no payload of the point", events(`{"protocol":1,"seq":4,` + spec + `,"point":"OnRunEnd","payload":7` + end),
			"the event 4 of OnRunEnd: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := record.Read(t.Context(), hooklog.Read(strings.NewReader(c.text)), &record.Metrics{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var log bytes.Buffer
	recorded(t, recordTo{hooklog.Lines(&log)})
	if err := record.Read(ended, hooklog.Read(&log), &record.Metrics{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func TestARemovedViewSeesNothing(t *testing.T) {
	var hooks agent.Hooks
	metrics := &record.Metrics{}
	registration := hooks.Use(metrics, hookkit.Named("counts"))
	fire := func() { hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{}) }
	fire()
	registration.Remove()
	fire()
	if n := metrics.Report().Runs; n != 1 {
		t.Errorf("%d runs", n)
	}
}
