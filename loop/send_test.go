package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestP15_WordsOfTheUser: a message that Send accepted is in the next prompt or in Unread, at whatever moment it comes.
func TestP15_WordsOfTheUser(t *testing.T) {
	owner := agent.Identity{Tenant: "acme", User: "ann", Conversation: "c"}
	moments := []string{"OnRunStart", "Briefing", "BeforeLLM", "tool", "AfterTool", "AfterStep", "AfterLLM", "CheckDone",
		"OnDoneAccepted", "OnStop", "BeforeRunEnd", "OnRunEnd", "EventEnd"}
	for _, moment := range moments {
		t.Run(moment, func(t *testing.T) {
			var a *loop.Agent
			sent := errors.New("not reached")
			send := func(at string) {
				if at == moment && sent != nil && sent.Error() == "not reached" {
					sent = a.Send(t.Context(), owner, agent.Message{Content: "and the tests"})
				}
			}
			script := looptest.NewScript(looptest.Call("work", nil), looptest.Reply("first"), looptest.Reply("second"))
			a = &loop.Agent{Model: script, Hooks: new(agent.Hooks), Tools: tools(&looptest.Tool{
				Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) { send("tool"); return "ok", nil },
			})}
			a.Hooks.ObserveAny(fires(func(point string) { send(point) }))
			result, err := a.Do(t.Context(), loop.Request{
				Task: "x", Tenant: "acme", User: "ann", Conversation: "c", Events: func(e loop.Event) {
					if e.Kind == loop.EventEnd {
						send("EventEnd")
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			read := slices.ContainsFunc(result.Messages, func(m agent.Message) bool { return m.Content == "and the tests" })
			heard := false
			for _, req := range script.Requests() {
				heard = heard || lastContent(req, agent.RoleUser) == "and the tests"
			}
			late := slices.Index(moments, moment) > slices.Index(moments, "AfterLLM")
			switch {
			case moment == "EventEnd":
				if !errors.Is(sent, loop.ErrNotRunning) || read || len(result.Unread) != 0 {
					t.Errorf("%v: read %t, unread %+v", sent, read, result.Unread)
				}
			case sent != nil || read == (len(result.Unread) == 1) || read != heard || read == late:
				t.Errorf("%v: read %t, heard %t, unread %+v", sent, read, heard, result.Unread)
			}
			if err := a.Send(t.Context(), owner, agent.Message{Content: "late"}); !errors.Is(err, loop.ErrNotRunning) {
				t.Errorf("after the run: %v", err)
			}
			checkAnswered(t, result.Messages)
		})
	}
}

// TestP15_NoAcceptedMessageIsLost sends messages all the time while runs work and end in each way.
func TestP15_NoAcceptedMessageIsLost(t *testing.T) {
	boom := looptest.Error(errBoom)
	for name, c := range map[string]struct {
		last looptest.Turn
		hook agent.Hook
	}{
		"Completed": {looptest.Reply("done"), nil}, "Failed": {boom, nil}, "Suspended": {looptest.Call("work", nil),
			votes(agent.Ask{})}, "Ended": {looptest.Call("work", nil), afterTool(func(agent.ToolCallResult) (
			agent.AfterToolOutcome, error,
		) {
			return agent.EndTurn{Reply: "enough"}, nil
		})},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				h := looptest.Harness{Tools: tools(work()), Agent: &loop.Agent{Approver: later()}}
				for range 20 { // each message makes a run go on that would be completed
					h.Turns = append(h.Turns, c.last)
				}
				if c.hook != nil {
					h.Hooks = hooks(c.hook)
				}
				a := h.Make().Agent
				accepted, ended := make(chan int), make(chan bool)
				go func() {
					n := 0
					for n < 15 {
						if err := a.Send(context.Background(), agent.Identity{Conversation: "c"},
							agent.Message{Content: "more"}); err == nil {
							n++
						}
						select {
						case <-ended:
							accepted <- n
							return
						default:
						}
					}
					<-ended
					accepted <- n
				}()
				result, _ := a.Do(t.Context(), loop.Request{Task: "x", Conversation: "c"})
				close(ended)
				read := len(result.Unread)
				for _, m := range result.Messages {
					if m.Content == "more" {
						read++
					}
				}
				if n := <-accepted; n != read {
					t.Fatalf("accepted %d messages, %d were read or returned", n, read)
				}
			}
		})
	}
}

// fires calls a function with the name of each point that fires.
type fires func(point string)

func (f fires) Observe(_ context.Context, _ *agent.Run, fired hookkit.AnyFired) { f(fired.Point) }

func TestP15_OnlyTheOwnersRunHears(t *testing.T) {
	for name, id := range map[string]agent.Identity{
		"AnotherUser": {User: "bob", Conversation: "c"}, "AnotherConversation": {User: "ann", Conversation: "d"},
		"Nobody": {},
	} {
		t.Run(name, func(t *testing.T) {
			var a *loop.Agent
			a = &loop.Agent{Model: looptest.NewScript(looptest.Func(func(
				ctx context.Context, _ agent.LLMRequest,
			) (agent.LLMResponse, error) {
				return agent.LLMResponse{Content: "ok"}, errors.Join(
					unless(a.Send(ctx, id, agent.Message{Content: "hi"}), loop.ErrNotRunning))
			}))}
			if _, err := a.Do(t.Context(), loop.Request{Task: "x", User: "ann", Conversation: "c"}); err != nil {
				t.Error(err)
			}
		})
	}
	a := &loop.Agent{Model: looptest.NewScript()}
	for _, m := range []agent.Message{
		{}, {Role: agent.RoleSystem, Content: "obey"}, {Content: "x", ToolCallID: "1"},
		{Content: "x", ToolCalls: []agent.ToolCallRequest{{ID: "1"}}},
	} {
		if err := a.Send(t.Context(), agent.Identity{}, m); err == nil || errors.Is(err, loop.ErrNotRunning) {
			t.Errorf("%+v: got %v", m, err)
		}
	}
}

// unless returns an error that shows the result returned instead of want.
func unless(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("not "+want.Error()), err)
}

// TestP15_AnAgentThatTookOverHears: the message goes to the agent that works on the conversation.
func TestP15_AnAgentThatTookOverHears(t *testing.T) {
	id := agent.Identity{Conversation: "c"}
	var a *loop.Agent
	expert := &loop.Agent{Name: "expert", Model: looptest.NewScript(
		looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "first"}, a.Send(ctx, id, agent.Message{Content: "more"})
		}),
		looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "second, " + lastContent(req, agent.RoleUser)}, nil
		}),
	)}
	a = &loop.Agent{Model: looptest.NewScript(looptest.Call("transfer_to_expert", nil)), Handoffs: []*loop.Agent{expert}}
	result, err := a.Do(t.Context(), loop.Request{Task: "x", Conversation: "c"})
	if err != nil || result.Reply != "second, more" || len(result.Unread) != 0 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestP16_TheModelKnowsWhatRan: if somebody changed the arguments, the stored tool message says which ran and why.
func TestP16_TheModelKnowsWhatRan(t *testing.T) {
	ask := permission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return agent.Ask{}, nil })
	answer := agent.Approval{Allow: true, Args: json.RawMessage(`{"path":"/tmp/old"}`), Reason: "only this one"}
	hook := beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		call.Args = json.RawMessage(`{"path":"/tmp/old"}`)
		return agent.ReplaceBeforeTool(call, "only this one"), nil
	})
	same := beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		call.Args = json.RawMessage(`{ "path" : "/" }`)
		return agent.ReplaceBeforeTool(call, "blanks"), nil
	})
	person := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) { return answer, nil }}
	for _, c := range []struct {
		name     string
		hook     agent.Hook
		approver agent.Approver
		told     bool
	}{
		{"Person", ask, person, true}, {"PersonLater", ask, later(), true}, {"Hook", hook, nil, true},
		{"Same", same, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("delete", `{"path":"/"}`), looptest.Reply("ok")), Hooks: hooks(c.hook),
				Tools: tools(&looptest.Tool{Name: "delete"}), Agent: &loop.Agent{Approver: c.approver},
			}.Run(t, "x")
			got := ran.AgentResult
			if got.Suspended != nil {
				var err error
				if got, err = ran.Agent.Resume(t.Context(), sent(t, got.Suspended),
					loop.AnswerTo(got.Suspended.Questions[0], answer)); err != nil {
					t.Fatal(err)
				}
			}
			var message string
			for _, m := range got.Messages {
				if m.Role == agent.RoleTool {
					message = m.Content
				}
			}
			if told := strings.Contains(message, "/tmp/old") && strings.Contains(message, "only this one"); told != c.told {
				t.Errorf("the tool message is %q", message)
			}
		})
	}
}

// TestP18_EveryFieldOfARequestIsCarried: a new field must be carried to inner and resumed runs, or be listed here.
func TestP18_EveryFieldOfARequestIsCarried(t *testing.T) {
	carried := map[string]bool{ // false: it belongs to the request itself
		"Conversation": true, "User": true, "Tenant": true, "Data": true, "Events": true, "Use": true,
		"Dispatch": false, // inner runs have it too, see TestAnEngineDispatchesCalls
		"Continue": false, // only of calls that had begun
		"Seed":     false, // an inner run has one that follows from it, and a resumed run its own
		"Task":     false, // of a resumed run it is in the conversation
		"Parts":    false, "Messages": false, "Resume": false, "Suspended": false, "Answers": false, "ID": false,
	}
	for f := range reflect.TypeFor[loop.Request]().Fields() {
		if _, ok := carried[f.Name]; !ok {
			t.Errorf("is Request.%s carried to inner and resumed runs?", f.Name)
		}
	}
	seen := make(map[string]int)
	watch := bind(func(h *agent.Hooks) {
		h.OnRunStart.AddFunc(func(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
			seen["Use"]++
			env := run.Env
			for name, is := range map[string]bool{
				"Data": string(env.Data) == `{"customer":7}`, "Tenant": env.Tenant == "acme", "User": env.User == "ann",
				"Conversation": env.Conversation.ID() == "c",
			} {
				if is {
					seen[name]++
				}
			}
			return nil, nil
		})
	})
	events := make(map[string]bool)
	more := loop.Request{Use: hooks(watch), Events: func(e loop.Event) { events[e.Agent] = true }}
	ask := permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if call.Name == "work" {
			return agent.Ask{}, nil
		}
		return nil, nil
	})
	inner := &loop.Agent{Name: "inner", Model: looptest.NewScript(looptest.Call("work", nil), looptest.Reply("in")),
		Tools: tools(&looptest.Tool{Name: "work"})}
	h := looptest.Harness{
		Turns: turns(looptest.Call("inner", `{"task":"t"}`), looptest.Reply("out")), Hooks: hooks(ask),
		Tools: tools(loop.Subagent(inner)), Agent: &loop.Agent{Name: "outer", Approver: later()},
	}
	first := more
	first.Task, first.Conversation, first.User, first.Tenant = "x", "c", "ann", "acme"
	first.Data = json.RawMessage(`{"customer":7}`)
	ran := h.Do(t, t.Context(), first)
	again := more
	state := sent(t, ran.Suspended)
	again.Suspended, again.Answers = &state, []loop.Answer{loop.AnswerTo(state.Questions[0], yes())}
	if got, err := ran.Agent.Do(t.Context(), again); err != nil || got.Reply != "out" {
		t.Fatalf("got %+v, %v", got, err)
	}
	for name, is := range carried {
		if is && name != "Events" && seen[name] != 4 { // outer and inner, in two processes
			t.Errorf("%d of 4 runs have %s", seen[name], name)
		}
	}
	if !events["outer"] || !events["inner"] {
		t.Errorf("events of %v", events)
	}
	for _, m := range ran.Script.Requests() {
		if text, _ := json.Marshal(m); strings.Contains(string(text), "customer") {
			t.Error("the model got Data")
		}
	}
	if _, err := ran.Agent.Do(t.Context(), loop.Request{Data: json.RawMessage(`{`)}); !errors.Is(err, loop.ErrNotStarted) {
		t.Errorf("invalid Data: %v", err)
	}
}

// TestP14_OneStream: the events of Do and RunAs are those of Stream.
func TestP14_OneStream(t *testing.T) {
	made := func() *loop.Agent {
		a := &loop.Agent{
			Model: looptest.NewScript(looptest.Error(errBoom), looptest.Call("work", nil), looptest.Reply(`{"n":1}`)),
			Tools: tools(&looptest.Tool{Name: "work", Err: errBoom}), Hooks: new(agent.Hooks),
		}
		a.Hooks.AroundLLM.AddFunc(retryLLM)
		return a
	}
	kinds := func(events []loop.Event) (all []string) {
		for _, e := range events {
			all = append(all, string(e.Kind))
		}
		return all
	}
	var streamed, did, typed []loop.Event
	for e := range made().Stream(t.Context(), loop.Request{Task: "x"}) {
		streamed = append(streamed, e)
	}
	result, err := made().Do(t.Context(), loop.Request{Task: "x", Events: func(e loop.Event) {
		did = append(did, e)
		panic("a reader")
	}})
	if err != nil || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "Request.Events panicked") {
		t.Errorf("warnings %q, %v", result.Warnings, err)
	}
	_, _, err = loop.RunAs[struct {
		N int `json:"n"`
	}](t.Context(), made(), loop.Request{Task: "x", Events: func(e loop.Event) { typed = append(typed, e) }})
	if err != nil || !slices.Equal(kinds(streamed), kinds(did)) || !slices.Equal(kinds(streamed), kinds(typed)) {
		t.Errorf("%v\nDo: %v\nRunAs: %v\nStream: %v", err, kinds(did), kinds(typed), kinds(streamed))
	}
	failed := slices.DeleteFunc(streamed, func(e loop.Event) bool { return e.Failed == nil })
	if len(failed) != 2 || failed[0].Failed.Call != nil || failed[0].Failed.Attempt != 1 ||
		failed[0].Failed.Err != "boom" || failed[1].Failed.Call == nil {
		t.Errorf("failures %+v", failed)
	}
}

func TestP17_UsageIsToldByModel(t *testing.T) {
	use := agent.Usage{Input: 10, Output: 5, Cost: 0.5}
	says := func(model, text string) looptest.Turn {
		return looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: text, Model: model, Usage: use}, nil
		})
	}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(says("small", "in"))}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("helper", `{"task":"t"}`), says("large", "out")), Tools: tools(loop.Subagent(helper)),
	}.Run(t, "x")
	want := map[string]agent.Usage{"small": use, "large": use}
	if !reflect.DeepEqual(ran.UsageByModel, want) || ran.Usage != use.Plus(use) {
		t.Errorf("got %+v", ran.UsageByModel)
	}
}

// TestP15_AHookSendsAMessage: a message that a hook sends is in the next prompt, at whatever point it is sent. It is in
// Unread if no prompt follows.
func TestP15_AHookSendsAMessage(t *testing.T) {
	send := func(run *agent.Run, m agent.Message) error { return run.Env.Send(m) }
	said := agent.Message{Content: "only the tests, please"}
	var refused, late error
	var again *agent.Run
	sent := false
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("done"), looptest.Reply("tests only")),
		Hooks: loop.Hooks(
			agent.AfterLLMFunc(func(
				_ context.Context, run *agent.Run, _ agent.LLMResponse,
			) (agent.AfterLLMOutcome, error) {
				refused, again = send(run, agent.Message{Role: agent.RoleSystem, Content: "x"}), run
				if sent {
					return nil, nil
				}
				sent = true
				return nil, send(run, said)
			}),
			agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
				return send(run, agent.Message{Content: "too late"})
			}),
		),
	}
	result, err := a.Run(t.Context(), "mend it")
	late = send(again, said)
	if err != nil || result.Reply != "tests only" || result.Steps != 2 || refused == nil ||
		!errors.Is(late, loop.ErrNotRunning) {
		t.Errorf("%q in %d steps, %v; refused: %v, after the end: %v", result.Reply, result.Steps, err, refused, late)
	}
	if m := result.Messages; len(m) != 4 || m[2].Content != said.Content || m[2].Role != agent.RoleUser {
		t.Errorf("the conversation is %+v", m)
	}
	if u := result.Unread; len(u) != 1 || u[0].Content != "too late" {
		t.Errorf("unread: %+v", u)
	}
}
