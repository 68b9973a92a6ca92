package systems

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestZeroPayloadsNameTheirPoint(t *testing.T) {
	var h agent.Hooks
	var seen []agent.ToolCallRequest
	r, trace := hooktest.Record(h.Points()), new(hookkit.TraceRecorder)
	h.Trace(trace)
	h.Use(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		seen = append(seen, call)
		return nil, nil
	}), named("looks"))
	var zero agent.ToolCallRequest
	if exit, err := h.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &zero); exit != nil || err != nil ||
		len(seen) != 1 || !reflect.DeepEqual(seen[0], agent.ToolCallRequest{}) {
		t.Errorf("with a zero payload: %v, %v, the hook saw %+v", exit, err, seen)
	}
	if zero.ID != "" || zero.Name != "" || zero.Args != nil || zero.Step != 0 || !(agent.ToolCallResult{}).OK() {
		t.Error("zero values are not what they are said to be")
	}
	r.Fired(t, "BeforeTool")
	for _, e := range trace.Events() {
		if e.Point != "BeforeTool" || e.Kind == hookkit.EventHook && e.Hook != "looks" {
			t.Errorf("the trace knows %q at the point %q", e.Hook, e.Point)
		}
	}
}

func TestHooksAreRegisteredAndListedByPoint(t *testing.T) {
	var h agent.Hooks
	h.BeforeTool.Add(continues, named("one"))
	h.BeforeTool.Add(continues, named("two"))
	h.AfterTool.Add(appends("!"), named("three"))
	listed := map[string][]string{}
	for _, p := range h.Points() {
		if hooks := names(p.Hooks()); len(hooks) > 0 {
			listed[p.Name] = hooks
		}
	}
	if want := map[string][]string{"BeforeTool": {"one", "two"}, "AfterTool": {"three"}}; !reflect.DeepEqual(listed,
		want) {
		t.Errorf("listed %v, want %v", listed, want)
	}
}

func TestRemovingSaysWhetherTheHookWasThere(t *testing.T) {
	var h agent.Hooks
	r := h.BeforeTool.Add(continues)
	if !r.Remove() || r.Remove() {
		t.Error("it was there once")
	}
	for _, p := range h.Points() {
		if len(p.Hooks()) != 0 {
			t.Errorf("%s is not empty: %v", p.Name, p.Hooks())
		}
	}
	if len(h.Points()) != 31 {
		t.Errorf("%d points are listed, empty ones are missing", len(h.Points()))
	}
}

func TestClearingOnePointLeavesTheOthers(t *testing.T) {
	var h agent.Hooks
	var d diary
	before := all(h.BeforeTool.Add(d.noting("one")), h.BeforeTool.Add(d.noting("two")))
	after := h.AfterTool.Add(appends("!"))
	for _, r := range before {
		r.Remove()
	}
	fire(t, &h)
	d.want(t)
	result := agent.ToolCallResult{Output: "done"}
	if _, err := h.AfterTool.Fire(t.Context(), agent.NewRun(nil), &result); err != nil || result.Output != "done!" {
		t.Errorf("the other point made %q, %v", result.Output, err)
	}
	after.Remove()
	for _, p := range h.Points() {
		if len(p.Hooks())+len(p.Observers()) != 0 {
			t.Errorf("%s is not clear", p.Name)
		}
	}
}

func TestSlowObserversDelayNothing(t *testing.T) {
	var h agent.Hooks
	var d diary
	release := make(chan struct{})
	h.BeforeTool.Add(d.noting("hook"))
	h.BeforeTool.Observe(notified(func(agent.BeforeToolFired[agent.ToolCallRequest]) { d.note("fast") }))
	slow := h.BeforeTool.Observe(notified(func(f agent.BeforeToolFired[agent.ToolCallRequest]) {
		<-release
		d.note("slow %s", f.Payload.Name)
	}), hookkit.Async(4))
	for range 2 {
		fire(t, &h)
	}
	d.want(t, "hook", "fast", "hook", "fast")
	close(release)
	if err := slow.Drain(t.Context()); err != nil || slow.Dropped() != 0 {
		t.Errorf("%v, %d dropped", err, slow.Dropped())
	}
	d.want(t, "slow work", "slow work")
}

func TestFiringAPointNobodyHearsIsFine(t *testing.T) {
	var h agent.Hooks
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{Name: "work"}
	if exit, err := h.BeforeTool.Fire(t.Context(), run, &call); exit != nil || err != nil || call.Name != "work" {
		t.Errorf("%v, %v, %+v", exit, err, call)
	}
	if exit, err := h.OnPermission.Fire(t.Context(), run, call); exit != nil || err != nil {
		t.Errorf("a vote of nobody: %v, %v", exit, err)
	}
	if texts := h.Briefing.Fire(t.Context(), run, agent.Step{}); texts != nil {
		t.Errorf("nobody said %q", texts)
	}
	h.OnToolError.Fire(t.Context(), run, agent.ToolFailure{})
	result, err := h.AroundTool.Fire(t.Context(), run, call, func(
		context.Context, agent.ToolCallRequest,
	) (agent.ToolCallResult, error) {
		return agent.ToolCallResult{Output: "done"}, nil
	})
	if result.Output != "done" || err != nil {
		t.Errorf("the act that nobody wraps: %+v, %v", result, err)
	}
}

func TestOneDispatchMakesOneAuditLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log := &record.Audit{Path: path, Points: all("AfterTool", "BeforeTool")}
	hooks := new(agent.Hooks)
	hooks.Use(log) // and again below: still one line
	looptest.Harness{
		Turns: working(2), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](log), Agent: &loop.Agent{Hooks: hooks},
	}.Run(t, "x")
	before := audited[agent.ToolCallRequest](t, path, "BeforeTool")
	after := audited[agent.ToolCallResult](t, path, "AfterTool")
	if len(before) != 2 || before[0].ID != "call_1_1" || before[1].ID != "call_2_1" ||
		len(after) != 2 || after[0].Call.ID != "call_1_1" || after[1].Call.ID != "call_2_1" {
		t.Errorf("two calls made the lines %+v and %+v", before, after)
	}
}

func TestAHookIsRegisteredOncePerAgent(t *testing.T) {
	var d diary
	hooks := new(agent.Hooks)
	bound := 0
	own := bind(func(h *agent.Hooks) { bound++; h.Use(d.noting("own")) })
	helper := &loop.Agent{
		Name: "helper", Tools: all[agent.Tool](work()), Hooks: loop.Hooks(own),
		Model: looptest.NewScript(working(1)...).ForEachRun(),
	}
	boss := &loop.Agent{Hooks: hooks, Tools: all(loop.Subagent(helper)), Model: looptest.NewScript(
		looptest.Calls(looptest.Call("helper", `{"task":"a"}`), looptest.Call("helper", `{"task":"b"}`)),
		looptest.Reply("ok")).ForEachRun()}
	for range 2 { // four runs of the helper under the same hooks bind its hook once
		if _, err := boss.Run(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	d.want(t, "own", "own", "own", "own")
	if bound != 1 || len(hooks.BeforeTool.List()) != 0 {
		t.Errorf("it was bound %d times; outside the helper there are %v", bound, names(hooks.BeforeTool.List()))
	}
	itself := &loop.Agent{Name: "itself", Hooks: loop.Hooks(own), Model: looptest.NewScript(
		looptest.Call("itself", `{"task":"again"}`), looptest.Call("work", nil), looptest.Reply("inner"),
		looptest.Reply("outer"))}
	itself.Tools = all(loop.Subagent(itself), agent.Tool(work()))
	if result, err := itself.Run(t.Context(), "x"); err != nil || result.Reply != "outer" {
		t.Errorf("%q, %v", result.Reply, err)
	}
	d.want(t, "own", "own") // for its own call and for the inner call, once each
}

func TestMetricsCountsCallsAndAttempts(t *testing.T) {
	var d diary
	m := &record.Metrics{}
	retries := agent.AroundToolFunc(func(ctx context.Context, _ *agent.Run, call agent.ToolCallRequest,
		next agent.AroundToolNext) (hookkit.Answer[agent.ToolCallResult], error) {
		if answer, err := next.Call(ctx, call); err == nil {
			return answer, nil
		}
		return next.Call(ctx, call)
	})
	errs := agent.OnToolErrorFunc(func(_ context.Context, _ *agent.Run, f agent.ToolFailure) error {
		d.note("%s %d %v", f.Err, f.Attempt, f.WillRetry)
		return nil
	})
	flaky := &looptest.Tool{Name: "work", Err: errBoom}
	ran := looptest.Harness{
		Turns: working(2), Tools: all[agent.Tool](flaky), Hooks: all[agent.Hook](m, retries, errs),
	}.Run(t, "x")
	d.want(t, "boom 1 true", "boom 2 false", "boom 1 true", "boom 2 false")
	if r := m.Report(); r.ToolCalls != 2 || r.Tools["work"].Calls != 2 || r.Tools["work"].Failures != 2 ||
		flaky.Count() != 4 || ran.Calls[0].Attempts != 2 {
		t.Errorf("two calls of two attempts were counted as %+v", r)
	}
}

func TestHooksFollowTheirWorkspace(t *testing.T) {
	var d diary
	global := new(agent.Hooks)
	global.BeforeTool.Add(d.noting("global"))
	run := func(h *agent.Hooks) {
		looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Agent: &loop.Agent{Hooks: h}}.Run(t, "x")
	}
	workspace := bind(func(h *agent.Hooks) {
		h.BeforeTool.Add(d.noting("workspace"))
		h.OnRunEnd.Add(onRunEnd(func(agent.AgentResult) error { d.note("end"); return nil }))
	})
	for range 2 { // opened twice, one after the other
		opened := global.Use(workspace)
		run(global)
		d.want(t, "global", "workspace", "end")
		if !opened.Remove() {
			t.Error("the workspace's hooks were not there")
		}
		run(global)
		d.want(t, "global")
	}
	layer := global.Layer("inner") // open next to others, in its own layer
	layer.Use(workspace)
	run(layer)
	d.want(t, "global", "workspace", "end")
	run(global)
	d.want(t, "global")
	if one, two := global.Use(workspace), global.Use(workspace); !one.Remove() || !two.Remove() ||
		len(global.BeforeTool.List()) != 1 {
		t.Errorf("loaded twice and gone twice, there are %v", names(global.BeforeTool.List()))
	}
}

// moments returns the names of the fires among five points.
func moments(ran *looptest.Ran) string {
	var out []string
	for _, f := range ran.Recorder.Fires("OnPermissionDenied", "OnToolsDisabled", "OnBudgetExceeded", "OnToolError",
		"AfterTool") {
		out = append(out, f.Point)
	}
	return strings.Join(out, " ")
}

func TestEachPointFiresAtItsMomentAlone(t *testing.T) {
	ask := onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return agent.Ask{}, nil })
	for name, c := range map[string]struct {
		tool  *looptest.Tool
		agent *loop.Agent
		hooks []agent.Hook
		want  string
		kind  agent.DenialKind
	}{
		"nothing happens": {work(), &loop.Agent{}, nil, "AfterTool", ""},
		"a vote": {
			work(), &loop.Agent{}, all(denies("work", "no")), "OnPermissionDenied AfterTool", agent.DeniedByVote,
		},
		"a person": {
			work(), &loop.Agent{Approver: &clerk{}}, all[agent.Hook](ask), "OnPermissionDenied AfterTool", agent.DeniedByPerson,
		},
		"the switch": {work(), &loop.Agent{ToolsDisabled: func() bool { return true }}, nil, "OnToolsDisabled", ""},
		"a failure":  {&looptest.Tool{Name: "work", Err: errBoom}, &loop.Agent{}, nil, "OnToolError AfterTool", ""},
		"a budget":   {work(), &loop.Agent{Limits: loop.Limits{Steps: 1}}, nil, "AfterTool OnBudgetExceeded", ""},
	} {
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](c.tool), Hooks: c.hooks, Agent: c.agent}.Run(t, "x")
		if got := moments(ran); got != c.want {
			t.Errorf("%s: fired %q, want %q", name, got, c.want)
		}
		kinds := []string{}
		for _, d := range hooktest.PayloadsOf[agent.Denial](ran.Recorder, "OnPermissionDenied") {
			kinds = append(kinds, fmt.Sprint(d.Kind))
		}
		if c.kind != "" && !slices.Equal(kinds, []string{string(c.kind)}) {
			t.Errorf("%s: denied by %v, want %s", name, kinds, c.kind)
		}
	}
}
