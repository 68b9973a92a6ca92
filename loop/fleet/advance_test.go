package fleet

import (
	"context"
	"errors"
	"fmt"
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
// permits. Each Advance and each call is on another worker. The hooks of each call fire once, those of AroundTool
// where it is made.
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
				answer, err := next.Call(ctx, call)
				if err == nil {
					r := answer.Value()
					r.Output += " <by a hook>"
					answer = hookkit.Answered(r)
				}
				return answer, err
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
	// The sub-agent's call c fires in each part that continues its run: those that find, make and answer the call i.
	if want := map[string]int{"a": 1, "b": 1, "c": 3, "i": 1, "d": 1}; !maps.Equal(around, want) {
		t.Errorf("AroundTool has fired %v times, want %v", around, want)
	}
	if b, err := c.Balance(t.Context(), "all"); err != nil || decided != 5 || asked != 4 || b.Spent.Calls != 4 {
		t.Errorf("%d decisions, %d calls of the model, %+v, %v", decided, asked, b, err)
	}
}

// TestHooksOfACallActWhereItIsMade: a hook makes a failed call again and adds to its output, and another one answers
// instead of the tool. The worker dies before it has recorded what the hooks returned, and another one goes on with the
// recorded attempts. The hooks of AfterTool see each result once, apart from the worker that dies.
func TestHooksOfACallActWhereItIsMade(t *testing.T) {
	store := newMemory(simLifetime).store()
	failed := &looptest.Tool{Name: "pay"}
	failed.Func = func(context.Context, agent.ToolCallRequest) (string, error) {
		if failed.Count() == 1 {
			return "", errors.New("the line is busy")
		}
		return "paid", nil
	}
	cached, fired, results := &looptest.Tool{Name: "look"}, make(map[string]int), []string{}
	around := agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		fired[call.Name]++
		if call.Name == "look" {
			return hookkit.Answered(agent.ToolCallResult{Output: "from a cache"}), nil
		}
		answer, err := next.Call(ctx, call)
		if err != nil {
			answer, err = next.Call(ctx, call)
		}
		r := answer.Value()
		r.Output += "!"
		return hookkit.Answered(r), err
	})
	after := agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		results = append(results, fmt.Sprintf("%s %s after %d, %s", r.Call.Name, r.Status, r.Attempts, r.Output))
		return nil, nil
	})
	script := looptest.NewScript(looptest.Calls(looptest.Call("pay", nil), looptest.Call("look", nil)),
		looptest.Reply("done"))
	worker := func() *Worker {
		agents := clerk(script, failed, cached)
		agents["clerk"].Hooks = loop.Hooks(around, after)
		return &Worker{Store: store, Logger: quiet, Agents: agents}
	}
	if err := NewClient(store).Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	for deaths := 1; ; deaths-- {
		next, err := worker().Advance(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if next.State == Done {
			break
		}
		w, ctx := worker(), t.Context()
		if deaths > 0 {
			var die context.CancelFunc
			ctx, die = context.WithCancel(ctx)
			w.Store.Log, w.Clock = failing{w.Store.Log, `"final":true`}, dyingClock{die}
		}
		if err := w.Perform(ctx, "a", next.Calls[0]); (err != nil) != (deaths > 0) {
			t.Fatal(err)
		}
	}
	want := []string{"pay skipped after 0, paid!", "look skipped after 0, from a cache"} // by the journal and by the cache
	if !slices.Equal(results[2:], want) || fired["pay"] != 2 || fired["look"] != 1 || failed.Count() != 2 ||
		cached.Count() != 0 {
		t.Errorf("%q; the hooks fired %v times; %d payments, %d looks", results, fired, failed.Count(), cached.Count())
	}
}

// TestRunsInsideAPerformedCall: a tool that is not that of a sub-agent starts a run, whose calls are parts of its call.
// If one of them wants to ask a person, the call fails, and the run goes on.
func TestRunsInsideAPerformedCall(t *testing.T) {
	for _, ask := range []bool{false, true} {
		t.Run(fmt.Sprint(ask), func(t *testing.T) {
			inner := &looptest.Tool{Name: "inner", Result: "in"}
			helper := &loop.Agent{Name: "helper", Tools: []agent.Tool{inner}}
			if ask {
				helper.Hooks = loop.Hooks(agent.OnPermissionFunc(asks))
			}
			help := &looptest.Tool{Name: "help", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
				helper.Model = looptest.NewScript(looptest.Call("inner", nil), looptest.Reply("helped"))
				r, err := loop.Spawn(ctx, helper, loop.Request{Task: "x"})
				return r.Reply, err
			}}
			e := engine{t: t, store: newMemory(simLifetime).store(), account: Account{Name: "all"}}
			script := looptest.NewScript(looptest.Call("help", nil), looptest.Reply("done"))
			e.agents = func() map[string]*loop.Agent { return clerk(script, help) }
			c := NewClient(e.store)
			if err := c.Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			if next := e.run(t.Context(), "a"); next.State != Done || help.Count() != 1 || (inner.Count() == 1) == ask {
				t.Errorf("%+v, %d calls, %d inside", next, help.Count(), inner.Count())
			}
			want := "helped"
			if ask {
				want = "only calls inside a sub-agent can"
			}
			if got := script.Requests()[1].Messages; !strings.Contains(got[len(got)-1].Content, want) {
				t.Errorf("the model reads %q", got[len(got)-1].Content)
			}
		})
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
	dying.Store.Log = failing{dying.Store.Log, `"kind":"finished"`}
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
		w := worker(failing{store.Log, `"kind":"finished"`}, dyingClock{cancel})
		if err := w.Perform(ctx, "a", next.Calls[0]); err == nil {
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

// A failing log is that of a process that dies before it records an event with a text.
type failing struct {
	Log
	text string
}

func (l failing) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	if strings.Contains(string(data), l.text) {
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
