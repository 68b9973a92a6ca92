package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestUnusableCallsAreErrorsForTheModel(t *testing.T) {
	for _, c := range []struct {
		name string
		call looptest.Turn
		kind agent.FailureKind
		text string
	}{
		{"UnknownTool", looptest.Call("nope", nil), agent.FailUnknown, "the tools are: work"},
		{"MisspelledTool", looptest.Call("wirk", nil), agent.FailUnknown, "did you mean work? the tools are: work"},
		{"LongName", looptest.Call(strings.Repeat("x", 1<<20), nil), agent.FailUnknown, `xxx"...; the tools are: work`},
		{"NoName", looptest.Call("", nil), agent.FailUnknown, "there is no tool"},
		{"NotJSON", looptest.Call("work", `{"a":`), agent.FailArguments, "not JSON"},
		{"TwoValues", looptest.Call("work", `{} {}`), agent.FailArguments, "not JSON"},
		{"Null", looptest.Call("work", `null`), agent.FailArguments, "do not fit"},
		{"WrongType", looptest.Call("work", `{"text":1}`), agent.FailArguments, "do not fit"},
		{"Large", looptest.Call("work", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`), agent.FailArguments,
			"1048587 bytes, the limit is 1048576"},
		{"Deep", looptest.Call("work", strings.Repeat(`[`, 20000)), agent.FailArguments, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := &looptest.Tool{Name: "work", Parameters: `{"type":"object","properties":{"text":{"type":"string"}}}`}
			ran := looptest.Harness{Turns: turns(c.call, looptest.Reply("ok")), Tools: tools(tool)}.Run(t, "x")
			r := ran.Calls[0]
			if tool.Count() != 0 || r.Status != agent.CallFailed || r.Kind != c.kind || !strings.Contains(r.Err, c.text) {
				t.Errorf("recorded %s %s %q, the tool ran %d times", r.Status, r.Kind, r.Err, tool.Count())
			}
			if ran.Reply != "ok" || ran.Failed != nil {
				t.Errorf("the run did not go on: %v", ran.Failed)
			}
			ran.Recorder.Times(t, "OnPermission", 0)
			ran.Recorder.Times(t, "BeforeTool", 1)
			ran.Recorder.Times(t, "AfterTool", 1)
			if _, err := json.Marshal(ran.Calls); err != nil {
				t.Errorf("the result cannot be encoded: %v", err)
			}
			checkAnswered(t, ran.Messages)
		})
	}
}

func TestArgumentsOf50MBAreRefused(t *testing.T) {
	tool := work()
	big := make(json.RawMessage, 50<<20)
	copy(big, `{"text":"`)
	a := &loop.Agent{Tools: tools(tool), Model: model(func(req agent.LLMRequest) (agent.LLMResponse, error) {
		if len(req.Messages) > 1 {
			return agent.LLMResponse{Content: lastContent(req, agent.RoleTool)}, nil
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "work", Args: big}}}, nil
	})}
	ran, err := a.Run(t.Context(), "x")
	if err != nil || tool.Count() != 0 ||
		ran.Reply != "error: the arguments have 52428800 bytes, the limit is 1048576; send less" {
		t.Errorf("replied %q, %v", ran.Reply, err)
	}
	if len(ran.Calls[0].Call.Args) != len(big) {
		t.Error("the record lost the arguments")
	}
}

// A model is a function that replies.
type model func(req agent.LLMRequest) (agent.LLMResponse, error)

func (m model) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m(req)
}

func TestCallsWithEqualIDsAreDistinguished(t *testing.T) {
	tool := &looptest.Tool{Name: "work", Result: "done"}
	ran := looptest.Harness{
		Turns: turns(
			looptest.Calls(looptest.Call("work", `{"n":1}`).ID("a"), looptest.Call("work", `{"n":2}`).ID("a"),
				looptest.Call("work", `{"n":3}`).ID(""), looptest.Call("work", `{"n":4}`).ID("a#2")),
			looptest.Call("work", `{"n":5}`).ID("a"),
			looptest.Reply("ok")),
		Tools: tools(tool),
	}.Run(t, "x")
	if tool.Count() != 4 || len(ran.Calls) != 5 {
		t.Errorf("the tool ran %d times: %+v", tool.Count(), ran.Calls)
	}
	if r := ran.Calls[1]; r.Kind != agent.FailDuplicate || !strings.Contains(r.Err, `"a"`) || r.Call.ID == "a" ||
		r.Call.ID == "a#2" {
		t.Errorf("recorded %+v", r)
	}
	if ran.Calls[2].Call.ID == "" || ran.Calls[4].Err != "" {
		t.Errorf("recorded %+v", ran.Calls)
	}
	checkAnswered(t, ran.Messages)
	checkPaired(t, ran.Recorder)
}

func TestOnlyOfferedToolsAreCalled(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			req.Tools = nil
			return agent.ReplaceBeforeLLM(req, "no tools here"), nil
		})),
	}.Run(t, "x")
	if tool.Count() != 0 || ran.Calls[0].Kind != agent.FailUnknown || !strings.Contains(ran.Calls[0].Err, "not offered") {
		t.Errorf("got %+v", ran.Calls)
	}
}

func TestAHookCanAddATool(t *testing.T) {
	tool := &looptest.Tool{Name: "late", Result: "added"}
	var again error
	ran := looptest.Harness{
		Turns: turns(looptest.Call("late", nil), looptest.Reply("ok")),
		Hooks: hooks(agent.OnRunStartFunc(func(
			_ context.Context, run *agent.Run, _ agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			if err := run.Env.Tools.Add(tool); err != nil {
				return nil, err
			}
			again = run.Env.Tools.Add(tool)
			return nil, nil
		})),
	}.Run(t, "x")
	if tool.Count() != 1 || ran.Calls[0].Output != "added" || again == nil {
		t.Errorf("got %+v; adding twice: %v", ran.AgentResult, again)
	}
	if len(ran.Agent.Tools) != 0 {
		t.Error("the agent has the tool now")
	}
}

func TestAMisbehavingToolFailsOnlyItsCall(t *testing.T) {
	for _, c := range []struct {
		name string
		tool *looptest.Tool
		kind agent.FailureKind
		text string
	}{
		{"Error", &looptest.Tool{Err: errBoom, Result: "guidance"}, agent.FailTool, "boom"},
		{"TypedError", &looptest.Tool{Err: &agent.ToolError{Kind: "not_found", Message: "no such file", NoRetry: true}},
			"not_found", "no such file"},
		{"Panic", &looptest.Tool{Panic: "ouch"}, agent.FailPanic, "the tool work panicked: ouch"},
		{"PanicWithError", &looptest.Tool{Panic: errBoom}, agent.FailPanic, "boom"},
		{"Goexit", &looptest.Tool{
			Func: func(context.Context, agent.ToolCallRequest) (string, error) { runtime.Goexit(); return "", nil },
		}, agent.FailPanic, "ended its goroutine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tool.Name = "work"
			good := &looptest.Tool{Name: "good", Result: "fine"}
			ran := looptest.Harness{
				Turns: turns(looptest.Calls(looptest.Call("work", nil), looptest.Call("good", nil)), looptest.Reply("ok")),
				Tools: tools(c.tool, good),
			}.Run(t, "x")
			r := ran.Calls[0]
			if r.Status != agent.CallFailed || r.Kind != c.kind || !strings.Contains(r.Err, c.text) || r.Attempts != 1 {
				t.Errorf("recorded %+v", r)
			}
			if r.Output != c.tool.Result || r.NoRetry != (c.name == "TypedError") {
				t.Errorf("recorded %+v", r)
			}
			failures := hooktest.PayloadsOf[agent.ToolFailure](ran.Recorder, "OnToolError")
			if len(failures) != 1 || failures[0].WillRetry || failures[0].Attempt != 1 || failures[0].Kind != c.kind {
				t.Errorf("failures %+v", failures)
			}
			if ran.Calls[1].Output != "fine" || ran.Reply != "ok" || ran.Failed != nil {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
		})
	}
}

func TestAnEmptyOutputIsASuccess(t *testing.T) {
	for _, tool := range []agent.Tool{
		&looptest.Tool{Name: "work"},
		loop.Tool("work", "", func(context.Context, struct{}) (*int, error) { return nil, nil }),
		loop.Tool("work", "", func(context.Context, map[string]any) (any, error) { return nil, nil }),
		loop.Tool("work", "", func(context.Context, struct{}) ([]string, error) { return nil, nil }),
	} {
		ran := looptest.Harness{
			Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(tool),
		}.Run(t, "x")
		if r := ran.Calls[0]; r.Status != agent.CallSucceeded || r.Output != "" {
			t.Errorf("%T: recorded %+v", tool, r)
		}
		if got := lastContent(ran.Script.Requests()[1], agent.RoleTool); got != "(no output)" {
			t.Errorf("%T: the model was told %q", tool, got)
		}
	}
}

func TestAHangingToolIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		for _, c := range []struct {
			name string
			tool *looptest.Tool
			took time.Duration
		}{
			{"HeedsItsContext", &looptest.Tool{Hang: true}, time.Minute},
			{"IgnoresItsContext", &looptest.Tool{
				Func: func(context.Context, agent.ToolCallRequest) (string, error) { <-release; return "late", nil },
			}, time.Minute + time.Second},
		} {
			c.tool.Name = "hang"
			ran := looptest.Harness{
				Turns: turns(looptest.Call("hang", nil), looptest.Reply("ok")),
				Tools: tools(c.tool),
				Agent: &loop.Agent{Limits: loop.Limits{ToolTime: time.Minute}},
			}.Run(t, "x")
			r := ran.Calls[0]
			if r.Kind != agent.FailTimeout || !strings.Contains(r.Err, "within 1m0s") || r.Elapsed != c.took ||
				ran.Reply != "ok" {
				t.Errorf("%s: recorded %+v", c.name, r)
			}
		}
	})
}

func TestAToolsOwnTimeLimitCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := looptest.Harness{
			Turns: turns(looptest.Call("slow", nil), looptest.Call("slow", nil), looptest.Reply("ok")),
			Tools: tools(timed{&looptest.Tool{Name: "slow", Result: "done", Delay: time.Hour}, 2 * time.Hour}),
			Agent: &loop.Agent{Limits: loop.Limits{ToolTime: time.Minute}},
		}.Run(t, "x")
		if r := ran.Calls[0]; !r.OK() || r.Elapsed != time.Hour {
			t.Errorf("recorded %+v", r)
		}
	})
}

type timed struct {
	*looptest.Tool
	limit time.Duration
}

func (t timed) Timeout() time.Duration { return t.limit }

func TestToolReportsProgressOnlyWhileItRuns(t *testing.T) {
	release, reported := make(chan struct{}), make(chan struct{})
	tool := &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		agentspec.Progress(ctx, "half", map[string]int{"percent": 50})
		agentspec.Progress(ctx, "nearly", nil)
		go func() {
			<-release
			agentspec.Progress(ctx, "late", nil)
			close(reported)
		}()
		return "done", nil
	}}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			close(release)
			<-reported
			return nil, nil
		})),
	}.Run(t, "x")
	got := hooktest.PayloadsOf[agent.ToolProgress](ran.Recorder, "OnToolProgress")
	if len(got) != 2 || got[0].Stage != "half" || string(got[0].Data) != `{"percent":50}` || got[1].Stage != "nearly" ||
		got[1].Call.ID != "call_1_1" {
		t.Errorf("reported %+v", got)
	}
	ran.Recorder.InOrder(t, "BeforeTool", "OnToolProgress", "AroundTool", "AfterTool")
}

func TestAMisbehavingModelFailsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		acts := func(f func(context.Context) (agent.LLMResponse, error)) looptest.Turn {
			return looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) { return f(ctx) })
		}
		for name, turn := range map[string]looptest.Turn{
			"boom":           looptest.Error(errBoom),
			"panicked: ouch": acts(func(context.Context) (agent.LLMResponse, error) { panic("ouch") }),
			"ended its goroutine": acts(func(context.Context) (agent.LLMResponse, error) {
				runtime.Goexit()
				return agent.LLMResponse{}, nil
			}),
			"within 1m0s": acts(func(ctx context.Context) (agent.LLMResponse, error) {
				<-ctx.Done()
				return agent.LLMResponse{}, ctx.Err()
			}),
			"and was left running": acts(func(context.Context) (agent.LLMResponse, error) {
				<-release
				return agent.LLMResponse{}, nil
			}),
			"script is exhausted":    {},
			"it ignored its context": acts(func(context.Context) (agent.LLMResponse, error) { <-release; panic("late") }),
		} {
			l := looptest.Harness{Turns: turns(turn), Agent: &loop.Agent{Limits: loop.Limits{ModelTime: time.Minute}}}
			if name == "script is exhausted" {
				l.Turns = nil
			}
			ran := l.Run(t, "x")
			if ran.Failed == nil || !strings.Contains(ran.Err, name) || ran.Stop.Cause != agent.CauseError || ran.Reply != "" {
				t.Errorf("%s: got %+v, %v", name, ran.AgentResult, ran.Failed)
			}
			steps := hooktest.PayloadsOf[agent.StepResult](ran.Recorder, "AfterStep")
			if len(steps) != 1 || !strings.Contains(steps[0].Err, name) || steps[0].Response != nil {
				t.Errorf("%s: AfterStep was told %+v", name, steps)
			}
			ran.Recorder.Times(t, "OnRunError", 1)
			checkPaired(t, ran.Recorder)
		}
	})
}

func TestRepliesCanAlwaysBeEncoded(t *testing.T) {
	odd := agent.LLMResponse{
		Content: "ok", Usage: agent.Usage{Input: 1, Cost: math.NaN()}, Extra: map[string]json.RawMessage{
			"odd": json.RawMessage("{"),
		},
	}
	ran := looptest.Harness{
		Agent: &loop.Agent{Model: model(func(agent.LLMRequest) (agent.LLMResponse, error) { return odd, nil })},
	}.Run(t, "x")
	for _, f := range ran.Recorder.Fires() {
		for _, v := range []any{f.Payload, f.Final, f.Result} {
			if _, err := json.Marshal(v); err != nil {
				t.Errorf("%s: %v", f.Point, err)
			}
		}
	}
	if got := ran.Messages[1].Extra["odd"]; string(got) != `"{"` || ran.Usage.Input != 1 {
		t.Errorf("got %s, %+v", got, ran.Usage)
	}
}

func TestPanicOfAModelKeepsItsStack(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { panic(errBoom) })),
	}.Run(t, "x")
	var crash *loop.PanicError
	if !errors.As(ran.Failed, &crash) || !strings.Contains(string(crash.Stack), "TestPanicOfAModelKeepsItsStack") ||
		!errors.Is(ran.Failed, errBoom) {
		t.Errorf("got %v", ran.Failed)
	}
}

func TestRepeatedEmptyRepliesStopTheRun(t *testing.T) {
	script := looptest.NewScript()
	for range 100 {
		script.Add(looptest.Reply(""))
	}
	ran := looptest.Harness{Agent: &loop.Agent{Model: script}}.Run(t, "x")
	if len(script.Calls()) != 3 || ran.Stop.Cause != agent.CauseRetryLimit || !strings.Contains(ran.Stop.Message,
		"nothing 3 times") {
		t.Errorf("%d calls, %+v", len(script.Calls()), ran.Stop)
	}
	if got := lastContent(script.Requests()[1], agent.RoleUser); !strings.Contains(got, "empty") {
		t.Errorf("the model was told %q", got)
	}
	ran = looptest.Harness{
		Turns: turns(looptest.Reply(""), looptest.Reply(""), looptest.Call("work", nil), looptest.Reply(""),
			looptest.Reply("ok")),
		Tools: tools(work()),
	}.Run(t, "x")
	if ran.Reply != "ok" || len(ran.Messages) != 4 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	for i, noted := range []bool{false, true, true, false, true} {
		if got := lastContent(ran.Script.Requests()[i], agent.RoleUser); strings.Contains(got, "empty") != noted {
			t.Errorf("request %d ends with %q", i, got)
		}
	}
}

// A model sends the same call again, which is too long for a reply. A reply with another call has done something.
func TestRepeatedCutCallsStopTheRun(t *testing.T) {
	long := looptest.Call("work", `{"text":"a lo`)
	cut, useful := long.Finish("length"), looptest.Calls(looptest.Call("work", nil), long).Finish("length")
	for _, c := range []struct {
		turns []looptest.Turn
		calls int
		cause agent.Cause
	}{
		{turns(cut, cut, cut, cut), 3, agent.CauseRetryLimit},
		{turns(cut, cut, useful, cut, cut, looptest.Reply("ok")), 6, agent.CauseCompleted},
	} {
		ran := looptest.Harness{Turns: c.turns, Tools: tools(work())}.Run(t, "x")
		if ran.ModelCalls != c.calls || ran.Stop.Cause != c.cause {
			t.Errorf("%d calls, %+v", ran.ModelCalls, ran.Stop)
		}
		checkAnswered(t, ran.Messages)
	}
}

func TestAnInvalidAgentReturnsErrors(t *testing.T) {
	model := looptest.NewScript()
	var none *looptest.Tool
	named := &looptest.Tool{Name: "a"}
	for text, a := range map[string]*loop.Agent{
		"the agent is nil":                  nil,
		"set Model":                         {},
		"start of the run panicked: window": {Model: panickingWindow{}},
		"Limits.Cost is NaN":                {Model: model, Limits: loop.Limits{Cost: math.NaN()}},
		"Limits.Cost is +Inf":               {Model: model, Limits: loop.Limits{Cost: math.Inf(1)}},
		"Tools[0] is nil":                   {Model: model, Tools: tools(none)},
		"has no name":                       {Model: model, Tools: tools(&looptest.Tool{})},
		"two tools":                         {Model: model, Tools: tools(named, named)},
		"not a valid JSON Schema":           {Model: model, Tools: tools(&looptest.Tool{Name: "a", Parameters: `[`})},
		"not a usable JSON Schema": {Model: model, Tools: tools(&looptest.Tool{
			Name: "a", Parameters: `{"$ref":"#/nowhere"}`,
		})},
		"Handoffs[0] is nil":         {Model: model, Handoffs: []*loop.Agent{nil}},
		"Schema of the tool":         {Model: model, Tools: tools(&broken{})},
		"\"transfer_to_agent\"":      {Model: model, Handoffs: []*loop.Agent{{}, {}}},
		"agent \"named\": the model": {Name: "named"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := a.Run(t.Context(), "x")
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("got %v, want %q", err, text)
			}
			ofRun := []agent.Hook{&before{}} // a layer that is valid
			for _, streamed := range a.Stream(t.Context(), loop.Request{Task: "x", Use: ofRun}) {
				if streamed == nil || !strings.Contains(streamed.Error(), text) {
					t.Errorf("a stream yields %v, want %q", streamed, text)
				}
			}
		})
	}
	if len(model.Calls()) != 0 {
		t.Error("an agent that cannot run called the model")
	}
}

type panickingWindow struct{ model }

func (panickingWindow) ContextWindow() int { panic("window") }

func TestANilContextIsTheBackground(t *testing.T) {
	a := &loop.Agent{Model: model(func(agent.LLMRequest) (agent.LLMResponse, error) {
		return agent.LLMResponse{Content: "ok"}, nil
	})}
	var none context.Context
	if ran, err := a.Run(none, "x"); err != nil || ran.Reply != "ok" {
		t.Errorf("replied %q, %v", ran.Reply, err)
	}
	for e, err := range a.Stream(none, loop.Request{Task: "x"}) {
		if err != nil || e.End != nil && e.End.Reply != "ok" {
			t.Errorf("streamed %+v, %v", e, err)
		}
	}
}

type broken struct{ looptest.Tool }

func (*broken) Schema() agent.ToolSchema { panic("schema") }

func TestAConversationIsContinued(t *testing.T) {
	call := agent.ToolCallRequest{ID: "old", Name: "work", Args: []byte(`{}`)}
	history := []agent.Message{
		{Role: agent.RoleSystem, Content: "kept"}, {Role: agent.RoleUser, Content: "hello"},
		{Role: agent.RoleAssistant, ToolCalls: []agent.ToolCallRequest{call}},
	}
	ran := looptest.Harness{Turns: turns(looptest.Reply("ok"))}.Do(t, t.Context(), loop.Request{
		Task: "again", Messages: history, Conversation: "c1",
		Resume: loop.Resume{Steps: 4, ModelCalls: 6, Usage: agent.Usage{Input: 100}, Rejections: 1},
	})
	if ran.Steps != 5 || ran.ModelCalls != 7 || ran.Usage.Input != 100 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	got := ran.Script.Requests()[0].Messages
	if len(got) != 5 || got[0].Content != "kept" || got[3].ToolCallID != "old" || !got[3].IsError ||
		got[4].Content != "again" {
		t.Errorf("the model got %+v", got)
	}
	if len(history) != 3 {
		t.Error("the caller's messages were changed")
	}
	checkAnswered(t, ran.Messages)

	_, err := (&loop.Agent{Model: ran.Script}).Do(t.Context(), loop.Request{
		Messages: []agent.Message{{Role: agent.RoleTool, ToolCallID: "lost"}},
	})
	if err == nil || !strings.Contains(err.Error(), "cannot be continued") {
		t.Errorf("got %v", err)
	}
}

func TestAnEmptyTaskIsATask(t *testing.T) {
	ran := looptest.Harness{Turns: turns(looptest.Reply("hi"))}.Run(t, "")
	if ran.Reply != "hi" || len(ran.Script.Requests()[0].Messages) != 0 {
		t.Errorf("got %+v", ran.AgentResult)
	}
}
