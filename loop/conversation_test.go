package loop_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// requests is a model that stores its requests without copying them.
type requests struct {
	*looptest.Script
	got []agent.LLMRequest
}

func (m *requests) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	m.got = append(m.got, req)
	return m.Script.Generate(ctx, req)
}

// working returns a script of n turns with a call, and an answer.
func working(n int) *looptest.Script {
	script := looptest.NewScript()
	for range n {
		script.Add(looptest.Call("work", `{"n":1}`))
	}
	return script.Add(looptest.Reply("ok"))
}

func TestRequestsShareTheConversation(t *testing.T) {
	m := &requests{Script: working(30)}
	a := &loop.Agent{Model: m, Instructions: "be good", Tools: tools(work())}
	if _, err := a.Run(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	last := m.got[len(m.got)-1].Messages
	shared := 0
	for i, req := range m.got {
		if &req.Messages[0] == &last[0] {
			shared++
		}
		if n := 2 + 2*i; len(req.Messages) != n || cap(req.Messages) != n || req.Messages[1].Content != "x" {
			t.Errorf("request %d has %d messages with room for %d: %+v", i, len(req.Messages), cap(req.Messages), req.Messages)
		}
	}
	if shared < len(m.got)/4 { // because the memory doubled
		t.Errorf("%d of %d requests share memory with the last one", shared, len(m.got))
	}
}

func TestKeptRequestsNeverChange(t *testing.T) {
	m := &requests{Script: working(20)}
	a := &loop.Agent{Model: m, Tools: tools(work())}
	if _, err := a.Run(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	for i, call := range m.Calls() { // copies that the script took
		for n, message := range call.Request.Messages {
			if kept := m.got[i].Messages[n]; kept.Role != message.Role || kept.Content != message.Content ||
				len(kept.ToolCalls) != len(message.ToolCalls) {
				t.Errorf("message %d of request %d was %+v and is %+v", n, i, message, kept)
			}
		}
	}
}

// mutate changes everything in messages that it can reach in place.
func mutate(messages []agent.Message) {
	for i := range messages {
		messages[i].Content += " SPOILT"
		for n := range messages[i].ToolCalls {
			messages[i].ToolCalls[n].Name = "spoilt"
		}
	}
}

func TestChangesInPlaceDoNotReachModel(t *testing.T) {
	replace := beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		mutate(req.Messages)
		return agent.ReplaceBeforeLLM(req, "declared"), nil
	})
	for _, c := range []struct {
		name string
		hook agent.Hook
		most int // mutated messages that one request may contain
	}{
		{"BeforeLLM", beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			mutate(req.Messages)
			return nil, nil
		}), 0},
		{"ShouldCompact", agent.ShouldCompactFunc(func(
			_ context.Context, _ *agent.Run, use agent.ContextUse,
		) (agent.ShouldCompactOutcome, error) {
			//hookvet:ignore sharedpayload the hook breaks the rule on purpose
			mutate(use.Messages)
			return nil, nil
		}), 0},
		{"Conversation", agent.BeforeStepFunc(func(_ context.Context, run *agent.Run, _ agent.Step) error {
			mutate(run.Env.Conversation.Messages())
			return nil
		}), 0},
		{"AfterStep", agent.AfterStepFunc(func(_ context.Context, run *agent.Run, _ agent.StepResult) error {
			mutate(run.Env.Conversation.Messages())
			return nil
		}), 0},
		{"Replace", replace, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Agent: &loop.Agent{Model: working(5)}, Tools: tools(work()), Hooks: hooks(c.hook),
			}.Run(t, "x")
			for i, req := range ran.Script.Requests() {
				for _, m := range req.Messages {
					if n := strings.Count(m.Content, "SPOILT"); n > c.most {
						t.Errorf("request %d has %+v", i, m)
					}
				}
			}
			for _, m := range ran.Messages {
				if strings.Contains(m.Content, "SPOILT") || len(m.ToolCalls) > 0 && m.ToolCalls[0].Name != "work" {
					t.Errorf("the record has %+v", m)
				}
			}
		})
	}
}

//hookvet:ignore sharedpayload the hook breaks the rule on purpose
func TestChangesInPlaceDoNotReachResult(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(two(), looptest.Reply("ok")), Tools: tools(work()),
		Hooks: hooks(agent.BeforeRunEndFunc(func(
			_ context.Context, _ *agent.Run, r agent.AgentResult,
		) (agent.BeforeRunEndOutcome, error) {
			mutate(r.Messages)
			for i := range r.Calls {
				r.Calls[i].Output = "spoilt"
				r.Calls[i].Call.Args[1] = '!'
			}
			return nil, nil
		})),
	}.Run(t, "x")
	if c := ran.Calls[0]; c.Output != "done" || string(c.Call.Args) != `{"n":1}` || ran.Messages[0].Content != "x" {
		t.Errorf("got %+v and %+v", ran.Calls, ran.Messages)
	}
}

// counting counts the calls for each text.
type counting struct {
	mu    sync.Mutex
	asked map[string]int
}

func (c *counting) CountTokens(messages []agent.Message) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		c.asked[m.Content]++
	}
	return 10 * len(messages)
}

func TestEachMessageIsCountedOnce(t *testing.T) {
	var uses []agent.ContextUse
	tokens := &counting{asked: make(map[string]int)}
	n := 0
	tool := &looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		n++
		return strings.Repeat("x", n), nil
	}}
	ran := looptest.Harness{
		Agent: &loop.Agent{
			Model: working(30), Instructions: "be good", Tokens: tokens, Limits: loop.Limits{Tokens: 1 << 30, Window: 1 << 30},
		},
		Tools: tools(tool),
		Hooks: hooks(agent.ShouldCompactFunc(func(
			_ context.Context, run *agent.Run, use agent.ContextUse,
		) (agent.ShouldCompactOutcome, error) {
			uses = append(uses, use)
			if n := run.Env.CountTokens(use.Messages); n != 10*len(use.Messages) {
				t.Errorf("%d messages have %d tokens", len(use.Messages), n)
			}
			return nil, nil
		})),
	}.Run(t, "task")
	for i := 1; i <= 30; i++ {
		if got := tokens.asked[strings.Repeat("x", i)]; got != 1 {
			t.Errorf("result %d was counted %d times", i, got)
		}
	}
	for i, use := range uses {
		if least := 10 * (2 + 2*i); use.Tokens < least || use.Tokens > least+100 { // includes the tool's description
			t.Errorf("step %d: %d tokens, want at least %d", i+1, use.Tokens, least)
		}
	}
	if ran.Failed != nil || len(uses) != 31 {
		t.Errorf("%d steps: %v", len(uses), ran.Failed)
	}
}

func TestACompactionRecountsTheTokens(t *testing.T) {
	var use []int
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()),
		Hooks: hooks(compactWhen(5), agent.ShouldCompactFunc(func(
			_ context.Context, run *agent.Run, u agent.ContextUse,
		) (agent.ShouldCompactOutcome, error) {
			use = append(use, run.Env.CountTokens(u.Messages), agentspec.EstimateTokens(u.Messages))
			return nil, nil
		})),
		Agent: &loop.Agent{Compactor: &compactor{}},
	}.Do(t, t.Context(), loop.Request{Task: "now", Messages: long(8)})
	if ran.Failed != nil || len(use) != 4 || use[0] != use[1] || use[2] != use[3] || use[2] >= use[0] {
		t.Errorf("counted %v, %v", use, ran.Failed)
	}
}
