package fleettest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Hooks runs an agent that makes a call, asks a person about another one, and replies, without faults. It compares the
// fires of all points with those of the same run in one process. Only the points that begin and end a part of the run
// fire more often, in pairs, and one of these parts starts the run and one ends it. A hook adds a tool and the
// instructions at OnRunStart, which each part therefore needs. A nil open is the queue of the store.
func Hooks(t *testing.T, s fleet.Store, open Open) {
	e := orQueue(open)(s, nil)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	once, fired := counts{n: make(map[string]int)}, counts{n: make(map[string]int)}
	look, pay := &looptest.Tool{Name: "look", Result: "sun"}, &looptest.Tool{Name: "pay", Result: "paid"}
	worker := func(c *counts, approver agent.Approver) *fleet.Worker {
		clerk := &loop.Agent{
			Name: "clerk", Approver: approver, Tools: []agent.Tool{loop.ReadOnly(look)}, Hooks: c.hooks(pay),
			Model: looptest.NewScript(looptest.Call("look", nil), looptest.Call("pay", nil), looptest.Reply("done")),
		}
		return &fleet.Worker{
			Store: s, Name: "w", Agents: map[string]*loop.Agent{"clerk": clerk}, Logger: slog.New(slog.DiscardHandler),
			Grace: time.Second,
		}
	}
	if _, err := worker(&once, present{}).Agents["clerk"].Run(ctx, "work"); err != nil {
		t.Fatal(err)
	}
	working, end := context.WithCancel(ctx)
	stopped := make(chan error)
	go func() { stopped <- e.Work(working, worker(&fired, fleet.Later{})) }()
	err := e.Submit(ctx, fleet.Task{ID: "hooks", Agent: "clerk", Text: "work"})
	var status fleet.Status
	if err == nil {
		status, err = e.WaitFor(ctx, "hooks", func(s fleet.Status) bool { return s.State == fleet.Suspended })
	}
	if err == nil {
		err = e.Answer(ctx, "hooks", fleet.Decide(status.Questions[0], agent.Approval{Allow: true, By: "ann"}))
	}
	if err == nil {
		status, err = e.WaitFor(ctx, "hooks", func(s fleet.Status) bool { return s.State.Final() })
	}
	end()
	if failed := <-stopped; err != nil || failed != nil || status.State != fleet.Done || pay.Count()+look.Count() != 4 {
		t.Fatalf("%+v, %v, %v", status, err, failed)
	}
	fired.mu.Lock()
	defer fired.mu.Unlock()
	for first, last := range map[string]string{
		"OnRunStart": "OnRunEnd", "BeforeStep": "AfterStep", "OnStop": "BeforeRunEnd",
	} {
		if fired.n[first] != fired.n[last] || fired.n[first] <= once.n[first] {
			t.Errorf("%s has fired %d times, and %s %d times", first, fired.n[first], last, fired.n[last])
		}
		for _, point := range []string{first, last} {
			delete(fired.n, point)
			delete(once.n, point)
		}
	}
	if once.n["start"] != 1 || once.n["end"] != 1 || once.n["instructed"] != 6 || once.n["AroundTool pay"] != 1 {
		t.Errorf("in one process, the hooks have fired %v times", once.n)
	}
	if !maps.Equal(fired.n, once.n) {
		t.Errorf("the hooks have fired %v times, want %v", fired.n, once.n)
	}
}

// A present approver permits each call at once.
type present struct{}

func (present) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true, By: "ann"}, nil
}

// counts are the fires of points, by the tool that they are about.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
}

// Observe counts a fire.
func (c *counts) Observe(_ context.Context, _ *agent.Run, f hookkit.AnyFired) {
	what := f.Point
	switch p := f.Final.(type) {
	case agent.ToolCallRequest:
		what += " " + p.Name
	case agent.ToolCallResult:
		what += fmt.Sprintf(" %s: %s after %d attempts", p.Call.Name, p.Status, p.Attempts)
	case agent.RunStart:
		if p.Resumed == "" {
			c.add("start")
		}
	case agent.AgentResult:
		if f.Point == "OnRunEnd" && p.Stop.Cause == agent.CauseCompleted {
			c.add("end")
		}
	case agent.LLMRequest:
		if m := p.Messages[0]; m.Role == agent.RoleSystem && strings.Contains(m.Content, instructions) {
			c.add("instructed")
		}
	}
	c.add(what)
}

const instructions = "Be kind."

func (c *counts) hooks(added agent.Tool) *agent.Hooks {
	h := new(agent.Hooks)
	h.ObserveAny(c)
	h.OnRunStart.AddFunc(func(_ context.Context, r *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
		if err := r.Env.Tools.Add(added); err != nil {
			return nil, err
		}
		start.Instructions = instructions
		return agent.ReplaceOnRunStart(start, "each part has the instructions"), nil
	})
	h.OnPermission.AddFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "pay" {
			return agent.Ask{}, nil
		}
		return nil, nil
	})
	h.AroundTool.AddFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		return next.Call(ctx, call)
	})
	return h
}
