package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A refund is what another agent sends to the agent that pays money back.
type refund struct {
	Order int    `json:"order"`
	Why   string `json:"why,omitempty"`
}

// refunds is the input of an agent that pays money back.
func refunds() agent.Tool {
	return loop.Tool("refund", "", func(_ context.Context, in refund) (string, error) {
		switch in.Order {
		case 0:
			return "", errors.New("orders begin with 1")
		case 13:
			panic("order 13")
		}
		return fmt.Sprintf("refund order %d (%s)", in.Order, in.Why), nil
	})
}

func TestAHandoffTakesTypedInput(t *testing.T) {
	for _, c := range []struct {
		name, args string
		kind       agent.FailureKind // "": the expert takes over
		says       string            // to the model, or the task of the expert
	}{
		{"Valid", `{"order":7,"why":"broken"}`, "", "refund order 7 (broken)"},
		{"Optional", `{"order":7}`, "", "refund order 7 ()"},
		{"WordsOnly", `{"task":"refund it"}`, agent.FailArguments, "order"},
		{"WrongType", `{"order":"7"}`, agent.FailArguments, "order"},
		{"Misspelt", `{"order":7,"Why":"x"}`, agent.FailArguments, "why"},
		{"Missing", `{}`, agent.FailArguments, "order"},
		{"Refused", `{"order":0}`, agent.FailTool, "orders begin with 1"},
		{"Panic", `{"order":13}`, agent.FailPanic, "order 13"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, script, expert := handing(looptest.Call("transfer_to_expert", c.args), looptest.Reply("mine"))
			expert.Input = refunds()
			ran := l.Run(t, "why?")
			offered := ran.Script.Requests()[0].Tools
			if len(offered) != 1 || !strings.Contains(string(offered[0].Parameters), `"order"`) {
				t.Errorf("the model got %s", offered[0].Parameters)
			}
			checkAnswered(t, ran.Messages)
			checkPaired(t, ran.Recorder)
			if c.kind == "" {
				fired := hooktest.PayloadsOf[agent.Handoff](ran.Recorder, "OnHandoff")
				if got := lastContent(script.Requests()[0], agent.RoleUser); got != c.says || fired[0].Task != c.says {
					t.Errorf("the task is %q, hooks saw %q", got, fired[0].Task)
				}
				return
			}
			ran.Recorder.Times(t, "OnHandoff", 0)
			if r := ran.Calls[0]; r.Kind != c.kind || !strings.Contains(r.Err, c.says) || ran.Reply != "mine" {
				t.Errorf("the call is %+v, replied %q", r, ran.Reply)
			}
		})
	}
}

func TestASubagentTakesTypedInput(t *testing.T) {
	script := looptest.NewScript(looptest.Reply("paid"))
	sub := &loop.Agent{Name: "cashier", Model: script, Input: refunds()}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("cashier", refund{}), looptest.Call("cashier", refund{Order: 7, Why: "late"}),
			looptest.Reply("ok")),
		Tools: tools(loop.Subagent(sub)),
	}.Run(t, "x")
	got := lastContent(script.Requests()[0], agent.RoleUser)
	if got != "refund order 7 (late)" || len(script.Calls()) != 1 {
		t.Errorf("the task is %q of %d", got, len(script.Calls()))
	}
	if ran.Calls[0].Err != "orders begin with 1" || ran.Calls[1].Output != "paid" {
		t.Errorf("%+v", ran.Calls)
	}
}

func TestAnAnswerChangesTheInputOfAHandoff(t *testing.T) {
	l, script, expert := handing(looptest.Call("transfer_to_expert", refund{Order: 7}))
	expert.Input = refunds()
	l.Agent.Approver = &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{Allow: true, Args: []byte(`{"order":8}`)}, nil
	}}
	l.Hooks = hooks(votes(agent.Ask{}))
	l.Run(t, "x")
	if got := lastContent(script.Requests()[0], agent.RoleUser); got != "refund order 8 ()" {
		t.Errorf("the task is %q", got)
	}
}

// withoutCalls removes the calls of tools and their results.
func withoutCalls(messages []agent.Message) []agent.Message {
	return slices.DeleteFunc(messages, func(m agent.Message) bool {
		return m.Role == agent.RoleTool || len(m.ToolCalls) > 0
	})
}

// contents returns the messages as short texts.
func contents(messages []agent.Message) (all []string) {
	for _, m := range messages {
		text := m.Content
		for _, c := range m.ToolCalls {
			text += c.Name + "()"
		}
		all = append(all, text)
	}
	return all
}

func TestAnInputFilterHidesMessages(t *testing.T) {
	l, script, expert := handing(looptest.Call("secret", nil), looptest.Call("transfer_to_expert", `{"task":"go on"}`))
	l.Tools = tools(&looptest.Tool{Name: "secret", Result: "42"})
	expert.InputFilter = withoutCalls
	ran := l.Run(t, "why?")
	want := []string{"you are the expert", "why?", "go on"}
	if got := contents(script.Requests()[0].Messages); !slices.Equal(got, want) {
		t.Errorf("the expert got %q", got)
	}
	want = []string{
		"why?", "secret()", "42", "transfer_to_expert()", "control goes to expert", "go on", "from the expert",
	}
	if got := contents(ran.Messages); !slices.Equal(got, want) {
		t.Errorf("the conversation is %q", got)
	}
	checkAnswered(t, ran.Messages)
}

func TestASuspendedTargetKeepsItsFilter(t *testing.T) {
	var seen []string
	s := &site{asks: []string{"pay"}, person: later(), turns: map[string][]looptest.Turn{
		"main":  turns(looptest.Call("secret", nil), looptest.Call("transfer_to_other", `{"task":"go on"}`)),
		"other": turns(looptest.Call("pay", nil), looptest.Call("pay", nil), looptest.Reply("paid")),
	}}
	s.build = func(s *site) *loop.Agent {
		other := s.agent("other", s.tool("pay"))
		other.InputFilter = withoutCalls
		a := s.agent("main", s.tool("secret"))
		a.Handoffs = []*loop.Agent{other}
		return a
	}
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "why?"}))
	want := []string{"why?", "secret()", "result of secret", "transfer_to_other()", "control goes to other", "go on"}
	for range 2 {
		want = append(want, "pay()")
		if got := contents(result.Messages); err != nil || result.Suspended == nil || !slices.Equal(got, want) {
			t.Fatalf("%q, %+v, %v", got, result.Stop, err)
		}
		want = append(want, "result of pay")
		result, err = looptest.Ended(s.process().Resume(t.Context(), *result.Suspended,
			loop.AnswerTo(result.Suspended.Questions[0], yes())))
	}
	want = append(want, "paid")
	if got := contents(result.Messages); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, req := range s.models["other"].Requests() {
		seen = append(seen, contents(req.Messages)...)
	}
	if slices.Contains(seen, "result of secret") {
		t.Errorf("the other agent got %q", seen)
	}
	checkAnswered(t, result.Messages)
}

func TestACompactionOfTheTargetReplacesTheConversation(t *testing.T) {
	l, _, expert := handing(looptest.Call("transfer_to_expert", `{"task":"go on"}`))
	expert.InputFilter = withoutCalls
	expert.Compactor = &compactor{f: func(agent.Compaction) (agent.Compacted, error) {
		return agent.Compacted{Messages: []agent.Message{{Role: agent.RoleUser, Content: "in short"}}}, nil
	}}
	expert.Hooks = loop.Hooks(agent.ShouldCompactFunc(func(
		context.Context, *agent.Run, agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		return agent.Compact{}, nil
	}))
	ran := l.Run(t, "why?")
	if got := contents(ran.Messages); !slices.Equal(got, []string{"in short", "from the expert"}) {
		t.Errorf("the conversation is %q", got)
	}
}

func TestAFailingInputFilterFailsTheRun(t *testing.T) {
	for name, filter := range map[string]func([]agent.Message) []agent.Message{
		"cannot be continued": func(messages []agent.Message) []agent.Message {
			return slices.DeleteFunc(messages, func(m agent.Message) bool { return len(m.ToolCalls) > 0 })
		},
		"panicked": func([]agent.Message) []agent.Message { panic("no words") },
	} {
		t.Run(name, func(t *testing.T) {
			l, script, expert := handing(looptest.Call("transfer_to_expert", nil))
			expert.InputFilter = filter
			ran := l.Run(t, "why?")
			if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), name) || len(script.Calls()) != 0 {
				t.Errorf("got %v", ran.Failed)
			}
			checkAnswered(t, ran.Messages)
			checkPaired(t, ran.Recorder)
		})
	}
}
