package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestApprovalStopEndsTheTurn(t *testing.T) {
	const output = `{"needs_approval":true,"approval_description":"Pay 40 euros?",
		"approval_options":["pay","refuse","later"]}`
	look := &looptest.Tool{Name: "look", Result: "a shop"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("look", nil),
			looptest.Calls(looptest.Call("pay", nil), looptest.Call("look", nil)),
			looptest.Reply("never"),
		},
		Tools: []agent.Tool{
			loop.Concurrent(&looptest.Tool{Name: "pay", Result: output}), loop.Concurrent(look),
		},
		Hooks: []agent.Hook{&permission.ApprovalStop{}},
	}.Run(t, "buy it")
	if ran.Reply != "Pay 40 euros?" || ran.Stop.Message != "waiting_for_approval" ||
		ran.Stop.Cause != agent.CauseStopRequested || ran.EndedBy != "permission.ApprovalStop" {
		t.Errorf("ended with %q because of %+v by %q", ran.Reply, ran.Stop, ran.EndedBy)
	}
	if len(ran.Script.Calls()) != 2 || look.Count() != 2 || len(ran.Calls) != 3 || ran.Calls[2].Output != "a shop" {
		t.Errorf("the results of the other calls are lost: %+v", ran.Calls)
	}
	got, waits := permission.WaitsForApproval(ran.AgentResult)
	want := permission.PendingApproval{Step: 2, Tool: "pay", Description: "Pay 40 euros?",
		Options: []string{"pay", "refuse", "later"}}
	if diff := cmp.Diff(want, got); diff != "" || !waits {
		t.Errorf("waits: %t (-want +got):\n%s", waits, diff)
	}

	if _, err := got.Answer("maybe"); err == nil ||
		!strings.Contains(err.Error(), `the answer "maybe" is not an option; use one of ["pay" "refuse" "later"]`) {
		t.Errorf("an answer that is not an option: %v", err)
	}
	answer, err := got.Answer("later")
	if err != nil {
		t.Fatal(err)
	}
	again := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("look", nil), looptest.Reply("done")},
		Tools: []agent.Tool{look},
		Hooks: []agent.Hook{&permission.ApprovalStop{}},
		Agent: &loop.Agent{Hooks: loop.Hooks(answer)},
	}.Do(t, t.Context(), loop.Request{Messages: ran.Messages, Resume: loop.Resume{Steps: ran.Steps}})
	if got := fixture.PromptsWith(again,
		"The tool pay asked in step 2: Pay 40 euros?\nThe user answered: later"); got != "10" || again.Reply != "done" {
		t.Errorf("prompts with the answer: %s, want 10; the reply: %q", got, again.Reply)
	}
	if _, waits := permission.WaitsForApproval(again.AgentResult); waits {
		t.Error("the continued run still waits")
	}
}

func TestApprovalStopIgnoresOtherOutputs(t *testing.T) {
	for _, output := range []string{
		``, `plain text`, `needs_approval: true`, `[{"needs_approval":true}]`, `{"needs_approval":false}`,
		`{"needs_approval":"true"}`,
		`{"needs_approval":1}`, `{"needs_approval":null}`, `{"ok":true}`, `{"needs_approval":true`,
		`{"a":{"needs_approval":true}}`, `null`, `42`,
	} {
		t.Run(fmt.Sprintf("%.40q", output), func(t *testing.T) {
			out, pending, err := stopped(t, agent.ToolCallResult{Output: output})
			if out != nil || err != nil || pending != nil {
				t.Errorf("%v, %v, waits: %+v", out, err, pending)
			}
		})
	}
}

func TestApprovalStopReadsLongOutputs(t *testing.T) {
	const request, end = `{"needs_approval":true,"pad":"`, `"}`
	for _, c := range []struct {
		bytes int
		waits bool
	}{{1 << 20, true}, {1<<20 + 1, false}} {
		t.Run(fmt.Sprint(c.bytes), func(t *testing.T) {
			output := request + strings.Repeat("x", c.bytes-len(request+end)) + end
			if _, pending, err := stopped(t, agent.ToolCallResult{Output: output}); err != nil || pending != nil != c.waits {
				t.Errorf("waits: %+v, %v", pending, err)
			}
		})
	}
}

func TestApprovalStopReadsMalformedRequests(t *testing.T) {
	defaults := permission.PendingApproval{
		Tool: "t", Description: "The tool t needs an approval to continue.", Options: []string{"approve", "deny"},
	}
	for name, c := range map[string]struct {
		output string
		want   permission.PendingApproval
	}{
		"nothing else": {`{"needs_approval":true}`, defaults},
		"wrong types": {
			"\n{\"needs_approval\" : true, \"approval_description\": 7, \"approval_options\": \"yes\"}\n", defaults,
		},
		"some wrong options": {
			`{"needs_approval":true,"approval_description":" go? ","approval_options":[1,"","yes",null]}`,
			permission.PendingApproval{Tool: "t", Description: "go?", Options: []string{"yes"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, got, err := stopped(t, agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "t"}, Output: c.output})
			want := agent.EndTurn{Reply: c.want.Description, Reason: "waiting_for_approval"}
			if diff := cmp.Diff(want, out); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
		})
	}
	huge, _ := json.Marshal(map[string]any{
		"needs_approval": true, "approval_description": strings.Repeat("é", 5000),
		"approval_options": strings.Split(strings.Repeat("a,", 100), ","),
	})
	_, got, err := stopped(t, agent.ToolCallResult{Output: string(huge)})
	if err != nil || got == nil || len([]rune(got.Description)) != 2000 || len(got.Options) != 20 {
		t.Errorf("pending: %.3000v, %v", got, err)
	}
}

// stopped returns the outcome of the hook for a result, and the approval that a run with this result waits for.
func stopped(
	t *testing.T, result agent.ToolCallResult,
) (out agent.AfterToolOutcome, pending *permission.PendingApproval, err error) {
	out, err = new(permission.ApprovalStop).AfterTool(t.Context(), agent.NewRun(nil), result)
	ended := agent.AgentResult{Calls: []agent.ToolCallResult{result}}
	if end, ok := out.(agent.EndTurn); ok {
		ended.Signals = []agent.EndRun{{Message: end.Reason}}
	}
	if p, waits := permission.WaitsForApproval(ended); waits {
		pending = &p
	}
	return out, pending, err
}

func TestTheFirstRequestedApprovalIsPending(t *testing.T) {
	both := agent.AgentResult{Signals: []agent.EndRun{{Message: "waiting_for_approval"}}}
	for _, name := range []string{"a", "b"} {
		both.Calls = append(both.Calls,
			agent.ToolCallResult{Call: agent.ToolCallRequest{Name: name}, Output: `{"needs_approval":true}`})
	}
	if got, _ := permission.WaitsForApproval(both); got.Tool != "a" {
		t.Errorf("the approval for %s is pending, want the first", got.Tool)
	}
	if _, waits := permission.WaitsForApproval(
		agent.AgentResult{Calls: []agent.ToolCallResult{{Output: `{"needs_approval":true}`}}}); waits {
		t.Error("a run that ended for another reason waits")
	}
	if _, waits := permission.WaitsForApproval(agent.AgentResult{
		Signals: []agent.EndRun{{Message: "waiting_for_approval"}}, Calls: []agent.ToolCallResult{{Output: "a shop"}},
	}); waits {
		t.Error("a run without a request waits")
	}
	var hooks agent.Hooks
	hooks.Use(new(permission.ApprovalStop))
	if list := hooks.AfterTool.List(); len(list) != 1 || list[0].Priority != hookkit.Safety {
		t.Errorf("bound as %+v", list)
	}
}

func TestWithoutOptionsEveryAnswerCounts(t *testing.T) {
	answer, err := permission.PendingApproval{Tool: "pay", Step: 1, Description: "Pay?"}.Answer("tomorrow")
	if err != nil {
		t.Fatal(err)
	}
	var hooks agent.Hooks
	hooks.Use(answer)
	texts := hooks.Briefing.Fire(t.Context(), agent.NewRun(nil), agent.Step{Number: 1})
	if len(texts) != 1 || !strings.HasSuffix(texts[0], "The user answered: tomorrow") {
		t.Errorf("the prompt has %q", texts)
	}
}

func ExampleApprovalStop() {
	var hooks agent.Hooks
	hooks.Use(&permission.ApprovalStop{})

	result := agent.ToolCallResult{
		Call:   agent.ToolCallRequest{Name: "deploy", Step: 3},
		Output: `{"needs_approval": true, "approval_description": "Deploy to production?"}`,
	}
	exit, err := hooks.AfterTool.Fire(context.Background(), agent.NewRun(nil), &result)
	fmt.Println(exit, err)
	// Output:
	// {Deploy to production? waiting_for_approval} <nil>
}
