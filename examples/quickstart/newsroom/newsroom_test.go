package newsroom_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"

	"example.com/quickstart/newsroom"
)

var ctx = context.Background()

// finish fires the point that makes the desk publish.
func finish(t *testing.T, hooks *newsroom.Hooks, run *newsroom.Run, reply string) (string, error) {
	t.Helper()
	result := agent.AgentResult{Task: "Tides", Reply: reply, Stop: agent.EndRun{Cause: agent.CauseCompleted}}
	err := hooks.Agent.BeforeRunEnd.Fire(ctx, run, &result)
	return result.Reply, err
}

// read fires the agent's point after a tool call.
func read(t *testing.T, hooks *newsroom.Hooks, run *newsroom.Run, result agent.ToolCallResult) {
	t.Helper()
	if exit, err := hooks.Agent.AfterTool.Fire(ctx, run, &result); exit != nil || err != nil {
		t.Fatal(exit, err)
	}
}

func TestUnreadSourcesWithholdTheArticle(t *testing.T) {
	archive := agent.ToolCallRequest{Name: "archive"}
	for _, test := range []struct {
		name  string
		calls []agent.ToolCallResult
		want  string
	}{
		{"nothing read", nil, "Not published: 0 of 2 sources were read (newsroom.Sources)."},
		{"one read", []agent.ToolCallResult{{Call: archive}}, "Not published: 1 of 2 sources were read (newsroom.Sources)."},
		{"one failed", []agent.ToolCallResult{{Call: archive}, {Call: archive, Err: "closed"}},
			"Not published: 1 of 2 sources were read (newsroom.Sources)."},
		{"another tool", []agent.ToolCallResult{{Call: archive}, {}},
			"Not published: 1 of 2 sources were read (newsroom.Sources)."},
		{"two read", []agent.ToolCallResult{{Call: archive}, {Call: archive}}, "High."},
	} {
		t.Run(test.name, func(t *testing.T) {
			var hooks newsroom.Hooks
			var out strings.Builder
			hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: &out})
			hooks.Use(&newsroom.Sources{Tool: "archive", Min: 2})
			run := newsroom.NewRun(nil)
			for _, call := range test.calls {
				read(t, &hooks, run, call)
			}
			got, err := finish(t, &hooks, run, "High.")
			if got != test.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if published := out.Len() > 0; published != (test.want == "High.") {
				t.Errorf("published: %q", &out)
			}
		})
	}
}

func TestHooksConform(t *testing.T) {
	archive := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "archive"}}
	for _, test := range []struct {
		name string
		use  func(*newsroom.Hooks)
		opts []hooktest.Option
	}{
		{"Byline", func(h *newsroom.Hooks) { h.Use(newsroom.Byline{Name: "me"}) }, nil},
		{"Desk", func(h *newsroom.Hooks) { h.Use(&newsroom.Desk{Hooks: h, Out: io.Discard}) }, nil},
		{"Sources", func(h *newsroom.Hooks) { h.Use(&newsroom.Sources{Tool: "archive", Min: 2}) }, nil},
		{"Sources with results that count", func(h *newsroom.Hooks) { h.Use(&newsroom.Sources{Tool: "archive", Min: 2}) },
			[]hooktest.Option{hooktest.Payloads(archive)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			hooktest.Check(t, func() []hookkit.AnyPoint {
				hooks := new(newsroom.Hooks)
				test.use(hooks)
				return hooks.Points()
			}, test.opts...)
		})
	}
}

func TestTheDeskFiresItsPoints(t *testing.T) {
	hooks := new(newsroom.Hooks)
	hooks.Use(&newsroom.Desk{Hooks: hooks, Out: io.Discard})
	hooks.Use(&newsroom.Sources{Tool: "archive", Min: 1})
	recorder := hooktest.Record(slices.DeleteFunc(hooks.Points(), func(p hookkit.AnyPoint) bool {
		return p.Name != "BeforePublish" && p.Name != "OnPublished" // the others are the agent's
	}))
	finish(t, hooks, newsroom.NewRun(nil), "High.")
	run := newsroom.NewRun(nil)
	read(t, hooks, run, agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "archive"}})
	finish(t, hooks, run, "High.")

	hooktest.EveryPointFired(t, recorder)
	if d := recorder.Diff(`
		BeforePublish: Withhold by newsroom.Sources, 0 of 1 sources were read
		BeforePublish
		OnPublished`); d != "" {
		t.Errorf("fires (- want, + got):\n%s", d)
	}
}

func TestBylineIsPublished(t *testing.T) {
	var hooks newsroom.Hooks
	var out strings.Builder
	hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: &out})
	hooks.Use(newsroom.Byline{Name: "me"})
	recorder := hooktest.Record(hooks.Points())
	if _, err := finish(t, &hooks, newsroom.NewRun(nil), "High."); err != nil {
		t.Fatal(err)
	}
	published := hooktest.PayloadsOf[newsroom.Article](recorder, "OnPublished")
	want := newsroom.Article{Title: "Tides", Text: "High.\n-- me"}
	if len(published) != 1 || published[0] != want || out.String() != "Tides\nHigh.\n-- me\n" {
		t.Errorf("observers received %v, published %q", published, &out)
	}
}

func TestFailingHookWithholdsTheArticle(t *testing.T) {
	var hooks newsroom.Hooks
	var out strings.Builder
	hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: &out})
	broken := errors.New("the spelling checker is out")
	fail := func(context.Context, *newsroom.Run, newsroom.Article) (newsroom.BeforePublishOutcome, error) {
		return nil, broken
	}
	hooks.BeforePublish.AddFunc(fail)
	_, err := finish(t, &hooks, newsroom.NewRun(nil), "High.")
	var failure *hookkit.Failure
	if !errors.Is(err, broken) || !errors.As(err, &failure) || out.Len() > 0 {
		t.Errorf("got %v, published %q", err, &out)
	}
}
