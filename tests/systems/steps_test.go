package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestParallelCallsReportTheirOwnProgress(t *testing.T) {
	var begun sync.WaitGroup // each call waits until all three run
	begun.Add(3)
	slow := &looptest.Tool{Name: "work", Func: func(ctx context.Context, call agent.ToolCallRequest) (string, error) {
		begun.Done()
		begun.Wait()
		agentspec.Progress(ctx, "first", call.ID)
		agentspec.Progress(ctx, "last", call.ID)
		return call.ID, nil
	}}
	three := looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`),
		looptest.Call("work", `{"n":3}`))
	ran := looptest.Harness{Turns: all(three, looptest.Reply("ok")), Tools: all(loop.ReadOnly(slow))}.Run(t, "x")
	stages := map[string][]string{}
	for _, p := range hooktest.PayloadsOf[agent.ToolProgress](ran.Recorder, "OnToolProgress") {
		if string(p.Data) != `"`+p.Call.ID+`"` {
			t.Errorf("the report of %s holds %s", p.Call.ID, p.Data)
		}
		stages[p.Call.ID] = append(stages[p.Call.ID], p.Stage)
	}
	for i, c := range ran.Calls {
		id := fmt.Sprintf("call_1_%d", i+1)
		if c.Call.ID != id || c.Output != id || !slices.Equal(stages[id], []string{"first", "last"}) {
			t.Errorf("call %d: %+v, reported %v", i, c, stages[id])
		}
	}
}

func TestAHookAddsATool(t *testing.T) {
	added := &looptest.Tool{Name: "added", Result: "from the added tool"}
	adds := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		return nil, run.Env.Tools.Add(added)
	})
	ran := looptest.Harness{
		Turns: all(looptest.Call("added", nil), looptest.Reply("ok")), Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](adds),
	}.Run(t, "x")
	offered := ran.Script.Requests()[0].Tools
	if len(offered) != 2 || offered[1].Name != "added" || added.Count() != 1 {
		t.Errorf("offered %v, called %d times", offered, added.Count())
	}
	contains(t, requestText(t, ran, 1), "from the added tool")
	if len(ran.Agent.Tools) != 1 {
		t.Error("the tool stayed when the run was over")
	}
}

func TestStopEndsTheRunAfterItsStep(t *testing.T) {
	tool := work()
	stop := agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
		if s.Last != nil && len(s.Last.Results) == 1 {
			return []agent.EndRun{{Cause: agent.CauseStopRequested, Message: "one call is enough"}}, nil
		}
		return nil, nil
	})
	ran := looptest.Harness{Turns: working(3), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](stop)}.Run(t, "x")
	if tool.Count() != 1 || ran.Steps != 1 || ran.Stop.Message != "one call is enough" || !ran.Calls[0].OK() {
		t.Errorf("the tool ran %d times, %+v", tool.Count(), ran.AgentResult)
	}
	ran.Recorder.InOrder(t, "AfterTool", "AfterStep", "ShouldStop", "OnStop", "OnRunEnd")
	ran.Recorder.Times(t, "BeforeStep", 1)
}

func TestAnUnparsableReplyIsAStep(t *testing.T) {
	tool := work()
	garbled := all(looptest.Call("work", `{"n":`), looptest.Reply(""), looptest.Call("nowhere", nil), looptest.Reply("ok"))
	ran := looptest.Harness{Turns: garbled, Tools: all[agent.Tool](tool)}.Run(t, "x")
	if ran.Steps != 4 || tool.Count() != 0 || statuses(ran) != "failed failed" || ran.Reply != "ok" {
		t.Errorf("the tool ran %d times, %+v", tool.Count(), ran.AgentResult)
	}
	ran.Recorder.Times(t, "AfterStep", 4)
	contains(t, requestText(t, ran, 1), "not JSON")
	contains(t, requestText(t, ran, 2), "Your last reply was empty")

	limited := &loop.Agent{Limits: loop.Limits{Steps: 2}}
	ran = looptest.Harness{Turns: garbled, Tools: all[agent.Tool](tool), Agent: limited}.Run(t, "x")
	if ran.Steps != 2 || ran.Stop.Cause != agent.CauseStepsLimit || len(ran.Script.Calls()) != 2 {
		t.Errorf("past the limit: %+v", ran.AgentResult)
	}

	ran = looptest.Harness{Turns: working(1), Tools: all[agent.Tool](nil)}.Run(t, "x")
	if ran.Failed == nil || len(ran.Script.Calls()) != 0 || len(ran.Recorder.Fires()) != 0 {
		t.Errorf("an agent with a missing tool ran: %v", ran.Failed)
	}
	ran = looptest.Harness{Turns: working(1)}.Run(t, "x")
	contains(t, ran.Calls[0].Err, "there are no tools; answer without one")
}

func TestAnAnswerMustFitItsSchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`
	for name, c := range map[string]struct {
		agent *loop.Agent
		turns []looptest.Turn
		hooks []agent.Hook
	}{
		"the done tool's own": {
			&loop.Agent{Done: agent.ToolSchema{Name: "done", Parameters: json.RawMessage(schema)}},
			all(looptest.Call("done", `{"count":"many"}`), looptest.Call("done", `{"count":3}`)), nil,
		},
		"a gate's": {
			&loop.Agent{},
			all(looptest.Reply(`{"count":"many"}`), looptest.Reply(`{"count":3}`)),
			all[agent.Hook](&answer.Gate{Conditions: all(answer.AnswerSchema(schema))}),
		},
	} {
		ran := looptest.Harness{Agent: c.agent, Turns: c.turns, Hooks: c.hooks}.Run(t, "x")
		if ran.Reply != `{"count":3}` || ran.Steps != 2 || ran.Stop.Cause != agent.CauseCompleted {
			t.Errorf("%s: %+v", name, ran.AgentResult)
		}
		contains(t, requestText(t, ran, 1), "count", "integer")
		if c.hooks == nil && (ran.Calls[0].OK() || !strings.Contains(ran.Calls[0].Err, "count") || !ran.Calls[1].OK()) {
			t.Errorf("%s: the calls are %+v", name, ran.Calls)
		}
		ran.Recorder.Times(t, "OnDoneAccepted", 1)
	}
}

func TestAParentObservesItsSubRuns(t *testing.T) {
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("helped"), looptest.Reply("helped"))}
	l := looptest.Harness{
		Turns: all(looptest.Call("helper", `{"task":"a"}`), looptest.Reply("ok")), Tools: all(loop.Subagent(helper)),
	}
	ran := l.Run(t, "x")
	root := ran.Recorder.Fires("OnRunStart")[0].Run
	start := hooktest.PayloadsOf[agent.Subagent](ran.Recorder, "OnSubagentStart")
	stop := hooktest.PayloadsOf[agent.SubagentDone](ran.Recorder, "OnSubagentStop")
	if root == "" || len(start) != 1 || len(stop) != 1 || start[0].ID != stop[0].ID || start[0].ID == root ||
		stop[0].Steps != 1 || stop[0].ModelCalls != 1 {
		t.Fatalf("started %+v, stopped %+v", start, stop)
	}
	var inside []string
	for _, f := range ran.Recorder.Fires("OnRunStart", "BeforeLLM", "OnRunEnd") {
		if f.Run == start[0].ID && f.Parent == root {
			inside = append(inside, f.Point)
		}
	}
	if !slices.Equal(inside, []string{"OnRunStart", "BeforeLLM", "OnRunEnd"}) {
		t.Errorf("of the sub-run the parent heard %v", inside)
	}

	silent := &loop.Agent{Model: looptest.NewScript(l.Turns...), Tools: l.Tools} // without hooks
	ran.Recorder.Reset()
	if result, err := silent.Run(t.Context(), "x"); err != nil || result.Reply != "ok" || len(ran.Recorder.Fires()) != 0 {
		t.Errorf("got %q, %v; hooks of another agent heard %v", result.Reply, err, ran.Recorder.Points())
	}
}

// stopwatch is one hook in two parts that share the state of a run.
type stopwatch struct {
	runs hookkit.PerRun[map[string]string]
	seen diary
}

func (s *stopwatch) Bind(h *agent.Hooks) {
	h.BeforeTool.Add(s)
	h.AfterTool.Add(s)
}

func (s *stopwatch) BeforeTool(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	s.runs.Do(run, func(m *map[string]string) { *m = map[string]string{call.ID: "private-" + call.ID} })
	return nil, nil
}

func (s *stopwatch) AfterTool(
	_ context.Context, run *agent.Run, r agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	s.runs.Do(run, func(m *map[string]string) { s.seen.note("%s", (*m)[r.Call.ID]) })
	return nil, nil
}

func TestPartsOfAHookShareItsState(t *testing.T) {
	dir, watch := t.TempDir(), &stopwatch{}
	hooks := new(agent.Hooks)
	looptest.Harness{
		Turns: working(2),
		Tools: all[agent.Tool](work()),
		Agent: &loop.Agent{Hooks: hooks},
		Hooks: all[agent.Hook](watch,
			&record.Provenance{Dir: filepath.Join(dir, "run"), OneRun: true, Snapshot: true, Hooks: hooks},
			&session.Checkpoint{Store: session.Dir{Path: filepath.Join(dir, "checkpoints")}, Every: 1}),
	}.Run(t, "x")
	watch.seen.want(t, "private-call_1_1", "private-call_2_1")
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		lacks(t, string(text), "private-")
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, %v", files, err)
	}
}
