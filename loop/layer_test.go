package loop_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// marked returns a hook that notes its name for each call of the tool search.
func marked(order *[]string, name string, opts ...hookkit.GateOption) agent.Hook {
	return bind(func(h *agent.Hooks) {
		h.BeforeTool.AddFunc(func(
			_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			if call.Name == "search" {
				*order = append(*order, name)
			}
			return nil, nil
		}, opts...)
	})
}

// starting returns agents that start to in each of the ways there are.
func starting(to *loop.Agent) map[string]*loop.Agent {
	boss := func(call string) *loop.Agent {
		return &loop.Agent{Name: "boss", Model: looptest.NewScript(
			looptest.Call(call, `{"task":"t"}`), looptest.Reply("done")).ForEachRun()}
	}
	sub, handing, spawning := boss(to.Name), boss("transfer_to_"+to.Name), boss("start")
	sub.Tools = tools(loop.Subagent(to))
	handing.Handoffs = []*loop.Agent{to}
	spawning.Tools = tools(starter{to})
	return map[string]*loop.Agent{"sub-agent": sub, "handoff": handing, "Spawn": spawning}
}

// starter is a tool that starts an agent.
type starter struct{ to *loop.Agent }

func (starter) Schema() agent.ToolSchema { return agent.ToolSchema{Name: "start"} }

func (s starter) Call(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
	result, err := loop.Spawn(ctx, s.to, loop.Request{Task: "t"})
	return result.Reply, err
}

// searching returns an agent that calls its tool search in each run.
func searching(name string, own *agent.Hooks) (*loop.Agent, *looptest.Tool) {
	search := &looptest.Tool{Name: "search", Result: "found"}
	return &loop.Agent{Name: name, Hooks: own, Tools: tools(search),
		Model: looptest.NewScript(looptest.Call("search", nil), looptest.Reply("inner")).ForEachRun()}, search
}

func TestGuardOfTheCallerCoversAgentsWithHooks(t *testing.T) {
	var order []string
	helper, search := searching("helper", loop.Hooks(marked(&order, "own", hookkit.Priority(hookkit.Safety))))
	for name, boss := range starting(helper) {
		t.Run(name, func(t *testing.T) {
			order = nil
			boss.Hooks = loop.Hooks(marked(&order, "guard"), atTool("search", agent.EndTurn{Reply: "forbidden"}, nil))
			recorder := hooktest.Record(boss.Hooks.Points())
			if _, err := boss.Run(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			if search.Count() != 0 || !slices.Equal(order, []string{"guard"}) {
				t.Errorf("%d searches, the hooks ran in the order %v", search.Count(), order)
			}
			checkPaired(t, recorder)
		})
	}
}

func TestHooksOfAnAgentSeeOnlyItsRuns(t *testing.T) {
	var seen, all, order []string
	helper, _ := searching("helper", loop.Hooks(seenBy(&seen), marked(&order, "own", hookkit.Priority(hookkit.Safety))))
	helper.Hooks.Use(marked(&order, "use", hookkit.Priority(hookkit.Safety)))
	own := hooktest.Record(helper.Hooks.Points())
	for name, boss := range starting(helper) {
		t.Run(name, func(t *testing.T) {
			seen, all, order = nil, nil, nil
			boss.Hooks = loop.Hooks(seenBy(&all), marked(&order, "outer"))
			recorder := hooktest.Record(boss.Hooks.Points())
			result, err := boss.Run(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(seen, []string{"helper", "helper"}) || !slices.Equal(order, []string{"outer", "own", "use"}) {
				t.Errorf("the hook of the helper saw %v, the hooks ran in the order %v", seen, order)
			}
			if want := result.ModelCalls; len(all) != want {
				t.Errorf("the hook of the boss saw %v, want %d model calls", all, want)
			}
			checkPaired(t, recorder)
		})
	}
	checkPaired(t, own)
	if runs, calls := own.Count("OnRunEnd"), own.Count("OnSubagentStart"); runs != 3 || calls != 0 {
		t.Errorf("the record of the helper has %d runs, and %d started ones", runs, calls)
	}
}

func TestSharedHooksFireOnceInAnInnerRun(t *testing.T) {
	for name, hooksOf := range map[string]func(program *agent.Hooks) (boss, helper *agent.Hooks){
		"the same Hooks":       func(p *agent.Hooks) (boss, helper *agent.Hooks) { return p, p },
		"a layer of the boss":  func(p *agent.Hooks) (boss, helper *agent.Hooks) { return p.Layer("boss"), p },
		"a layer of the other": func(p *agent.Hooks) (boss, helper *agent.Hooks) { return p, p.Layer("helper") },
		"two layers": func(p *agent.Hooks) (boss, helper *agent.Hooks) {
			return p.Layer("boss"), p.Layer("helper")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var order []string
			bossHooks, helperHooks := hooksOf(loop.Hooks(marked(&order, "program")))
			helper, _ := searching("helper", helperHooks)
			for way, boss := range starting(helper) {
				order, boss.Hooks = nil, bossHooks
				if _, err := boss.Run(t.Context(), "x"); err != nil || !slices.Equal(order, []string{"program"}) {
					t.Errorf("%s: the hooks ran in the order %v, %v", way, order, err)
				}
			}
		})
	}
}

func TestAgentsThatCallEachOtherFireTheirHooksOnce(t *testing.T) {
	var order []string
	helper, _ := searching("helper", loop.Hooks(marked(&order, "helper")))
	boss, _ := searching("boss", loop.Hooks(marked(&order, "boss")))
	helper.Model = looptest.NewScript(looptest.Call("boss", `{"task":"t"}`), looptest.Reply("ok"))
	boss.Tools = append(boss.Tools, loop.Subagent(helper))
	helper.Tools = append(helper.Tools, loop.Subagent(boss))
	boss.Model = looptest.NewScript(looptest.Call("helper", `{"task":"t"}`), looptest.Call("search", nil),
		looptest.Reply("inner"), looptest.Reply("ok"))
	if _, err := boss.Run(t.Context(), "x"); err != nil || !slices.Equal(order, []string{"boss", "helper"}) {
		t.Errorf("the hooks ran in the order %v, %v", order, err)
	}
}

func TestPermissionHooksOfBothVote(t *testing.T) {
	allow, deny, ask := votes(agent.Allow{}), votes(agent.Deny{Reason: "policy"}), votes(agent.Ask{})
	onSearch := func(vote agent.Hook) agent.Hook {
		return permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			if call.Name != "search" {
				return nil, nil
			}
			return vote.(agent.OnPermissionFunc)(t.Context(), nil, call)
		})
	}
	for _, c := range []struct {
		name       string
		outer, own agent.Hook
		ran, asked int
	}{
		{"TheCallerDenies", deny, allow, 0, 0},
		{"TheAgentDenies", allow, deny, 0, 0},
		{"TheCallerAsks", ask, allow, 1, 1},
		{"TheAgentAsks", allow, ask, 1, 1},
		{"BothAllow", allow, allow, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			helper, search := searching("helper", loop.Hooks(c.own))
			boss := starting(helper)["sub-agent"]
			person := says(true)
			boss.Hooks, boss.Approver = loop.Hooks(onSearch(c.outer)), person
			if _, err := boss.Run(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
			if search.Count() != c.ran || len(person.questions) != c.asked {
				t.Errorf("%d searches, %d questions", search.Count(), len(person.questions))
			}
		})
	}
}

// live returns how many of the hooks are in memory. A collection keeps what a goroutine that is about to end, a pool or
// a stack slot that is not in use any more still refers to. So live collects again while there are more than most.
func live(hooks []weak.Pointer[heavy], most int) (n int) {
	for range 10 {
		runtime.GC()
		n = 0
		for _, p := range hooks {
			if p.Value() != nil {
				n++
			}
		}
		if n <= most {
			break
		}
		runtime.Gosched()
	}
	return n
}

// heavy is a hook whose memory a test watches.
type heavy struct{ _ [1000]byte }

func (k *heavy) Bind(h *agent.Hooks) {
	h.OnRunEnd.AddFunc(func(context.Context, *agent.Run, agent.AgentResult) error { runtime.KeepAlive(k); return nil })
}

// TestCallsOfAnAgentWithHooksKeepNoMemory: the hooks of a thousand callers are collected, although the agent that they
// call stays.
func TestCallsOfAnAgentWithHooksKeepNoMemory(t *testing.T) {
	const callers, kept, recent = 1000, 64, 4 // the last few callers may be on a stack still
	helper := &loop.Agent{
		Name: "helper", Model: looptest.NewScript(looptest.Reply("ok")).ForEachRun(), Hooks: loop.Hooks(),
		Limits: loop.Limits{Parallel: 1},
	}
	for name, c := range map[string]struct {
		run  func(boss *loop.Agent, hook *heavy) error
		most int
	}{
		"hooks of a request": {func(boss *loop.Agent, hook *heavy) error {
			_, err := boss.Do(t.Context(), loop.Request{Task: "x", Use: hooks(hook)})
			return err
		}, recent},
		"hooks of an agent": {func(_ *loop.Agent, hook *heavy) error {
			boss := starting(helper)["sub-agent"]
			boss.Hooks = loop.Hooks(hook)
			_, err := boss.Run(t.Context(), "x")
			return err
		}, kept + recent},
	} {
		t.Run(name, func(t *testing.T) {
			boss := starting(helper)["sub-agent"]
			boss.Hooks = loop.Hooks()
			var watched []weak.Pointer[heavy]
			for range callers {
				hook := new(heavy)
				watched = append(watched, weak.Make(hook))
				if err := c.run(boss, hook); err != nil {
					t.Fatal(err)
				}
			}
			if n := live(watched, c.most); n > c.most {
				t.Errorf("%d of %d hooks are in memory, want at most %d", n, callers, c.most)
			}
			runtime.KeepAlive(boss)
		})
	}
	runtime.KeepAlive(helper)
}

func TestHooksOfATypedRunCoverTheAgentThatTakesOver(t *testing.T) {
	var seen, all []string
	type answer struct {
		Text string `json:"text"`
	}
	expert := &loop.Agent{Name: "expert", Hooks: loop.Hooks(seenBy(&seen)),
		Model: looptest.NewScript(looptest.Reply(`{"text":"ok"}`))}
	front := starting(expert)["handoff"]
	front.Hooks = loop.Hooks(seenBy(&all))
	got, _, err := loop.RunAs[answer](t.Context(), front, loop.Request{Task: "x"})
	if err != nil || got.Text != "ok" || fmt.Sprint(seen) != "[expert]" || strings.Join(all, " ") != "boss expert" {
		t.Errorf("%+v, %v; saw %v and %v", got, err, seen, all)
	}
}

// TestAPinnedRunKeepsItsHooks: hooks that are added or removed while it works concern later runs only.
func TestAPinnedRunKeepsItsHooks(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		var fired []string
		watch := func(name string) agent.Hook {
			return agent.BeforeLLMFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				fired = append(fired, name)
				return nil, nil
			})
		}
		a := &loop.Agent{Pinned: pinned, Hooks: new(agent.Hooks)}
		first := a.Hooks.Use(watch("first"))
		inner := &loop.Agent{Name: "inner", Model: looptest.NewScript(looptest.Reply("in"))}
		a.Model = looptest.NewScript(looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			first.Remove()
			a.Hooks.Use(watch("second"))
			return looptest.Call("inner", `{"task":"t"}`).Response(), nil
		}), looptest.Reply("ok"), looptest.Reply("later"))
		a.Tools = tools(loop.Subagent(inner))
		for range 2 {
			if _, err := a.Run(t.Context(), "x"); err != nil {
				t.Fatal(err)
			}
		}
		want := "first second second second"
		if pinned {
			want = "first first first second"
		}
		if got := strings.Join(fired, " "); got != want {
			t.Errorf("pinned %t: %s fired, want %s", pinned, got, want)
		}
	}
}
