package loop_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestAToolCallsTheModelOfItsRun(t *testing.T) {
	summarize := loop.Tool("summarize", "", func(ctx context.Context, _ struct{}) (string, error) {
		reply, err := agentspec.EnvOf(ctx).Model.Generate(ctx, agent.LLMRequest{})
		return reply.Content, err
	})
	l := looptest.Harness{
		Turns: turns(looptest.Call("summarize", nil).Uses(agent.Usage{Input: 10}),
			looptest.Reply("short").Uses(agent.Usage{Input: 500}), looptest.Reply("never").Uses(agent.Usage{Input: 1})),
		Tools: tools(summarize), Agent: &loop.Agent{Limits: loop.Limits{Tokens: 500}},
	}
	ran := l.Run(t, "x")
	if ran.Calls[0].Output != "short" || ran.ModelCalls != 2 || ran.Usage.Input != 510 ||
		ran.Stop.Cause != agent.CauseTokenLimit {
		t.Errorf("%d calls used %+v: %+v", ran.ModelCalls, ran.Usage, ran.AgentResult)
	}
	ran.Recorder.Times(t, "AroundLLM", 1)
	if env := agentspec.EnvOf(t.Context()); env != nil {
		t.Errorf("outside a run the environment is %+v", env)
	}
}

func TestToolSeesItsRunsEnvironment(t *testing.T) {
	var agents []string
	look := &looptest.Tool{Name: "look", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		agents = append(agents, agentspec.EnvOf(ctx).Agent)
		return "", nil
	}}
	l, _, _ := calling(look, looptest.Call("look", nil), looptest.Reply("inner"))
	l.Turns = turns(looptest.Call("helper", `{"task":"x"}`), looptest.Call("look", nil), looptest.Reply("ok"))
	l.Tools = tools(look)
	l.Run(t, "x")
	if len(agents) != 2 || agents[0] != "helper" || agents[1] != "boss" {
		t.Errorf("the tool was called by %v", agents)
	}
}

func TestToolStopsTheRunByItsError(t *testing.T) {
	stop := &agent.ToolError{Message: "out of credit", StopRun: true}
	pays := &looptest.Tool{Name: "pay", Err: fmt.Errorf("bank: %w", stop)}
	rescue := agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		if a, err := next.Call(ctx, c); err == nil {
			return a, nil
		}
		return hookkit.Answered(agent.ToolCallResult{Err: "ask later"}), nil
	})
	for _, c := range []struct {
		name    string
		hooks   []agent.Hook
		stopped bool
	}{{"Plain", nil, true}, {"AnsweredByAHook", hooks(rescue), false}} {
		t.Run(c.name, func(t *testing.T) {
			later := work()
			ran := looptest.Harness{
				Turns: turns(looptest.Calls(looptest.Call("pay", nil), looptest.Call("work", nil),
					looptest.Call("done", `{"answer":"42"}`)), looptest.Reply("went on")),
				Tools: tools(pays, later), Hooks: c.hooks,
				Agent: &loop.Agent{Done: doneTool, Limits: loop.Limits{Parallel: 1}},
			}.Run(t, "x")
			if !c.stopped {
				if ran.Stop.Cause != agent.CauseCompleted || later.Count() != 1 {
					t.Errorf("got %+v", ran.AgentResult)
				}
				return
			}
			if ran.Failed != nil || ran.Stop.Cause != agent.CauseStopRequested ||
				ran.Stop.Message != "The tool pay stopped the run: bank: out of credit" || ran.Stop.Detail["tool"] != "pay" {
				t.Errorf("stopped by %+v, %v", ran.Stop, ran.Failed)
			}
			if ran.Calls[0].Status != agent.CallFailed || ran.Calls[1].Status != agent.CallUnrun ||
				ran.Calls[2].Status != agent.CallUnrun || later.Count() != 0 {
				t.Errorf("recorded %+v", ran.Calls)
			}
			checkAnswered(t, ran.Messages)
			checkPaired(t, ran.Recorder)
		})
	}
}

func TestAToolNeedsArgumentsWithASchema(t *testing.T) {
	for want, build := range map[string]func(){
		`the tool "f" cannot take a func()`: func() {
			loop.Tool("f", "", func(context.Context, func()) (string, error) { return "", nil })
		},
		`the tool "n" cannot take a int; let it take a struct`: func() {
			loop.Tool("n", "", func(context.Context, int) (string, error) { return "", nil })
		},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, want) {
					t.Errorf("panicked with %s", v)
				}
			}()
			build()
		})
	}
}

func TestACallWithoutToolsIsExplained(t *testing.T) {
	ran := looptest.Harness{Turns: turns(looptest.Call("look", nil), looptest.Reply("ok"))}.Run(t, "x")
	if err := ran.Calls[0].Err; !strings.Contains(err, "there is no tool") ||
		!strings.Contains(err, "there are no tools; answer without one") {
		t.Errorf("the error is %q", err)
	}
}

func TestFailureOfAHookHasAKind(t *testing.T) {
	answers := agent.AroundToolFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		return hookkit.Answered(agent.ToolCallResult{Err: "ask later"}), nil
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(answers),
	}.Run(t, "x")
	if c := ran.Calls[0]; c.Kind != agent.FailTool || c.Status != agent.CallFailed {
		t.Errorf("got %+v", c)
	}
}

func TestCallsWithoutALimitRunTogether(t *testing.T) {
	const n = 12 // more than the default limit
	var all sync.WaitGroup
	all.Add(n)
	meet := loop.ReadOnly(&looptest.Tool{Name: "meet", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		all.Done()
		all.Wait()
		return "met", nil
	}})
	calls := make([]looptest.Turn, n)
	for i := range calls {
		calls[i] = looptest.Call("meet", nil)
	}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(calls...), looptest.Reply("ok")), Tools: tools(meet),
		Agent: &loop.Agent{Limits: loop.Limits{Parallel: -1}},
	}.Run(t, "x")
	if len(ran.Calls) != n || ran.Calls[n-1].Output != "met" {
		t.Errorf("got %+v", ran.Calls)
	}
}

// A tool that decodes its arguments in place changes neither the conversation nor the payloads of hooks.
func TestToolsCannotChangeRecordedArguments(t *testing.T) {
	in := `{"path":"a"}`
	writer := &looptest.Tool{Name: "write", Func: func(_ context.Context, c agent.ToolCallRequest) (string, error) {
		for i := range c.Args {
			c.Args[i] = 'x'
		}
		return "done", nil
	}}
	var after string
	hooks := new(agent.Hooks)
	hooks.AfterTool.ObserveFunc(func(_ context.Context, _ *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
		after = string(fired.Payload.Call.Args)
	})
	a := &loop.Agent{Hooks: hooks, Tools: tools(writer),
		Model: looptest.NewScript(looptest.Call("write", in), looptest.Reply("over"))}
	result, err := a.Do(t.Context(), loop.Request{Task: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if after != in {
		t.Errorf("AfterTool sees %s", after)
	}
	for _, m := range result.Messages {
		for _, c := range m.ToolCalls {
			if string(c.Args) != in {
				t.Errorf("the conversation has %s", c.Args)
			}
		}
	}
}

func TestMarksOfATool(t *testing.T) {
	plain := loop.Tool("work", "", func(context.Context, struct{}) (string, error) { return "", nil })
	for name, c := range map[string]struct {
		tool                 agent.Tool
		readOnly, idempotent bool
	}{
		"None": {plain, false, false}, "ReadOnly": {loop.ReadOnly(plain), true, false},
		"Idempotent": {loop.Idempotent(plain), false, true}, "Both": {loop.Idempotent(loop.ReadOnly(plain)), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.tool.Schema()
			if s.Name != "work" || s.ReadOnly != c.readOnly || s.Idempotent != c.idempotent {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAnOutputThatIsNotJSONIsAnError(t *testing.T) {
	tool := loop.Tool("measure", "", func(context.Context, struct{}) (float64, error) { return math.NaN(), nil })
	ran := looptest.Harness{
		Turns: turns(looptest.Call("measure", nil), looptest.Reply("ok")), Tools: tools(tool),
	}.Run(t, "x")
	const want = "the output cannot be encoded: json: unsupported value: NaN"
	if c := ran.Calls[0]; c.OK() || !strings.Contains(c.Err, want) {
		t.Errorf("%+v", c)
	}
}

func TestUnknownToolsAreNotInTheTable(t *testing.T) {
	var known, unknown bool
	looptest.Harness{
		Turns: turns(looptest.Reply("ok")), Tools: tools(&looptest.Tool{Name: "look"}),
		Hooks: hooks(agent.BeforeStepFunc(func(_ context.Context, run *agent.Run, _ agent.Step) error {
			_, known = run.Env.Tools.Lookup("look")
			_, unknown = run.Env.Tools.Lookup("nobody")
			return nil
		})),
	}.Run(t, "x")
	if !known || unknown {
		t.Errorf("look: %t, nobody: %t", known, unknown)
	}
}
