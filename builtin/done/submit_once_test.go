package done_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/done"
	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleSubmitOnce() {
	var hooks agent.Hooks
	hooks.Use(&done.SubmitOnce{Tool: "give_verdict"})
	run := agent.NewRun(nil)
	_, _ = hooks.BeforeTool.Fire(context.Background(), run, &agent.ToolCallRequest{ID: "1", Name: "give_verdict"})
	exit, _ := hooks.BeforeTool.Fire(context.Background(), run, &agent.ToolCallRequest{ID: "2", Name: "give_verdict"})
	fmt.Println(exit.(agent.SkipTool).Result.Err)
	// Output: the result was already submitted and is final
}

func TestFirstSubmissionIsFinal(t *testing.T) {
	verdict, look := looptest.Call("verdict", `{"ok":true}`), looptest.Call("look", nil)
	for _, c := range []struct {
		name     string
		turns    []looptest.Turn
		failures int // of the first submissions
		ran      string
		statuses string
		reply    string
	}{
		{"alone", []looptest.Turn{look, verdict}, 0, "1 1", "succeeded succeeded", "guilty"},
		{"twice", []looptest.Turn{looptest.Calls(verdict, verdict)}, 0, "0 1", "succeeded refused", "guilty"},
		{
			"before another", []looptest.Turn{looptest.Calls(verdict, look, look)},
			0, "0 1", "succeeded skipped skipped", "guilty",
		},
		{"after another", []looptest.Turn{looptest.Calls(look, verdict)}, 0, "1 1", "succeeded succeeded", "guilty"},
		{
			"fails first", []looptest.Turn{looptest.Calls(verdict, look), look, verdict},
			1, "1 2", "failed skipped succeeded succeeded", "guilty",
		},
		{"never", []looptest.Turn{look, looptest.Reply("unsure")}, 0, "1 0", "succeeded", "unsure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			failures := c.failures
			tool := &looptest.Tool{Name: "verdict", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
				if failures--; failures >= 0 {
					return "", errors.New("down")
				}
				return "guilty", nil
			}}
			other := &looptest.Tool{Name: "look"}
			hook := &done.SubmitOnce{Tool: "verdict"}
			ran := looptest.Harness{
				Turns: c.turns, Tools: []agent.Tool{tool, other}, Hooks: []agent.Hook{hook, hook},
			}.Run(t, "judge")
			if got := fmt.Sprint(other.Count(), tool.Count()); got != c.ran || fixture.Statuses(ran) != c.statuses {
				t.Errorf("ran %s with %s, want %s with %s", got, fixture.Statuses(ran), c.ran, c.statuses)
			}
			if ran.Failed != nil || ran.Reply != c.reply || ran.Stop.Cause != agent.CauseCompleted {
				t.Errorf("replied %q, stopped by %+v, %v", ran.Reply, ran.Stop, ran.Failed)
			}
		})
	}
}

func TestSubmissionDoesNotHideFailure(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("verdict", nil)}, Tools: []agent.Tool{&looptest.Tool{Name: "verdict"}},
		Hooks: []agent.Hook{&done.SubmitOnce{Tool: "verdict"}, agent.ShouldStopFunc(
			func(_ context.Context, _ *agent.Run, at agent.Step) ([]agent.EndRun, error) {
				if at.Number == 0 {
					return nil, nil
				}
				return nil, errors.New("broken")
			})},
	}.Run(t, "judge")
	if ran.Failed == nil || ran.Stop.Cause != agent.CauseError {
		t.Errorf("stopped by %+v, %v", ran.Stop, ran.Failed)
	}
}

func TestSubmitOnceNeedsTool(t *testing.T) {
	if text := fixture.UsePanic(&done.SubmitOnce{}); !strings.Contains(text, "name the tool") {
		t.Errorf("panicked with %q", text)
	}
}
