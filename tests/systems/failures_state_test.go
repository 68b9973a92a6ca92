package systems

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Invariant 3 and law P3, decided before dispatch.
func TestRewrittenArgumentsReachEverybody(t *testing.T) {
	var d diary
	see := func(who string, args json.RawMessage) { d.note("%s %s", who, args) }
	tool := &looptest.Tool{Name: "work", Func: func(_ context.Context, c agent.ToolCallRequest) (string, error) {
		see("tool", c.Args)
		return "", nil
	}}
	looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
		beforeTool(func(c agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			c.Args = []byte(`{"n":99}`)
			return agent.ReplaceBeforeTool(c, "99"), nil
		}),
		onPermission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			see("permission", c.Args)
			return nil, nil
		}),
		agent.AroundToolFunc(func(
			ctx context.Context, _ *agent.Run, c agent.ToolCallRequest, next agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			see("around", c.Args)
			return next.Call(ctx, c)
		}),
		afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			see("after", r.Call.Args)
			return nil, nil
		}),
		onRunEnd(func(r agent.AgentResult) error { see("record", r.Calls[0].Call.Args); return nil }),
	)}.Run(t, "x")
	d.want(t, `permission {"n":99}`, `around {"n":99}`, `tool {"n":99}`, `after {"n":99}`, `record {"n":99}`)
}

// collecting keeps the outputs of tools for the next prompt.
type collecting struct{ outputs hookkit.PerRun[[]string] }

func (c *collecting) Bind(h *agent.Hooks) {
	h.AfterTool.Add(c)
	h.Briefing.Add(c)
}

func (c *collecting) AfterTool(
	_ context.Context, run *agent.Run, r agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	c.outputs.Do(run, func(o *[]string) { *o = append(*o, r.Call.ID) })
	return nil, nil
}

func (c *collecting) Briefing(_ context.Context, run *agent.Run, _ agent.Step) (texts []string, err error) {
	c.outputs.Do(run, func(o *[]string) { texts = []string{fmt.Sprintf("collected %v", *o)} })
	return texts, nil
}

// Invariants 3 and 8, state: the state of a tool hook lasts for the run.
func TestHookStateOutlivesTheBatch(t *testing.T) {
	ran := looptest.Harness{
		Turns: all(looptest.Calls(looptest.Call("work", nil), looptest.Call("work", nil)), looptest.Call("work", nil),
			looptest.Reply("ok")),
		Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](&collecting{}),
	}.Run(t, "x")
	for i, want := range all("collected []", "collected [call_1_1 call_1_2]", "collected [call_1_1 call_1_2 call_2_1]") {
		contains(t, requestText(t, ran, i), want)
	}
}

// Invariant 8 and law P9, prompts are per request: changes in place never reach the stored conversation, the
// record or the tool.
func TestChangesInPlaceDoNotPileUp(t *testing.T) {
	tool := work()
	ran := looptest.Harness{Turns: working(3), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
		beforeLLM(func(r agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			for i := range r.Messages {
				r.Messages[i].Content += "SPOILT"
			}
			return nil, nil
		}),
		onPermission(func(c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { c.Args[5] = '9'; return nil, nil }),
		afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) { r.Call.Args[5] = '9'; return nil, nil }),
	)}.Run(t, "x")
	lacks(t, fmt.Sprint(ran.Messages), "SPOILT")
	lacks(t, requestText(t, ran, 3), "SPOILTSPOILT")
	for i, call := range tool.Calls() {
		if want := fmt.Sprintf(`{"n":%d}`, i+1); string(call.Args) != want {
			t.Errorf("dispatched %s, want %s", call.Args, want)
		}
	}
}

// Invariant 8 and law P9: a text of Briefing appears in one prompt.
func TestATextIsOnceInEachPrompt(t *testing.T) {
	ran := looptest.Harness{Turns: working(4), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
		&prompt.Static{Text: "be brief"},
		beforeLLM(func(r agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			r.Messages = append(slices.Clone(r.Messages), agent.Message{Role: agent.RoleUser, Content: "and clear"})
			return agent.ReplaceBeforeLLM(r, "clear"), nil
		}),
	)}.Run(t, "x")
	for i := range 5 {
		prompt := requestText(t, ran, i)
		if strings.Count(prompt, "be brief") != 1 || strings.Count(prompt, "and clear") != 1 {
			t.Errorf("prompt %d: %q", i, prompt)
		}
	}
	lacks(t, fmt.Sprint(ran.Messages), "be brief", "and clear")
}

// Invariant 8: state belongs to an instance, even if an address is reused.
func TestANewHookHasFreshState(t *testing.T) {
	run := agent.NewRun(nil)
	var h agent.Hooks
	for i := range 2000 {
		reg := h.BeforeTool.Add(&counting{limit: 1})
		exit, err := h.BeforeTool.Fire(t.Context(), run, &agent.ToolCallRequest{Name: "work"})
		if exit != nil || err != nil {
			t.Fatalf("hook %d began with state: %v, %v", i, exit, err)
		}
		if reg.Remove(); i%100 == 0 {
			runtime.GC()
		}
	}
}

// Invariant 8: state is fresh in each run, also one after the other on the same hooks.
func TestCountersDoNotLeakIntoNextRun(t *testing.T) {
	a := &loop.Agent{
		Model: looptest.NewScript(working(2)...).ForEachRun(),
		Tools: all[agent.Tool](work()),
		Hooks: loop.Hooks(
			&limit.Tools{Limits: map[string]int{"work": 2}}, &repair.Stagnation{
				NudgeAfter:  3,
				Fingerprint: func(agent.ToolCallResult) string { return "same" },
			},
			&repair.LoopDetector{},
		),
	}
	var prompts diary
	a.Hooks.Use(beforeLLM(func(r agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		prompts.note("%v", r.Messages)
		return nil, nil
	}))
	for i := range 3 {
		if result, err := a.Run(t.Context(), "x"); err != nil || !result.Calls[0].OK() || !result.Calls[1].OK() {
			t.Errorf("run %d: %+v, %v", i, result.Calls, err)
		}
	}
	lacks(t, strings.Join(prompts.all(), ""), "stagnation")
}

// Invariant 8: PerRun is exclusive, and each of parallel calls has its own sample.
func TestParallelCallsLoseNoCount(t *testing.T) {
	var h agent.Hooks
	c := &counting{limit: 8000}
	h.Use(c)
	run := agent.NewRun(nil)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 1000 {
				if exit, err := h.BeforeTool.Fire(t.Context(), run, &agent.ToolCallRequest{}); exit != nil || err != nil {
					t.Error(exit, err)
				}
			}
		})
	}
	wait.Wait()
	c.calls.Do(run, func(n *int) {
		if *n != 8000 {
			t.Errorf("%d of 8000 calls were counted", *n)
		}
	})
	var eight []looptest.Turn
	for i := range 8 {
		eight = append(eight, looptest.Call("work", fmt.Sprintf(`{"n":%d}`, i)))
	}
	timing := &record.Timing{}
	looptest.Harness{
		Turns: all(looptest.Calls(eight...), looptest.Reply("ok")),
		Tools: all[agent.Tool](work()),
		Hooks: all[agent.Hook](timing),
	}.Run(t, "x")
	if n := len(timing.Samples()); n != 10 {
		t.Errorf("%d samples of 8 calls and 2 replies", n)
	}
}

// Invariants 1, order, and 2, layers: the priority constants have the documented order, and a layer is inside its
// parent.
func TestPrioritiesAreTheDocumentedOnes(t *testing.T) {
	var outer agent.Hooks
	outer.Use(&window.TruncateOutput{})
	outer.Use(&window.TokenBudget{})
	outer.Use(&memory.Injector{Store: &memory.Facts{}})
	outer.Use(&memory.Archive{Store: &memory.Facts{}})
	outer.Use(&repair.LoopDetector{})
	outer.Use(&permission.Confirm{Tools: all("x")})
	inner := outer.Layer("inner")
	inner.BeforeTool.Add(continues, hookkit.Priority(hookkit.Safety))
	documented := map[string][]int{
		"AfterTool": {hookkit.Detection, hookkit.Mutation}, "BeforeLLM": {hookkit.InputShape - 10},
		"Briefing":   {hookkit.InputShape},
		"BeforeTool": {hookkit.Detection, hookkit.Safety}, "OnPermission": {hookkit.Safety},
		"OnRunEnd": {hookkit.Observability},
	}
	for _, p := range inner.Points() {
		var got []int
		for _, i := range p.Hooks() {
			got = append(got, i.Priority)
		}
		if !slices.Equal(got, documented[p.Name]) {
			t.Errorf("the priorities at %s are %v, want %v", p.Name, got, documented[p.Name])
		}
	}
}

// Invariants 11 and 13, identity: Use is all or nothing.
func TestABadHookIsRegisteredNowhere(t *testing.T) {
	var h agent.Hooks
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the bad hook was registered")
			}
		}()
		h.Use(bind(func(h *agent.Hooks) {
			h.BeforeTool.Add(continues)
			h.AfterTool.Add(nil)
		}))
	}()
	for _, p := range h.Points() {
		if len(p.Hooks()) != 0 {
			t.Errorf("%s has %v", p.Name, names(p.Hooks()))
		}
	}
}

// Invariant 13: using a hook twice makes two registrations, which Explain shows. Hooks that must not run twice do
// not.
func TestAHookUsedTwiceIsShownTwice(t *testing.T) {
	var h agent.Hooks
	one, other := h.Use(extends("+"), named("twin")), h.Use(extends("+"), named("twin"))
	var text strings.Builder
	if err := h.Explain(&text); err != nil || strings.Count(text.String(), "twin") != 2 || one.Site() == "" {
		t.Errorf("%v: %s", err, text.String())
	}
	other.Remove()
	if call, _, _ := fire(t, &h); string(call.Args) != "work+" || other.Remove() {
		t.Errorf("after one removal left is %q", call.Args)
	}
	store := &memory.Facts{Share: share.Everyone}
	logger := &record.Episodes{Store: store}
	looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](logger, logger)}.Run(t, "x")
	if episodes, err := memory.Episodes(t.Context(), store, 9); len(episodes) != 1 || err != nil {
		t.Errorf("one call became %d episodes, %v", len(episodes), err)
	}
}

// Invariant 4: observers are notified of every fire, regardless of the hooks and their decisions.
func TestNothingUnsubscribesAnObserver(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"no hook": nil, "an empty method": continues, "an exit": answers("x"), "a failure": everywhere["BeforeTool"],
		"an embedded hook": struct{ *counting }{&counting{limit: 9}},
	} {
		var d diary
		observer := bind(func(h *agent.Hooks) {
			h.BeforeTool.Observe(notified(func(f agent.BeforeToolFired[agent.ToolCallRequest]) { d.note("%s", f.Payload.Name) }))
		})
		hooks := all[agent.Hook](observer)
		if hook != nil {
			hooks = append(hooks, hook)
		}
		looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: hooks}.Run(t, "x")
		if got := d.all(); !slices.Equal(got, all("work")) {
			t.Errorf("with %s the observer was notified %v", name, got)
		}
	}
}

// notified is an observer of BeforeTool.
type notified func(agent.BeforeToolFired[agent.ToolCallRequest])

func (f notified) ObserveBeforeTool(
	_ context.Context, _ *agent.Run, fired agent.BeforeToolFired[agent.ToolCallRequest],
) {
	f(fired)
}
