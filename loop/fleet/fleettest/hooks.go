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
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Hooks runs an agent that makes a call, asks a person about another one, and replies, without faults. It checks that
// no part of the run repeats what another part has decided: the hooks of each call and of each reply fire once. The run
// starts and ends once, and its other parts say that they continue it or are suspended. A nil open is the queue of the
// store.
func Hooks(t *testing.T, s fleet.Store, open Open) {
	e := orQueue(open)(s, nil)
	fired := counts{n: make(map[string]int)}
	pay := &looptest.Tool{Name: "pay", Result: "paid"}
	look := &looptest.Tool{Name: "look", Result: "sun"}
	model := looptest.NewScript(looptest.Call("look", nil), looptest.Call("pay", nil), looptest.Reply("done"))
	clerk := &loop.Agent{
		Name: "clerk", Model: model, Tools: []agent.Tool{loop.ReadOnly(look), pay}, Approver: fleet.Later{},
		Hooks: fired.hooks(),
	}
	w := &fleet.Worker{
		Store: s, Name: "w", Agents: map[string]*loop.Agent{"clerk": clerk}, Logger: slog.New(slog.DiscardHandler),
		Grace: time.Second,
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	working, end := context.WithCancel(ctx)
	stopped := make(chan error)
	go func() { stopped <- e.Work(working, w) }()
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
	if failed := <-stopped; err != nil || failed != nil || status.State != fleet.Done || pay.Count()+look.Count() != 2 {
		t.Fatalf("%+v, %v, %v", status, err, failed)
	}
	want := map[string]int{
		"start": 1, "end completed": 1, "step 1 replied": 1, "step 2 replied": 1, "step 3 replied": 1, "asked about pay": 1,
		"instructed": 3,
	}
	for _, tool := range []string{"look", "pay"} {
		for _, point := range []string{"before", "permission", "after"} {
			want[point+" "+tool] = 1
		}
	}
	fired.mu.Lock()
	defer fired.mu.Unlock()
	if !maps.Equal(fired.n, want) {
		t.Errorf("the hooks have fired %v times, want %v", fired.n, want)
	}
}

// counts are the fires of hooks by what they are about. Parts of a run that continue it or are suspended do not count.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[fmt.Sprintf(format, args...)]++
}

func (c *counts) hooks() *agent.Hooks {
	const instructions = "Be kind."
	h := new(agent.Hooks)
	h.OnRunStart.AddFunc(func(_ context.Context, _ *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
		if start.Instructions = instructions; start.Resumed == "" {
			c.add("start")
		}
		return agent.ReplaceOnRunStart(start, "each part has the instructions"), nil
	})
	h.BeforeLLM.AddFunc(func(_ context.Context, _ *agent.Run, req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		if m := req.Messages[0]; m.Role == agent.RoleSystem && strings.Contains(m.Content, instructions) {
			c.add("instructed")
		}
		return nil, nil
	})
	h.AfterLLM.AddFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		c.add("step %d replied", r.Step)
		return nil, nil
	})
	h.BeforeTool.AddFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		c.add("before %s", call.Name)
		return nil, nil
	})
	h.OnPermission.AddFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		c.add("permission %s", call.Name)
		if call.Name == "pay" {
			return agent.Ask{}, nil
		}
		return nil, nil
	})
	h.BeforeAsk.AddFunc(func(_ context.Context, _ *agent.Run, q agent.Question) (agent.BeforeAskOutcome, error) {
		c.add("asked about %s", q.Call.Name)
		return nil, nil
	})
	h.AfterTool.AddFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		c.add("after %s", r.Call.Name)
		return nil, nil
	})
	h.OnRunEnd.AddFunc(func(_ context.Context, _ *agent.Run, r agent.AgentResult) error {
		if r.Stop.Cause != agent.CauseSuspended {
			c.add("end %s", r.Stop.Cause)
		}
		return nil
	})
	return h
}
