package systems

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTheEnvironmentLastsForTheRun(t *testing.T) {
	var d diary
	var outer *agent.Env
	look := agent.AfterStepFunc(func(_ context.Context, run *agent.Run, _ agent.StepResult) error {
		_, search := run.Env.Tools.Lookup("search")
		d.note("%s: search is there: %v", run.Env.Agent, search)
		outer = run.Env // the last step belongs to the outer run
		_, err := run.Env.Model.Generate(t.Context(), agent.LLMRequest{})
		return err
	})
	helper := &loop.Agent{Name: "helper", Tools: all[agent.Tool](&looptest.Tool{Name: "search"}),
		Model: looptest.NewScript(looptest.Reply("found"), looptest.Reply("a hook's"))}
	ran := looptest.Harness{
		Turns: all(looptest.Call("helper", `{"task":"t"}`), looptest.Reply("a hook's"), looptest.Reply("ok"),
			looptest.Reply("a hook's")),
		Hooks: all[agent.Hook](look),
		Agent: &loop.Agent{Name: "boss", Tools: all(loop.Subagent(helper))},
	}.Run(t, "x")
	d.want(t, "helper: search is there: true", "boss: search is there: false", "boss: search is there: false")
	if ran.Reply != "ok" || ran.ModelCalls != 6 {
		t.Errorf("%d model calls, those of hooks and the sub-run included; %+v", ran.ModelCalls, ran.AgentResult)
	}
	if _, err := outer.Model.Generate(t.Context(), agent.LLMRequest{}); err == nil {
		t.Error("the model can still be called after the run")
	}
	if err := outer.Tools.Add(work()); err == nil {
		t.Error("a tool can still be added after the run")
	}
}

// counting is a hook that refuses calls over a limit, per run.
type counting struct {
	limit int
	calls hookkit.PerRun[int]
}

func (c *counting) Bind(h *agent.Hooks) { h.BeforeTool.Add(c) }

func (c *counting) BeforeTool(
	_ context.Context, run *agent.Run, _ agent.ToolCallRequest,
) (out agent.BeforeToolOutcome, err error) {
	c.calls.Do(run, func(n *int) {
		if *n++; *n > c.limit {
			out = agent.SkipTool{Result: agent.ToolCallResult{Err: fmt.Sprintf("over %d", c.limit)}}
		}
	})
	return out, nil
}

func TestInstancesAndRunsShareNothing(t *testing.T) {
	hooks := new(agent.Hooks)
	hooks.Use(&counting{limit: 3})
	hooks.Use(&counting{limit: 2}) // has counted two when the other one has counted three
	a := &loop.Agent{Hooks: hooks, Tools: all[agent.Tool](work()), Model: looptest.NewScript(working(4)...).ForEachRun()}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			result, err := a.Run(t.Context(), "x")
			var errs []string
			for _, c := range result.Calls {
				errs = append(errs, c.Err)
			}
			if got := strings.Join(errs, "|"); got != "||over 2|over 3" || err != nil {
				t.Errorf("the calls ended with %q, %v", got, err)
			}
		})
	}
	wait.Wait()
}

func TestACancelledRunStopsAndEnds(t *testing.T) {
	for _, where := range []string{"before the start", "in a step", "before a dispatch"} {
		ctx, cancel := context.WithCancel(t.Context())
		tool := &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
			cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}}
		var hooks []agent.Hook
		switch where {
		case "before the start":
			cancel()
		case "before a dispatch":
			hooks = all[agent.Hook](onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
				cancel()
				return nil, nil
			}))
		}
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: hooks}.Do(t, ctx, loop.Request{
			Task: "x",
		})
		if !errors.Is(ran.Failed, context.Canceled) || ran.Stop.Cause != agent.CauseUserRequested {
			t.Errorf("%s: %v, %+v", where, ran.Failed, ran.Stop)
		}
		if ran.Recorder.Count("OnRunEnd") != 1 || ran.Recorder.Count("BeforeStep") != ran.Recorder.Count("AfterStep") {
			t.Errorf("%s: fired %v", where, ran.Recorder.Points())
		}
		if want := map[string]int{"in a step": 1}[where]; tool.Count() != want {
			t.Errorf("%s: the tool ran %d times, want %d", where, tool.Count(), want)
		}
	}
}

func TestBadCallsAreErrorsForTheModel(t *testing.T) {
	tool := work()
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", `{"n":`), looptest.Call("wrk", nil), looptest.Reply("ok")),
		Tools: all[agent.Tool](tool),
	}.Run(t, "x")
	if tool.Count() != 0 || statuses(ran) != "failed failed" || ran.Reply != "ok" || ran.Failed != nil {
		t.Errorf("%s: %+v", statuses(ran), ran.AgentResult)
	}
	contains(t, requestText(t, ran, 1), "JSON")
	contains(t, requestText(t, ran, 2), `"wrk"`)

	ran = looptest.Harness{
		Turns: working(9), Tools: all[agent.Tool](work()), Agent: &loop.Agent{
			Limits: loop.Limits{Steps: 2}, Fallback: "I give up",
		},
	}.Run(t, "x")
	if ran.Reply != "I give up" || ran.Stop.Cause != agent.CauseStepsLimit || ran.Steps != 2 {
		t.Errorf("at the limit: %+v", ran.AgentResult)
	}
}

func TestConversationsAreFreshOrGoOn(t *testing.T) {
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("yes"))}
	looptest.Harness{
		Turns: all(looptest.Call("helper", `{"task":"only this"}`), looptest.Reply("ok")),
		Agent: &loop.Agent{Tools: all(loop.Subagent(helper))},
	}.Run(t, "the outer task")
	if m := helper.Model.(*looptest.Script).Requests()[0].Messages; len(m) != 1 || m[0].Content != "only this" {
		t.Errorf("the sub-run began with %+v", m)
	}
	dir := t.TempDir()
	// A new one for each process.
	sessions := func() session.Sessions { return session.Sessions{Store: session.Dir{Path: dir}} }
	first := looptest.Harness{
		Turns: working(1),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](&session.Persist{Store: sessions()}),
	}
	if ran := first.Do(t, t.Context(), loop.Request{Task: "remember 7", Conversation: "c"}); ran.Failed != nil {
		t.Fatal(ran.Failed)
	}
	stored, err := sessions().Load(t.Context(), agent.Identity{Conversation: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]struct {
		hooks    []agent.Hook
		messages []agent.Message
	}{"by hand": {messages: stored.Messages},
		"by Persist": {hooks: all[agent.Hook](&session.Persist{Store: sessions()})}} {
		ran := looptest.Harness{Turns: working(0), Hooks: l.hooks}.Do(t, t.Context(), loop.Request{
			Task: "which?", Messages: l.messages, Conversation: "c",
		})
		if got := requestText(t, ran, 0); got != "remember 7\n\ndone\nok\nwhich?" {
			t.Errorf("after the restart %s the model got %q", name, got)
		}
	}
}
