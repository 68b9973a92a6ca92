package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// failing returns an agent whose model fails, with a hook of OnRunError.
func failing(rescue agent.OnRunErrorFunc, more ...agent.Hook) looptest.Harness {
	return looptest.Harness{Turns: turns(looptest.Error(errors.New("the model is down"))), Hooks: append(more, rescue)}
}

func TestFailingRescuesAreWarnings(t *testing.T) {
	h := new(agent.Hooks)
	h.OnRunError.AddFunc(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
		return nil, errors.New("no rescue today")
	}, hookkit.FailClosed())
	ran := looptest.Harness{
		Turns: turns(looptest.Error(errors.New("the model is down"))), Agent: &loop.Agent{Hooks: h},
	}.Run(t, "x")
	if ran.Failed == nil || !strings.Contains(ran.Err, "the model is down") {
		t.Errorf("the run ended with %v, %q", ran.Failed, ran.Err)
	}
	if all := strings.Join(ran.Warnings, "\n"); !strings.Contains(all, "no rescue today") {
		t.Errorf("warnings: %q", all)
	}
}

func TestRescuesAreWarnedAbout(t *testing.T) {
	for _, c := range []struct {
		name  string
		stops bool // one hook of ShouldStop stops the run with an error, and another one fails
		want  []string
	}{
		{"ModelFailed", false, []string{"LLM: the model is down"}},
		{"HookFailed", true, []string{"no more", "a reply replaced the failure; dropped its signal: quota"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stop := agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
				if c.stops {
					return []agent.EndRun{{Cause: agent.CauseError, Message: "quota"}}, nil
				}
				return nil, nil
			})
			fails := agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
				if c.stops {
					return nil, errors.New("no more")
				}
				return nil, nil
			})
			ran := failing(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
				return agent.EndTurn{Reply: "sorry"}, nil
			}, stop, fails).Run(t, "x")
			if ran.Failed != nil || ran.Reply != "sorry" || ran.Err != "" || ran.Stop.Cause != agent.CauseStopRequested {
				t.Fatalf("the run ended with %v, %q, %+v", ran.Failed, ran.Reply, ran.Stop)
			}
			all := strings.Join(ran.Warnings, "\n")
			for _, part := range c.want {
				if !strings.Contains(all, part) {
					t.Errorf("the warnings %q lack %q", ran.Warnings, part)
				}
			}
			for _, s := range ran.Signals {
				if s.Cause == agent.CauseError {
					t.Errorf("the signal of the failure is kept: %+v", s)
				}
			}
		})
	}
}

func TestRejectedDoneCallsHaveOneResult(t *testing.T) {
	rejected := false
	gate := agent.CheckDoneFunc(func(
		_ context.Context, _ *agent.Run, done agent.DoneRequest,
	) (agent.CheckDoneOutcome, error) {
		if !rejected {
			rejected = true
			return agent.RejectDone{Feedback: "not yet"}, nil
		}
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Call("finish", `{"note":1}`), looptest.Call("finish", `{"answer":"all"}`)),
		Hooks: hooks(gate), Agent: &loop.Agent{Done: finishTool},
	}.Run(t, "x")
	ran.Recorder.Times(t, "AfterTool", 2)
	if len(ran.Calls) != 2 || ran.Calls[0].Status != agent.CallRefused || ran.Calls[1].Status != agent.CallSucceeded {
		t.Fatalf("calls: %+v", ran.Calls)
	}
	if !strings.Contains(ran.Calls[0].Err, "not yet") || ran.Reply != "all" {
		t.Errorf("error %q, reply %q", ran.Calls[0].Err, ran.Reply)
	}
}

func TestDoneCallsAnswerWithTheirArguments(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("finish", `{"note":1}`)), Agent: &loop.Agent{Done: finishTool},
	}.Run(t, "x")
	if ran.Reply != `{"note":1}` {
		t.Errorf("reply %q", ran.Reply)
	}
}

// finishTool is a done tool with an open schema.
var finishTool = agent.ToolSchema{Name: "finish", Parameters: []byte(`{"type":"object"}`)}

func TestRunsWithinARunHaveOtherIDs(t *testing.T) {
	inner := &loop.Agent{Name: "inner", Model: looptest.NewScript(looptest.Reply("done"))}
	for id, want := range map[string]string{"outer-1": "is that of a run that starts this one", "inner-1": ""} {
		t.Run(id, func(t *testing.T) {
			var failed error
			tool := &looptest.Tool{Name: "start", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
				result, err := loop.Spawn(ctx, inner, loop.Request{Task: "x", ID: id})
				failed = err
				return result.Reply, err
			}}
			ran := looptest.Harness{
				Turns: turns(looptest.Call("start", nil), looptest.Reply("ok")), Tools: []agent.Tool{tool},
			}.Do(t, t.Context(), loop.Request{Task: "x", ID: "outer-1"})
			if ran.Failed != nil {
				t.Fatal(ran.Failed)
			}
			if want == "" && failed != nil && !strings.Contains(failed.Error(), "exhausted") ||
				want != "" && (failed == nil || !strings.Contains(failed.Error(), want)) {
				t.Errorf("got %v, want %q", failed, want)
			}
		})
	}
}

func TestRequestsHaveTheToolsOfTheRun(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Agent: &loop.Agent{Request: agent.LLMRequest{Tools: []agent.ToolSchema{{Name: "ghost"}}}},
	}.Run(t, "x")
	if tools := ran.Script.Requests()[0].Tools; len(tools) != 0 {
		t.Errorf("the model was offered %+v", tools)
	}
}

func TestARescueKeepsOtherSignals(t *testing.T) {
	stops := agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
		return []agent.EndRun{
			{Cause: agent.CauseTokenLimit, Message: "account empty"}, {Cause: agent.CauseError, Message: "quota"},
		}, nil
	})
	ran := failing(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
		return agent.EndTurn{Reply: "sorry"}, nil
	}, stops).Run(t, "x")
	var kept []string
	for _, s := range ran.Signals {
		kept = append(kept, s.Message)
	}
	if all := strings.Join(kept, ", "); ran.Failed != nil || !strings.Contains(all, "account empty") ||
		strings.Contains(all, "quota") {
		t.Errorf("the signals are %s, %v", all, ran.Failed)
	}
}
