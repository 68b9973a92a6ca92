package loop_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// approver answers by a function and counts the requests.
type approver struct {
	f         func(ctx context.Context, q agent.Question) (agent.Approval, error)
	questions []agent.Question
}

func (a *approver) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	a.questions = append(a.questions, q)
	return a.f(ctx, q)
}

func says(allow bool) *approver {
	return &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{Allow: allow}, nil
	}}
}

func votes(o agent.OnPermissionOutcome) agent.Hook {
	return permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return o, nil })
}

func TestOutcome_OnPermission(t *testing.T) {
	deny, ask, allow := votes(agent.Deny{Reason: "policy"}), votes(agent.Ask{Prompt: "may it?", Reason: "risky"}),
		votes(agent.Allow{})
	failing := permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { panic("rules") })
	failed := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{Allow: true}, errBoom
	}}
	crashed := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) { panic("terminal") }}
	for _, c := range []struct {
		name     string
		hooks    []agent.Hook
		approver agent.Approver
		kind     agent.DenialKind // "" if the tool runs
		asked    int
	}{
		{"NoVote", nil, nil, "", 0},
		{"Allow", hooks(allow), nil, "", 0},
		{"Deny", hooks(deny), says(true), agent.DeniedByVote, 0},
		{"DenyBeatsAskAndAllow", hooks(allow, ask, deny), says(true), agent.DeniedByVote, 0},
		{"AskBeatsAllow", hooks(allow, ask), says(false), agent.DeniedByPerson, 1},
		{"AskYes", hooks(ask, ask), says(true), "", 1},
		{"AskNobody", hooks(ask), nil, agent.DeniedUnasked, 0},
		{"ApproverFails", hooks(ask), failed, agent.DeniedByApprover, 1},
		{"ApproverPanics", hooks(ask), crashed, agent.DeniedByApprover, 1},
		{"Failure", hooks(failing, allow), nil, agent.DeniedByHook, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool, other := &looptest.Tool{Name: "work", Result: "done"}, &looptest.Tool{Name: "other"}
			if a, ok := c.approver.(*approver); ok {
				a.questions = nil
			}
			one := append(hooks(), c.hooks...)
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", `{"x":1}`), looptest.Reply("ok")),
				Tools: tools(tool, other),
				Hooks: one,
				Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "x")
			denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
			ran.Recorder.Times(t, "OnPermission", 1)
			ran.Recorder.Times(t, "AfterTool", 1)
			if a, ok := c.approver.(*approver); ok && len(a.questions) != c.asked {
				t.Errorf("asked %d times, want %d", len(a.questions), c.asked)
			}
			if c.kind == "" {
				if tool.Count() != 1 || len(denials) != 0 {
					t.Errorf("the tool ran %d times, denials %+v", tool.Count(), denials)
				}
				return
			}
			r := ran.Calls[0]
			if tool.Count() != 0 || ran.Recorder.Count("AroundTool") != 0 {
				t.Error("the tool ran")
			}
			if len(denials) != 1 || denials[0].Kind != c.kind || denials[0].Call.ID != "call_1_1" || denials[0].Reason == "" {
				t.Errorf("denials %+v, want kind %s", denials, c.kind)
			}
			if r.Status != agent.CallRefused || r.Kind != agent.FailDenied || !r.NoRetry ||
				!strings.Contains(r.Err, denials[0].Reason) {
				t.Errorf("recorded %+v", r)
			}
			if got := lastContent(ran.Script.Requests()[1], agent.RoleTool); !strings.Contains(got,
				"Permission denied for tool 'work'") {
				t.Errorf("the model was told %q", got)
			}
			if ran.Reply != "ok" {
				t.Error("the run did not go on")
			}
		})
	}
}

func TestAnApproverSeesTheCallAndTheHook(t *testing.T) {
	person := says(true)
	tool := &looptest.Tool{Name: "work", ReadOnly: true}
	looptest.Harness{
		Turns: turns(looptest.Call("work", `{"n":100}`), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(
			atTool("work", agent.ReplaceBeforeTool(agent.ToolCallRequest{Name: "work", Args: []byte(`{"n":1}`)}, "clamp"), nil),
			votes(agent.Ask{Prompt: "may it?", Reason: "risky"}),
		),
		Agent: &loop.Agent{Name: "a", Approver: person},
	}.Run(t, "x")
	if len(person.questions) != 1 {
		t.Fatalf("asked %d times", len(person.questions))
	}
	q := person.questions[0]
	if string(q.Call.Args) != `{"n":1}` || q.Prompt != "may it?" || q.Reason != "risky" || q.By == "" || q.Agent != "a" ||
		q.Run == "" || !q.Tool.ReadOnly {
		t.Errorf("asked %+v", q)
	}
	if got := tool.Calls(); string(got[0].Args) != `{"n":1}` {
		t.Errorf("dispatched %+v", got)
	}
}

func TestASilentApproverDenies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, deaf := range []bool{false, true} {
			release := make(chan struct{})
			person := &approver{f: func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
				if deaf {
					<-release
				} else {
					<-ctx.Done()
				}
				return agent.Approval{Allow: true}, nil
			}}
			tool := &looptest.Tool{Name: "work"}
			begun := time.Now()
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
				Tools: tools(tool),
				Hooks: hooks(votes(agent.Ask{})),
				Agent: &loop.Agent{Approver: person, Limits: loop.Limits{ApprovalTime: time.Minute}},
			}.Run(t, "x")
			close(release)
			if took := time.Since(begun); took < time.Minute || took > time.Minute+time.Second {
				t.Errorf("it took %v", took)
			}
			denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
			if tool.Count() != 0 || len(denials) != 1 || denials[0].Kind != agent.DeniedBySilence || ran.Reply != "ok" {
				t.Errorf("deaf %t: denials %+v, the tool ran %d times", deaf, denials, tool.Count())
			}
		}
	})
}

func TestASuccessfulSkipNeedsPermission(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work"}),
		Hooks: hooks(
			atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Output: "cached secret"}}, nil),
			votes(agent.Deny{Reason: "policy"}),
		),
	}.Run(t, "x")
	if r := ran.Calls[0]; r.Status != agent.CallRefused || strings.Contains(r.Content(), "secret") {
		t.Errorf("recorded %+v", r)
	}
	ran.Recorder.Times(t, "OnPermission", 1)
}

func TestACancelledApprovalIsDenied(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	person := &approver{f: func(ctx context.Context, _ agent.Question) (agent.Approval, error) {
		cancel()
		<-ctx.Done()
		return agent.Approval{Allow: true}, nil
	}}
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil)),
		Tools: tools(tool),
		Hooks: hooks(votes(agent.Ask{})),
		Agent: &loop.Agent{Approver: person},
	}.Do(t, ctx, loop.Request{Task: "x"})
	denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
	if tool.Count() != 0 || len(denials) != 1 || denials[0].Kind != agent.DeniedBySilence ||
		ran.Stop.Cause != agent.CauseUserRequested {
		t.Errorf("denials %+v, %+v", denials, ran.Stop)
	}
}

func TestADenialNamesTheReasonOfTheAsk(t *testing.T) {
	for reason, want := range map[string]string{
		"": "there is nobody to ask", "it writes": "there is nobody to ask: it writes",
	} {
		t.Run(want, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()),
				Hooks: hooks(votes(agent.Ask{Prompt: "may it?", Reason: reason})),
			}.Run(t, "x")
			if denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied"); len(denials) != 1 ||
				denials[0].Reason != want || !strings.HasSuffix(ran.Calls[0].Err, want) {
				t.Errorf("denied with %+v", denials)
			}
		})
	}
}
