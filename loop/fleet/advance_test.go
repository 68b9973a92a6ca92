package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An engine advances a run and performs its calls at once, each with another worker.
type engine struct {
	t       *testing.T
	store   Store
	agents  func() map[string]*loop.Agent
	account Account
}

func (e engine) worker() *Worker {
	return &Worker{Store: e.store, Logger: quiet, Agents: e.agents(), Accounts: func(Task) []Account {
		return []Account{e.account}
	}}
}

// run drives a run until it ends or asks.
func (e engine) run(ctx context.Context, run string) Next {
	e.t.Helper()
	for {
		next, err := e.worker().Advance(ctx, run)
		if err != nil {
			e.t.Fatal(err)
		}
		var all sync.WaitGroup
		for _, call := range next.Calls {
			all.Go(func() {
				if err := e.worker().Perform(ctx, run, call); err != nil {
					e.t.Error(err)
				}
			})
		}
		all.Wait()
		if next.State.Final() || next.State == Suspended {
			return next
		}
	}
}

// TestEngineMakesEachCallOnce: a run calls two read-only tools, a sub-agent with a tool, and a tool that a person
// permits. Each Advance and each call is on another worker. The hooks that decide fire once for each call, and those
// of AroundTool three times.
func TestEngineMakesEachCallOnce(t *testing.T) {
	var mu sync.Mutex
	decided, asked := 0, 0
	around := make(map[string]int) // fires of AroundTool, by the ID of the call
	look := &looptest.Tool{Name: "look", Result: "sun"}
	pay, inner := &looptest.Tool{Name: "pay", Result: "paid"}, &looptest.Tool{Name: "inner", Result: "in"}
	e := engine{t: t, store: Store{Log: NewMemory(simLifetime).Log, Table: NewMemory(simLifetime).Table},
		account: Account{Name: "all", Limit: Amount{Calls: 5}}}
	e.agents = func() map[string]*loop.Agent {
		model := func(replies ...agent.LLMResponse) agentModel {
			return func(req agent.LLMRequest) agent.LLMResponse {
				mu.Lock()
				defer mu.Unlock()
				asked++
				return replies[req.Step-1]
			}
		}
		call := func(id, name, args string) agent.ToolCallRequest {
			return agent.ToolCallRequest{ID: id, Name: name, Args: []byte(args)}
		}
		helper := &loop.Agent{Name: "helper", Tools: []agent.Tool{inner}, Model: model(
			agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{call("i", "inner", "{}")}}, agent.LLMResponse{Content: "ok"})}
		all := clerk(model(agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
			call("a", "look", "{}"), call("b", "look", "{}"), call("c", "helper", `{"task":"x"}`), call("d", "pay", "{}"),
		}}, agent.LLMResponse{Content: "done"}), loop.ReadOnly(look), pay, loop.Subagent(helper))
		all["clerk"].Hooks = loop.Hooks(
			agent.BeforeToolFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
				mu.Lock()
				defer mu.Unlock()
				decided++
				return nil, nil
			}),
			agent.AroundToolFunc(func(
				ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
			) (hookkit.Answer[agent.ToolCallResult], error) {
				mu.Lock()
				around[call.ID]++
				mu.Unlock()
				return next.Call(ctx, call)
			}),
			agent.OnPermissionFunc(func(
				ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
			) (agent.OnPermissionOutcome, error) {
				if call.Name == "pay" {
					return asks(ctx, run, call)
				}
				return nil, nil
			}),
		)
		return all
	}
	c := NewClient(e.store)
	if err := c.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	if next := e.run(t.Context(), "a"); next.State != Suspended {
		t.Fatalf("%+v", next)
	}
	s, err := c.Status(t.Context(), "a")
	if err != nil || len(s.Questions) != 1 || s.Questions[0].Doubt || s.Questions[0].Call.Name != "pay" ||
		pay.Count() != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	answer := Decide(s.Questions[0], agent.Approval{Allow: true, By: "ann"})
	if err := errors.Join(c.Check(t.Context(), "a", answer), c.Answer(t.Context(), "a", answer)); err != nil {
		t.Fatal(err)
	}
	if c.Check(t.Context(), "a", answer) == nil {
		t.Error("a second answer would be accepted")
	}
	if next := e.run(t.Context(), "a"); next.State != Done {
		t.Fatalf("%+v", next)
	}
	s, err = c.Status(t.Context(), "a")
	if err != nil || s.Result.Reply != "done" || look.Count() != 2 || inner.Count() != 1 || pay.Count() != 1 {
		t.Errorf("%+v, %v; %d looks, %d inner, %d payments", s, err, look.Count(), inner.Count(), pay.Count())
	}
	// Each call fires when it is found, made and answered. The sub-agent's call c does so together with its inner call.
	if want := map[string]int{"a": 3, "b": 3, "c": 3, "i": 3, "d": 3}; !maps.Equal(around, want) {
		t.Errorf("AroundTool has fired %v times, want %v", around, want)
	}
	if b, err := c.Balance(t.Context(), "all"); err != nil || decided != 5 || asked != 4 || b.Spent.Calls != 4 {
		t.Errorf("%d decisions, %d calls of the model, %+v, %v", decided, asked, b, err)
	}
}

// TestEngineAsksAboutCallsInDoubt: a worker was killed in a call. The engine performs it again, which does nothing, and
// the next Advance asks.
func TestEngineAsksAboutCallsInDoubt(t *testing.T) {
	m := newMemory(simLifetime)
	pay := &looptest.Tool{Name: "pay", Result: "paid"}
	e := engine{t: t, store: m.store(), account: Account{Name: "all"}, agents: func() map[string]*loop.Agent {
		return clerk(looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done")), pay)
	}}
	c := NewClient(e.store)
	if err := c.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	next, err := e.worker().Advance(t.Context(), "a")
	if err != nil || len(next.Calls) != 1 {
		t.Fatalf("%+v, %v", next, err)
	}
	dying := e.worker()
	dying.Store.Log = noResults{dying.Store.Log}
	ctx, cancel := context.WithCancel(t.Context())
	dying.Clock = dyingClock{cancel}
	if err := dying.Perform(ctx, "a", next.Calls[0]); err == nil || pay.Count() != 1 {
		t.Fatalf("%v, %d calls", err, pay.Count())
	}
	if err := e.worker().Perform(t.Context(), "a", next.Calls[0]); err != nil || pay.Count() != 1 {
		t.Fatalf("%v, %d calls", err, pay.Count())
	}
	if next := e.run(t.Context(), "a"); next.State != Suspended {
		t.Fatalf("%+v", next)
	}
	s, err := c.Status(t.Context(), "a")
	if err != nil || len(s.Questions) != 1 || !s.Questions[0].Doubt {
		t.Fatalf("%+v, %v", s, err)
	}
	allowed := Decide(s.Questions[0], agent.Approval{Allow: true, By: "ann"})
	if err := c.Answer(t.Context(), "a", allowed); err == nil || !strings.Contains(err.Error(), "may have been made") {
		t.Errorf("allowing a call that may have been made returned %v", err)
	}
	if err := c.Answer(t.Context(), "a", Happened(s.Questions[0], "it was paid", "ann")); err != nil {
		t.Fatal(err)
	}
	e.agents = func() map[string]*loop.Agent { return clerk(looptest.NewScript(looptest.Reply("done")), pay) }
	if next := e.run(t.Context(), "a"); next.State != Done || pay.Count() != 1 {
		t.Errorf("%+v, %d calls", next, pay.Count())
	}
	kinds := []string{}
	history, err := c.History(t.Context(), "a")
	for _, h := range history {
		kinds = append(kinds, h.Kind)
	}
	if err != nil || !slices.Contains(kinds, "answered") {
		t.Errorf("%v, %v", kinds, err)
	}
}

// TestEngineKeepsTheVersionOfARun: a worker with other hooks than those with which a run began neither advances it nor
// makes its calls.
func TestEngineKeepsTheVersionOfARun(t *testing.T) {
	store := newMemory(simLifetime).store()
	pay := &looptest.Tool{Name: "pay", Result: "paid"}
	worker := func(hooks string) *Worker {
		model := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done"))
		return &Worker{Store: store, Logger: quiet, Hooks: hooks, Agents: clerk(model, pay)}
	}
	if err := NewClient(store).Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	first, second := worker("v1"), worker("v2")
	next, err := first.Advance(t.Context(), "a")
	if err != nil || len(next.Calls) != 1 {
		t.Fatalf("%+v, %v", next, err)
	}
	if err := second.Perform(t.Context(), "a", next.Calls[0]); err == nil || !strings.Contains(err.Error(), `"v1"`) ||
		pay.Count() != 0 {
		t.Errorf("%v, %d calls", err, pay.Count())
	}
	if next, err := second.Advance(t.Context(), "a"); err == nil {
		t.Errorf("%+v", next)
	}
	if err := first.Perform(t.Context(), "a", next.Calls[0]); err != nil || pay.Count() != 1 {
		t.Errorf("%v, %d calls", err, pay.Count())
	}
	if next, err := first.Advance(t.Context(), "a"); err != nil || next.State != Done {
		t.Errorf("%+v, %v", next, err)
	}
}

// TestEngineSetsPoisonedCallsAside: an idempotent call kills each worker that makes it, until its run is set aside.
func TestEngineSetsPoisonedCallsAside(t *testing.T) {
	store := newMemory(simLifetime).store()
	pay := &looptest.Tool{Name: "pay", Result: "paid"}
	worker := func(log Log, clock agent.Clock) *Worker {
		model := looptest.NewScript(looptest.Call("pay", nil))
		return &Worker{Store: Store{Log: log, Table: store.Table}, Logger: quiet, Clock: clock,
			Agents: clerk(model, loop.Idempotent(pay))}
	}
	c := NewClient(store)
	if err := c.Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	next, err := worker(store.Log, nil).Advance(t.Context(), "a")
	if err != nil || len(next.Calls) != 1 {
		t.Fatalf("%+v, %v", next, err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := worker(noResults{store.Log}, dyingClock{cancel}).Perform(ctx, "a", next.Calls[0]); err == nil {
			t.Error("it has ended")
		}
	}
	if err := worker(store.Log, nil).Perform(t.Context(), "a", next.Calls[0]); err != nil || pay.Count() != 3 {
		t.Errorf("%v, %d calls", err, pay.Count())
	}
	if next, err := worker(store.Log, nil).Advance(t.Context(), "a"); err != nil || next.State != SetAside {
		t.Errorf("%+v, %v", next, err)
	}
}

// noResults is the log of a process that dies before it records a result.
type noResults struct{ Log }

func (l noResults) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	if strings.Contains(string(data), `"kind":"finished"`) {
		return 0, errDown
	}
	return l.Log.Append(ctx, run, data, last)
}

// A dyingClock ends the process when it waits for the first time.
type dyingClock struct{ die context.CancelFunc }

func (c dyingClock) Sleep(ctx context.Context, _ time.Duration) error {
	c.die()
	return ctx.Err()
}

func (dyingClock) Now() time.Time { return time.Now() }
