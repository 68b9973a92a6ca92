package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// answersByChoice has one answer of each kind to a question about the arguments {"a":1}.
var answersByChoice = map[agent.Choice]agent.Approval{
	agent.ChooseAllow:  {Allow: true, Args: []byte(`{"a":1}`)}, // unchanged
	agent.ChooseDeny:   {Reason: "no"},
	agent.ChooseEdit:   {Allow: true, Args: []byte(`{"a":2}`)},
	agent.ChooseAnswer: {Allow: true, Output: "in cash"},
}

// allowOrDeny asks a question that takes only two answers.
var allowOrDeny = agent.Ask{Choices: []agent.Choice{agent.ChooseAllow, agent.ChooseDeny}}

func TestAnApproverMayOnlyChooseWhatIsOffered(t *testing.T) {
	all := []agent.Choice{agent.ChooseAllow, agent.ChooseDeny, agent.ChooseEdit, agent.ChooseAnswer}
	for mask := range 1 << len(all) {
		var choices []agent.Choice
		for i, c := range all {
			if mask&(1<<i) != 0 {
				choices = append(choices, c)
			}
		}
		for made, answer := range answersByChoice {
			fits := mask == 0 || strings.Contains(text(choices), string(made))
			person := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) { return answer, nil }}
			tool := &looptest.Tool{Name: "pay"}
			ran := looptest.Harness{
				Agent: &loop.Agent{Approver: person}, Tools: tools(tool), Hooks: hooks(votes(agent.Ask{Choices: choices})),
				Turns: turns(looptest.Call("pay", `{"a":1}`), looptest.Reply("ok")),
			}.Run(t, "x")
			status, runs := agent.CallSucceeded, 1
			switch {
			case !fits, made == agent.ChooseDeny:
				status, runs = agent.CallRefused, 0
			case made == agent.ChooseAnswer:
				status, runs = agent.CallSkipped, 0
			}
			r := ran.Calls[0]
			if r.Status != status || tool.Count() != runs || text(person.questions[0].Choices) != text(choices) {
				t.Errorf("%s of %q: %+v", made, choices, r)
			}
			if made != agent.ChooseDeny && !fits && !strings.Contains(r.Err, text(choices)) {
				t.Errorf("%s of %q: the model reads %q", made, choices, r.Err)
			}
		}
	}
}

// text returns choices as errors show them.
func text(choices []agent.Choice) string {
	var all []string
	for _, c := range choices {
		all = append(all, `"`+string(c)+`"`)
	}
	return "[" + strings.Join(all, " ") + "]"
}

func TestAStoredQuestionRefusesOtherAnswers(t *testing.T) {
	s := &site{person: later(), turns: map[string][]looptest.Turn{
		"main": turns(looptest.Call("pay", `{"a":1}`), looptest.Reply("ok")),
	}, build: func(s *site) *loop.Agent { return s.agent("main", s.tool("pay")) }, hooks: hooks(votes(allowOrDeny))}
	result, err := looptest.Ended(s.process().Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || result.Suspended == nil {
		t.Fatalf("%+v, %v", result.Stop, err)
	}
	state := sent(t, result.Suspended)
	for _, made := range []agent.Choice{agent.ChooseEdit, agent.ChooseAnswer, agent.ChooseAllow} {
		got, err := s.process().Resume(t.Context(), state, loop.AnswerTo(state.Questions[0], answersByChoice[made]))
		refused := errors.Is(err, loop.ErrNotStarted) && strings.Contains(err.Error(), text(allowOrDeny.Choices))
		if made == agent.ChooseAllow {
			refused = err != nil || got.Reply != "ok" || len(s.log) != 1
		} else if len(s.log) != 0 {
			t.Errorf("ran %v after %s", s.log, made)
		}
		if refused == (made == agent.ChooseAllow) {
			t.Errorf("%s: replied %q, %v", made, got.Reply, err)
		}
	}
}

func TestAnAnswerThatStopsTheRunFitsEveryQuestion(t *testing.T) {
	stop := &approver{f: func(context.Context, agent.Question) (agent.Approval, error) {
		return agent.Approval{StopRun: true}, nil
	}}
	ran := looptest.Harness{
		Agent: &loop.Agent{Approver: stop}, Tools: tools(work()), Turns: turns(looptest.Call("work", nil)),
		Hooks: hooks(votes(agent.Ask{Choices: []agent.Choice{agent.ChooseAnswer}})),
	}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseStopRequested || ran.Calls[0].Status != agent.CallRefused {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestHooksMayOnlyChooseWhatIsOffered(t *testing.T) {
	for name, ask := range map[string]agent.Ask{
		"of a hook that answers": allowOrDeny, "of a hook that asks": {Choices: []agent.Choice{"alow"}},
	} {
		t.Run(name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "pay"}
			ran := looptest.Harness{
				Agent: &loop.Agent{Approver: says(true)}, Tools: tools(tool),
				Hooks: hooks(votes(ask), answers(agent.Approve{Args: []byte(`{"a":2}`)})),
				Turns: turns(looptest.Call("pay", `{"a":1}`), looptest.Reply("ok")),
			}.Run(t, "x")
			denials := hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied")
			if tool.Count() != 0 || len(denials) != 1 || denials[0].Kind != agent.DeniedByHook {
				t.Errorf("ran %d times, denials %+v", tool.Count(), denials)
			}
		})
	}
}
