package loop_test

import (
	"context"
	"encoding/json"
	"github.com/hookgen/hookgen/hookkit"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// approver answers by a function and counts the requests.
type approver struct {
	f func(ctx context.Context, q agent.Question) (agent.Approval, error)

	mu        sync.Mutex
	questions []agent.Question
}

func (a *approver) Approve(ctx context.Context, q agent.Question) (agent.Approval, error) {
	a.mu.Lock()
	a.questions = append(a.questions, q)
	a.mu.Unlock()
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

func TestApproverSeesTheCallAndTheHook(t *testing.T) {
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

// before answers questions at BeforeAsk and counts them.
type before struct {
	says  func(q agent.Question) (agent.BeforeAskOutcome, error)
	asked []string // the arguments
}

func (b *before) Bind(h *agent.Hooks) { h.BeforeAsk.Add(b, hookkit.Named("before")) }

func (b *before) BeforeAsk(_ context.Context, _ *agent.Run, q agent.Question) (agent.BeforeAskOutcome, error) {
	b.asked = append(b.asked, string(q.Call.Args))
	return b.says(q)
}

func answers(o agent.BeforeAskOutcome) *before {
	return &before{says: func(agent.Question) (agent.BeforeAskOutcome, error) { return o, nil }}
}

func TestOutcome_BeforeAsk(t *testing.T) {
	failing := &before{says: func(agent.Question) (agent.BeforeAskOutcome, error) { return agent.Approve{}, errBoom }}
	approve, refuse := answers(agent.Approve{Reason: "known"}), answers(agent.Refuse{Reason: "never"})
	for _, c := range []struct {
		name     string
		hooks    []agent.Hook
		approver agent.Approver
		kind     agent.DenialKind // "" if the tool runs
		asked    int
		by       string
	}{
		{"NoAnswer", hooks(answers(nil)), says(true), "", 1, ""},
		{"Approve", hooks(approve), says(false), "", 0, "before"},
		{"ApproveWithoutApprover", hooks(approve), nil, "", 0, "before"},
		{"NoAnswerWithoutApprover", hooks(answers(nil)), nil, agent.DeniedUnasked, 0, ""},
		{"Refuse", hooks(refuse), says(true), agent.DeniedByAnswer, 0, "before"},
		{"RefuseBeatsApprove", hooks(approve, refuse), says(true), agent.DeniedByAnswer, 0, "before"},
		{"Failure", hooks(failing), says(true), agent.DeniedByHook, 0, "before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "work"}
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", `{}`), looptest.Reply("ok")),
				Tools: tools(tool),
				Hooks: append(hooks(votes(agent.Ask{})), c.hooks...),
				Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "x")
			denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
			grants := hooktest.PayloadsOf[agent.Grant](ran.Recorder, "OnPermissionGranted")
			if a, ok := c.approver.(*approver); ok && len(a.questions) != c.asked {
				t.Errorf("asked %d times, want %d", len(a.questions), c.asked)
			}
			if len(denials)+len(grants) != 1 {
				t.Fatalf("%d denials, %d grants", len(denials), len(grants))
			}
			if c.kind == "" {
				if tool.Count() != 1 || len(grants) != 1 || grants[0].By != c.by || grants[0].Call.Name != "work" {
					t.Errorf("ran %d times, grants %+v", tool.Count(), grants)
				}
				return
			}
			if tool.Count() != 0 || denials[0].Kind != c.kind || c.by != "" && denials[0].By != c.by || ran.Reply != "ok" {
				t.Errorf("ran %d times, denied %+v, reply %q", tool.Count(), denials[0], ran.Reply)
			}
		})
	}
}

func TestChangedArgumentsAreJudgedAgain(t *testing.T) {
	toB := json.RawMessage(`{"to":"b"}`)
	edits := func(args string) *approver {
		return &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
			return agent.Approval{Allow: true, Args: json.RawMessage(args)}, nil
		}}
	}
	denyB := permission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if string(c.Args) == string(toB) {
			return agent.Deny{Reason: "never to b"}, nil
		}
		return agent.Ask{}, nil
	})
	refuseB := &before{says: func(q agent.Question) (agent.BeforeAskOutcome, error) {
		if string(q.Call.Args) == string(toB) {
			return agent.Refuse{Reason: "never to b"}, nil
		}
		return nil, nil
	}}
	ask := votes(agent.Ask{})
	answered := atTool("send", agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}}, nil)
	again := &before{says: func(q agent.Question) (agent.BeforeAskOutcome, error) {
		return agent.Approve{Args: append(q.Call.Args[:len(q.Call.Args):len(q.Call.Args)], ' ')}, nil
	}}
	for _, c := range []struct {
		name     string
		hooks    []agent.Hook
		approver agent.Approver
		kind     agent.DenialKind
		ran      string
	}{
		{"person", hooks(ask), edits(string(toB)), "", string(toB)},
		{"unchanged", hooks(ask), edits(`{"to":"a"}`), "", `{"to":"a"}`},
		{"hook", hooks(ask, answers(agent.Approve{Args: toB})), nil, "", string(toB)},
		{"denied by a vote", hooks(denyB), edits(string(toB)), agent.DeniedByVote, ""},
		{"hook denied by a vote", hooks(denyB, answers(agent.Approve{Args: toB})), nil, agent.DeniedByVote, ""},
		{"refused before the question", hooks(ask, refuseB), edits(string(toB)), agent.DeniedByAnswer, ""},
		{"against the schema", hooks(ask), edits(`{"from":"b"}`), agent.DeniedByApprover, ""},
		{"invalid JSON", hooks(ask), edits(`{`), agent.DeniedByApprover, ""},
		{"hook against the schema", hooks(ask, answers(agent.Approve{Args: []byte(`{}`)})), nil, agent.DeniedByHook, ""},
		{"of an answered call", hooks(ask, answered), edits(string(toB)), agent.DeniedByApprover, ""},
		{"changed twice", hooks(ask, again), nil, agent.DeniedByHook, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent []string
			tool := loop.Tool("send", "", func(_ context.Context, in struct {
				To string `json:"to"`
			}) (string, error) {
				sent = append(sent, `{"to":"`+in.To+`"}`)
				return "sent", nil
			})
			ran := looptest.Harness{
				Turns: turns(looptest.Call("send", `{"to":"a"}`), looptest.Reply("ok")),
				Tools: tools(tool), Hooks: c.hooks, Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "x")
			denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
			if a, ok := c.approver.(*approver); ok && len(a.questions) != 1 {
				t.Errorf("the person was asked %d times", len(a.questions))
			}
			if c.kind != "" {
				granted := ran.Recorder.Count("OnPermissionGranted")
				if len(denials) != 1 || denials[0].Kind != c.kind || len(sent) != 0 || granted != 0 {
					t.Errorf("denied %+v, sent %q", denials, sent)
				}
				return
			}
			if len(denials) != 0 || !slices.Equal(sent, []string{c.ran}) || string(ran.Calls[0].Call.Args) != c.ran {
				t.Errorf("denied %+v, sent %q, recorded %s", denials, sent, ran.Calls[0].Call.Args)
			}
		})
	}
}

func TestAnAnswerStopsTheRun(t *testing.T) {
	person := func(a agent.Approval) agent.Approver {
		return &approver{f: func(context.Context, agent.Question) (agent.Approval, error) { return a, nil }}
	}
	for name, c := range map[string]struct {
		hooks    []agent.Hook
		approver agent.Approver
		status   agent.CallStatus
	}{
		"refusal of a person": {hooks(), person(agent.Approval{StopRun: true, Reason: "wrong"}), agent.CallRefused},
		"refusal of a hook":   {hooks(answers(agent.Refuse{StopRun: true, Reason: "wrong"})), nil, agent.CallRefused},
		"approval": {
			hooks(), person(agent.Approval{StopRun: true, Reason: "wrong", Allow: true}), agent.CallUnrun,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "work"}
			ran := looptest.Harness{
				Turns: turns(two()), Tools: tools(tool),
				Hooks: append(hooks(votes(agent.Ask{})), c.hooks...), Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "x")
			if tool.Count() != 0 || ran.Stop.Cause != agent.CauseStopRequested ||
				!strings.Contains(ran.Stop.Message, "wrong") || ran.Calls[0].Status != c.status ||
				ran.Calls[1].Status != agent.CallUnrun {
				t.Errorf("ran %d times, %+v, %+v", tool.Count(), ran.Stop, ran.Calls)
			}
		})
	}
}

func TestHooksAddContextToAResult(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", `{}`), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work", Result: "out"}),
		Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Context = append(r.Context, "mind the gap", long)
			return agent.ReplaceAfterTool(r, "note"), nil
		})),
	}.Run(t, "x")
	got := lastContent(ran.Script.Requests()[1], agent.RoleTool)
	if r := ran.Calls[0]; r.Output != "out" || len(r.Context) != 2 || r.Context[0] != "mind the gap" {
		t.Errorf("recorded %.100q, %d", r.Output, len(r.Context))
	}
	if !strings.HasPrefix(got, "out\n\nmind the gap\n\né") || len(got) > 10_100 || !utf8.ValidString(got) {
		t.Errorf("the model got %d bytes, %.60q", len(got), got)
	}
}

func TestDenialNamesTheReasonOfTheAsk(t *testing.T) {
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

// TestPersonAnswersInPlaceOfTheTool: also if the call would hand over, finish, or be answered by a hook. The text
// passes the hooks of AfterTool like each result.
func TestPersonAnswersInPlaceOfTheTool(t *testing.T) {
	person := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{Allow: true, Output: "no, wait"}, nil
	}}
	expert := &loop.Agent{Name: "expert", Model: looptest.NewScript()}
	tool := &looptest.Tool{Name: "work", Result: "worked"}
	for name, more := range map[string][]agent.Hook{
		"work": nil, "transfer_to_expert": nil, "finish": nil,
		"cached": hooks(atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Output: "old"}}, nil)),
	} {
		t.Run(name, func(t *testing.T) {
			called := name
			if name == "cached" {
				called = "work"
			}
			ran := looptest.Harness{
				Turns: turns(looptest.Call(called, nil), looptest.Reply("ok")), Tools: tools(tool),
				Agent: &loop.Agent{Approver: person, Handoffs: []*loop.Agent{expert}, Done: agent.ToolSchema{Name: "finish"}},
				Hooks: append(more, votes(agent.Ask{}), afterTool(
					func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
						r.Output += "!"
						return agent.ReplaceAfterTool(r, ""), nil
					})),
			}.Run(t, "x")
			if len(ran.Calls) != 1 {
				t.Fatalf("%+v", ran.AgentResult)
			}
			got := ran.Calls[0]
			if tool.Count() != 0 || ran.Reply != "ok" || got.Status != agent.CallSkipped || got.Output != "no, wait!" ||
				got.Reason != "a person answered in place of the tool" || ran.HandedOffTo != "" {
				t.Errorf("ran %d times, %+v", tool.Count(), ran.AgentResult)
			}
			checkAnswered(t, ran.Messages)
		})
	}
}
