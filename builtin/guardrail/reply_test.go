package guardrail_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// noProject rejects texts that name a project, and fails on "broken".
var noProject = guardrail.ValidatorFunc(func(
	_ context.Context, _ agent.ToolCallRequest, text string,
) (accepted, rejection string, err error) {
	switch {
	case strings.Contains(text, "broken"):
		return "", "", errors.New("the classifier is down")
	case strings.Contains(text, "Zeus"):
		return "", "it names a project", nil
	}
	return text, "", nil
})

func TestRepliesAreValidated(t *testing.T) {
	ends := agent.BeforeLLMFunc(func(
		context.Context, *agent.Run, agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		return agent.EndTurn{Reply: "ask Zeus at jo@example.com"}, nil
	})
	expert := &loop.Agent{Name: "expert", Model: looptest.NewScript(looptest.Reply("mail jo@example.com"))}
	for _, c := range []struct {
		name  string
		turns []looptest.Turn
		hooks []agent.Hook
		reply string
		said  string // the transcript
	}{
		{"Accepted", []looptest.Turn{looptest.Reply("hello")}, nil, "hello", "user:x assistant:hello"},
		{"Changed", []looptest.Turn{looptest.Reply("mail jo@example.com")}, nil, "mail [REDACTED:email]",
			"user:x assistant:mail [REDACTED:email]"},
		{"RejectedOnce", []looptest.Turn{looptest.Reply("Zeus"), looptest.Reply("hello")}, nil, "hello",
			"user:x assistant:This reply was withheld. user:the answer cannot be shown: it names a project assistant:hello"},
		{"EndTurn", nil, []agent.Hook{ends}, "This reply was withheld.", "user:x assistant:This reply was withheld."},
		{"Handoff", []looptest.Turn{looptest.Call("transfer_to_expert", nil).Says("to Zeus")}, nil, "mail [REDACTED:email]",
			"user:x assistant:This reply was withheld. tool:control goes to expert assistant:mail [REDACTED:email]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: c.turns, Agent: &loop.Agent{Handoffs: []*loop.Agent{expert}},
				Hooks: append(c.hooks, &guardrail.Reply{Validators: []guardrail.Validator{guardrail.RedactPersonal(), noProject}}),
			}.Run(t, "x")
			if ran.Failed != nil || ran.Reply != c.reply {
				t.Errorf("replied %q, %v", ran.Reply, ran.Failed)
			}
			if got := fixture.Transcript(ran.Messages); got != c.said {
				t.Errorf("the result has %s, want %s", got, c.said)
			}
		})
	}
}

func TestARejectedReplyIsNeverShown(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("Zeus 1"), looptest.Reply("Zeus 2"), looptest.Reply("Zeus 3")},
		Hooks: []agent.Hook{&guardrail.Reply{Validators: []guardrail.Validator{noProject}, Instead: "no"}},
	}.Run(t, "x")
	if ran.Reply != "no" || ran.Stop.Cause != agent.CauseRetryLimit || strings.Contains(fixture.Transcript(ran.Messages),
		"Zeus") {
		t.Errorf("%q, %s", ran.Reply, fixture.Transcript(ran.Messages))
	}
}

func TestReplyThatCannotBeCheckedIsWithheld(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("broken"), looptest.Reply("broken"), looptest.Reply("broken")},
		Hooks: []agent.Hook{&guardrail.Reply{Validators: []guardrail.Validator{noProject}}},
	}.Run(t, "x")
	if ran.Failed == nil || ran.Reply != "" || ran.Messages != nil {
		t.Errorf("%+v", ran.AgentResult)
	}
}

func TestUncheckableAnswerIsAnError(t *testing.T) {
	hook := &guardrail.Reply{Validators: []guardrail.Validator{noProject}}
	outcome, err := hook.CheckDone(t.Context(), agent.NewRun(nil), agent.DoneRequest{Answer: "broken"})
	if outcome != nil || err == nil || !strings.Contains(err.Error(), "the classifier is down") {
		t.Errorf("%+v, %v", outcome, err)
	}
}

func TestAnAcceptedAnswerIsNotReplaced(t *testing.T) {
	hook := &guardrail.Reply{Validators: []guardrail.Validator{guardrail.RedactPersonal(), noProject}}
	outcome, err := hook.CheckDone(t.Context(), agent.NewRun(nil), agent.DoneRequest{Answer: "hello"})
	if outcome != nil || err != nil {
		t.Errorf("%+v, %v", outcome, err)
	}
}

func TestOnlyTextsOfTheAssistantAreWithheld(t *testing.T) {
	nothing := guardrail.ValidatorFunc(func(context.Context, agent.ToolCallRequest, string) (string, string, error) {
		return "", "nothing may be said", nil
	})
	hook := &guardrail.Reply{Validators: []guardrail.Validator{nothing}, Instead: "no"}
	result := agent.AgentResult{Messages: []agent.Message{
		{Role: agent.RoleUser, Content: "what?"}, {Role: agent.RoleAssistant, Content: ""},
		{Role: agent.RoleTool, Content: "an output"}, {Role: agent.RoleAssistant, Content: "no"},
	}}
	outcome, err := hook.BeforeRunEnd(t.Context(), agent.NewRun(nil), result)
	if outcome != nil || err != nil {
		t.Errorf("the result becomes %+v, %v", outcome, err)
	}
}

func TestAReplyNeedsValidators(t *testing.T) {
	for _, validators := range [][]guardrail.Validator{nil, {nil}, {guardrail.LengthCap(0)}} {
		fixture.MustPanic(t, "guardrail.Reply", func() { new(agent.Hooks).Use(&guardrail.Reply{Validators: validators}) })
	}
}

func TestTheContextOfAResultIsValidated(t *testing.T) {
	for _, c := range []struct {
		name   string
		result agent.ToolCallResult
		want   string
	}{
		{"Success", agent.ToolCallResult{Output: "fine"}, "ask [REDACTED:email]"},
		{"Rejected", agent.ToolCallResult{Output: "Zeus"}, "ask [REDACTED:email]"},
		{"Failure", agent.ToolCallResult{Err: "down"}, "ask [REDACTED:email]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h agent.Hooks
			h.Use(&guardrail.Output{Validators: []guardrail.Validator{
				guardrail.RedactPersonal(), noProject, guardrail.Schema(`{"type":"object"}`),
			}})
			c.result.Context = []string{"ask jo@example.com"}
			if c.result.Err == "" {
				c.result.Context = append(c.result.Context, "of Zeus")
			}
			if c.name == "Success" {
				c.result.Output = "{}"
			}
			if _, err := h.AfterTool.Fire(t.Context(), agent.NewRun(nil), &c.result); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.result.Context, "|"); got != c.want {
				t.Errorf("the context is %q, want %q", got, c.want)
			}
		})
	}
}
