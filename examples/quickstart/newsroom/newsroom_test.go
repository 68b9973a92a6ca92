package newsroom_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"

	"example.com/quickstart/newsroom"
)

var ctx = context.Background()

// finish fires the agent's point at which the desk publishes.
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

func TestWhatWasNotReadIsWithheld(t *testing.T) {
	archive := agent.ToolCallRequest{Name: "archive"}
	for _, test := range []struct {
		name  string
		calls []agent.ToolCallResult
		want  string
	}{
		{"nothing read", nil, "Not published: 0 of 2 sources were read."},
		{"one read", []agent.ToolCallResult{{Call: archive}}, "Not published: 1 of 2 sources were read."},
		{"one failed", []agent.ToolCallResult{{Call: archive}, {Call: archive, Err: "closed"}}, "Not published: 1 of 2 sources were read."},
		{"another tool", []agent.ToolCallResult{{Call: archive}, {}}, "Not published: 1 of 2 sources were read."},
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

func TestRunsDoNotShareTheirSources(t *testing.T) {
	var hooks newsroom.Hooks
	hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: new(strings.Builder)})
	hooks.Use(&newsroom.Sources{Tool: "archive", Min: 1})
	one, other := newsroom.NewRun(nil), newsroom.NewRun(nil)
	read(t, &hooks, one, agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "archive"}})

	if got, _ := finish(t, &hooks, one, "High."); got != "High." {
		t.Errorf("the run that read: %q", got)
	}
	if got, _ := finish(t, &hooks, other, "High."); got == "High." {
		t.Error("the other run was taken for the one that read")
	}
}

func TestTheBylineIsPublishedAndTold(t *testing.T) {
	var hooks newsroom.Hooks
	var out strings.Builder
	hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: &out})
	hooks.Use(newsroom.Byline{Name: "me"})
	var told []newsroom.Article
	hooks.OnPublished.Add(newsroom.OnPublishedFunc(func(ctx context.Context, run *newsroom.Run, article newsroom.Article) error {
		told = append(told, article)
		return nil
	}))
	if _, err := finish(t, &hooks, newsroom.NewRun(nil), "High."); err != nil {
		t.Fatal(err)
	}
	want := newsroom.Article{Title: "Tides", Text: "High.\n-- me"}
	if len(told) != 1 || told[0] != want || out.String() != "Tides\nHigh.\n-- me\n" {
		t.Errorf("told %v, published %q", told, &out)
	}
}

func TestAFailingHookWithholds(t *testing.T) {
	var hooks newsroom.Hooks
	var out strings.Builder
	hooks.Use(&newsroom.Desk{Hooks: &hooks, Out: &out})
	broken := errors.New("the spelling checker is out")
	hooks.BeforePublish.Add(newsroom.BeforePublishFunc(func(context.Context, *newsroom.Run, newsroom.Article) (newsroom.BeforePublishOutcome, error) {
		return nil, broken
	}))
	_, err := finish(t, &hooks, newsroom.NewRun(nil), "High.")
	var failure *hookkit.Failure
	if !errors.Is(err, broken) || !errors.As(err, &failure) || out.Len() > 0 {
		t.Errorf("got %v, published %q", err, &out)
	}
}
