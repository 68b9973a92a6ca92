package loop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// chaos is a hook for every point. A list of random numbers drives its decisions.
type chaos struct {
	mu    sync.Mutex
	moves []int
	next  int
	asks  bool // ask about each call unless a move says otherwise

	approved map[string]int    // 1 if the last vote or answer was in favor, by run and id
	judged   map[string]string // the call of the last vote
	problems []string
}

// move returns a number below n that selects an action; usually 0, which means no action.
func (c *chaos) move(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next >= len(c.moves) {
		return 0
	}
	m := c.moves[c.next]
	c.next++
	if m >= n {
		return 0
	}
	return m
}

// fails returns an error for one number, panics for another, and otherwise does nothing.
func (c *chaos) fails(m, failing, panicking int) error {
	switch m {
	case failing:
		return errBoom
	case panicking:
		panic("chaos")
	}
	return nil
}

func (c *chaos) Bind(h *agent.Hooks) {
	h.OnRunStart.Add(agent.OnRunStartFunc(func(
		_ context.Context, _ *agent.Run, p agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		switch m := c.move(30); m {
		case 1:
			return agent.EndTurn{Reply: "end", Reason: "start"}, nil
		case 2:
			p.Task = "other"
			return agent.ReplaceOnRunStart(p, "r"), nil
		default:
			return nil, c.fails(m, 3, 4)
		}
	}))
	h.ShouldStop.Add(agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
		switch m := c.move(30); m {
		case 1:
			return []agent.EndRun{{Cause: agent.CauseTimeLimit}}, nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
	h.ShouldCompact.Add(agent.ShouldCompactFunc(func(
		context.Context, *agent.Run, agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		switch m := c.move(8); m {
		case 1, 2:
			return agent.Compact{}, nil
		default:
			return nil, c.fails(m, 3, 4)
		}
	}))
	h.BeforeCompact.Add(agent.BeforeCompactFunc(func(
		context.Context, *agent.Run, agent.Compaction,
	) (agent.BeforeCompactOutcome, error) {
		switch m := c.move(6); m {
		case 1:
			return agent.SkipCompaction{}, nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
	h.AfterCompact.Add(agent.AfterCompactFunc(func(
		_ context.Context, _ *agent.Run, p agent.Compacted,
	) (agent.AfterCompactOutcome, error) {
		switch m := c.move(6); m {
		case 1:
			p.Messages = append(p.Messages, agent.Message{Role: agent.RoleTool, ToolCallID: "orphan"})
			return agent.ReplaceAfterCompact(p, "r"), nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
	h.BeforeLLM.Add(agent.BeforeLLMFunc(func(
		_ context.Context, _ *agent.Run, req agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		switch m := c.move(20); m {
		case 1:
			return agent.UseReply{
				Response: agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{Name: "ok"}, {Name: "ok"}}},
			}, nil
		case 2:
			return agent.EndTurn{Reply: "end"}, nil
		case 3:
			req.Messages, req.Tools = nil, nil
			return agent.ReplaceBeforeLLM(req, "r"), nil
		default:
			return nil, c.fails(m, 4, 5)
		}
	}))
	h.AroundLLM.Add(agent.AroundLLMFunc(func(
		ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
	) (hookkit.Answer[agent.LLMResponse], error) {
		if c.move(8) == 1 {
			return retryLLM(ctx, run, req, next)
		}
		return next.Call(ctx, req)
	}))
	h.AfterLLM.Add(agent.AfterLLMFunc(func(
		_ context.Context, _ *agent.Run, p agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		switch m := c.move(20); m {
		case 1:
			return agent.EndTurn{Reply: "end"}, nil
		case 2:
			p.ToolCalls = append(p.ToolCalls, agent.ToolCallRequest{ID: "call_1_1", Name: "ok"})
			return agent.ReplaceAfterLLM(p, "r"), nil
		default:
			return nil, c.fails(m, 3, 4)
		}
	}))
	h.BeforeTool.Add(agent.BeforeToolFunc(func(
		_ context.Context, _ *agent.Run, p agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		switch m := c.move(16); m {
		case 1:
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}}, nil
		case 2:
			return agent.SkipTool{Result: agent.ToolCallResult{Err: "refused"}}, nil
		case 3:
			return agent.EndTurn{Reply: "end"}, nil
		case 4:
			return agent.ReplaceBeforeTool(agent.ToolCallRequest{Name: p.Name, Args: []byte(`{"by":"chaos"}`)}, "r"), nil
		default:
			return nil, c.fails(m, 5, 6)
		}
	}))
	h.OnPermission.Add(agent.OnPermissionFunc(c.judge))
	h.BeforeAsk.Add(agent.BeforeAskFunc(c.answer))
	h.OnHandoff.Add(agent.OnHandoffFunc(func(
		_ context.Context, _ *agent.Run, p agent.Handoff,
	) (agent.OnHandoffOutcome, error) {
		switch m := c.move(8); m {
		case 1:
			return agent.SkipTool{}, nil
		case 2:
			return agent.EndTurn{}, nil
		default:
			return nil, c.fails(m, 3, 4)
		}
	}))
	h.AroundTool.Add(agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, p agent.ToolCallRequest, next agent.AroundToolNext,
	) (a hookkit.Answer[agent.ToolCallResult], err error) {
		switch m := c.move(12); m {
		case 1:
			if a, err = next.Call(ctx, p); err == nil {
				return a, nil
			}
		case 2:
			return hookkit.Answered(agent.ToolCallResult{Output: "instead"}), nil
		case 3:
			p.Name = "fails"
		default:
			if err := c.fails(m, 4, 5); err != nil {
				return a, err
			}
		}
		return next.Call(ctx, p)
	}))
	h.AfterTool.Add(agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, p agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		switch m := c.move(16); m {
		case 1:
			return agent.EndTurn{Reply: "end"}, nil
		case 2:
			p.Err, p.Output, p.Status = "", "fine", agent.CallSucceeded
			return agent.ReplaceAfterTool(p, "r"), nil
		case 3:
			p.Err = "rejected"
			return agent.ReplaceAfterTool(p, "r"), nil
		default:
			return nil, c.fails(m, 4, 5)
		}
	}))
	h.CheckDone.Add(agent.CheckDoneFunc(func(
		context.Context, *agent.Run, agent.DoneRequest,
	) (agent.CheckDoneOutcome, error) {
		switch m := c.move(6); m {
		case 1:
			return agent.RejectDone{Feedback: "no"}, nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
	h.OnRunError.Add(agent.OnRunErrorFunc(func(
		context.Context, *agent.Run, agent.RunError,
	) (agent.OnRunErrorOutcome, error) {
		switch m := c.move(5); m {
		case 1:
			return agent.EndTurn{Reply: "sorry"}, nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
	h.OnStop.Add(agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
		if c.move(8) == 1 {
			return []agent.EndRun{{Cause: agent.CauseUserRequested}}, nil
		}
		return nil, nil
	}))
	h.BeforeRunEnd.Add(agent.BeforeRunEndFunc(func(
		_ context.Context, _ *agent.Run, p agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		switch m := c.move(16); m {
		case 1:
			p.Signals, p.Err, p.Usage = nil, "", agent.Usage{}
			return agent.ReplaceBeforeRunEnd(p, "r"), nil
		default:
			return nil, c.fails(m, 2, 3)
		}
	}))
}

// judge votes at random and records the calls that it allowed.
func (c *chaos) judge(_ context.Context, run *agent.Run, p agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	m := c.move(12)
	if m == 0 && c.asks {
		m = 2
	}
	key := run.ID() + " " + p.ID + " " + fmt.Sprint(p.Step)
	c.mu.Lock()
	call := p.Name + string(p.Args)
	if c.judged[key] == call { // an approval may change the arguments, and then the vote is repeated
		c.problems = append(c.problems, "asked twice about "+key)
	}
	c.judged[key] = call
	switch m {
	case 1, 3, 4:
		c.approved[key] = 0
	case 2: // the answer decides, or the approval that changed the arguments
	default:
		c.approved[key] = 1
	}
	c.mu.Unlock()
	switch m {
	case 1:
		return agent.Deny{Reason: "chaos"}, nil
	case 2:
		return agent.Ask{}, nil
	}
	return nil, c.fails(m, 3, 4)
}

// answer answers at random instead of a person, and records the calls that it approved.
func (c *chaos) answer(_ context.Context, run *agent.Run, q agent.Question) (agent.BeforeAskOutcome, error) {
	m := c.move(10)
	key := run.ID() + " " + q.Call.ID + " " + fmt.Sprint(q.Call.Step)
	c.mu.Lock()
	switch m {
	case 1, 2, 3:
		c.approved[key] = 1
	case 4, 5, 6:
		c.approved[key] = 0
	}
	c.mu.Unlock()
	switch m {
	case 1:
		return agent.Approve{}, nil
	case 2:
		return agent.Approve{Args: []byte(`{"by":"chaos"}`)}, nil
	case 3:
		return agent.Approve{Args: []byte(`{`)}, nil
	case 4:
		return agent.Refuse{StopRun: c.move(2) == 1}, nil
	}
	return nil, c.fails(m, 5, 6)
}

// Approve answers later, or at random at once.
func (c *chaos) Approve(_ context.Context, q agent.Question) (agent.Approval, error) {
	m := c.move(12)
	return c.approve(q, m), c.fails(m, 8, 9)
}

// approve returns an answer and records the call if it is approved.
func (c *chaos) approve(q agent.Question, m int) agent.Approval {
	approvals := map[int]agent.Approval{
		1: {Allow: true}, 2: {Allow: true, Args: []byte(`{"by":"chaos"}`)}, 3: {Allow: true, Args: []byte(`{`)},
		4: {Allow: true, StopRun: true}, 5: {StopRun: true}, 6: {Reason: "no"}, 7: {Allow: true, By: "ann"},
	}
	answer, known := approvals[m]
	if !known {
		return agent.Approval{Pending: true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.approved[q.Run+" "+q.Call.ID+" "+fmt.Sprint(q.Call.Step)] = 0
	if answer.Allow {
		c.approved[q.Run+" "+q.Call.ID+" "+fmt.Sprint(q.Call.Step)] = 1
	}
	return answer
}

// resume answers some of the questions of a suspended run and continues it.
func (c *chaos) resume(t testing.TB, rt *rapid.T, a *loop.Agent, ctx context.Context, s *agent.Suspension) (
	agent.AgentResult, error,
) {
	state := sent(t, s)
	var answers []loop.Answer
	for i, q := range state.Questions {
		if m := rapid.IntRange(0, 7).Draw(rt, "answer"); m > 0 || i == len(state.Questions)-1 && len(answers) == 0 {
			answers = append(answers, loop.AnswerTo(q, c.approve(q, max(m, 1))))
		}
	}
	return looptest.Ended(a.Resume(ctx, state, answers...))
}

// dispatched checks that the vote allowed exactly this call.
func (c *chaos) dispatched(run string, p agent.ToolCallRequest) {
	key := run + " " + p.ID + " " + fmt.Sprint(p.Step)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.approved[key] != 1 || c.judged[key] != p.Name+string(p.Args) {
		c.problems = append(c.problems, fmt.Sprintf("dispatched %s %s%s, which was judged as %q", key, p.Name, p.Args,
			c.judged[key]))
	}
}

func TestEveryLawHoldsWhateverHooksDo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := &chaos{
			moves:    rapid.SliceOfN(rapid.IntRange(0, 20), 0, 60).Draw(rt, "moves"),
			approved: make(map[string]int), judged: make(map[string]string),
		}
		body := func(err error) func(context.Context, agent.ToolCallRequest) (string, error) {
			return func(ctx context.Context, p agent.ToolCallRequest) (string, error) {
				c.dispatched(runID(ctx), p)
				return "done", err
			}
		}
		ours := tools(&looptest.Tool{Name: "ok", Func: body(nil)}, &looptest.Tool{Name: "fails", Func: body(errBoom)})
		script := func(name string) *looptest.Script {
			s := looptest.NewScript().Named(name)
			for range rapid.IntRange(1, 6).Draw(rt, name+" turns") {
				var calls []looptest.Turn
				for range rapid.IntRange(0, 3).Draw(rt, name+" calls") {
					call := looptest.Call(rapid.SampledFrom([]string{
						"ok", "fails", "unknown", "done", "helper", "transfer_to_expert",
					}).Draw(rt, "tool"),
						rapid.SampledFrom([]string{`{}`, `{"task":"t"}`, `{"answer":"42"}`, `{`}).Draw(rt, "args"))
					if rapid.IntRange(0, 4).Draw(rt, "id") == 0 {
						call = call.ID("same")
					}
					calls = append(calls, call)
				}
				switch {
				case len(calls) > 0:
					s.Add(looptest.Calls(calls...))
				case rapid.Bool().Draw(rt, "reply"):
					s.Add(looptest.Reply("text"))
				default:
					s.Add(rapid.SampledFrom([]looptest.Turn{
						looptest.Reply(""), looptest.Error(errBoom), looptest.Error(&agent.PromptTooLong{}),
					}).Draw(rt, "odd"))
				}
			}
			return s
		}
		limits := loop.Limits{Steps: 8, Depth: 3, Parallel: rapid.IntRange(1, 3).Draw(rt, "parallel")}
		compactor := &compactor{}
		helper := &loop.Agent{Name: "helper", Model: script("helper"), Tools: ours, Limits: limits, Compactor: compactor}
		expert := &loop.Agent{Name: "expert", Model: script("expert"), Tools: ours, Limits: limits, Done: doneTool}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var person agent.Approver
		if rapid.Bool().Draw(rt, "approver") {
			person, c.asks = c, rapid.Bool().Draw(rt, "asks")
		}
		ran := looptest.Harness{
			Hooks: hooks(c),
			Tools: append(ours[:len(ours):len(ours)], loop.Subagent(helper)),
			Agent: &loop.Agent{
				Model: script("boss"), Limits: limits, Done: doneTool, Handoffs: []*loop.Agent{expert}, Compactor: compactor,
				Approver: person,
			},
		}.Make()
		if rapid.IntRange(0, 5).Draw(rt, "cancelled") == 0 {
			at := rapid.IntRange(0, 40).Draw(rt, "cancelled at")
			fires := &cancelAt{cancel: cancel}
			fires.left.Store(int64(at))
			ran.Agent.Hooks.ObserveAny(fires)
		}
		got, failed := looptest.Ended(ran.Agent.Do(ctx, loop.Request{Task: "x"}))
		for got.Suspended != nil { // P11
			if got.Stop.Cause != agent.CauseSuspended || failed != nil || got.Reply != "" {
				rt.Fatalf("suspended, and %+v, %v", got, failed)
			}
			got, failed = c.resume(t, rt, ran.Agent, ctx, got.Suspended)
			if failed != nil && got.Agent == "" {
				rt.Fatalf("not resumed: %v", failed)
			}
		}

		report := &collected{TB: t}
		checkPaired(report, ran.Recorder) // P1 and P2: decided calls get one AfterTool
		checkAnswered(report, got.Messages)
		for _, p := range append(report.problems, c.problems...) { // P3, P4
			rt.Errorf("%s", p)
		}
		for _, f := range ran.Recorder.Fires("OnRunEnd") {
			r := f.Payload.(agent.AgentResult)
			if r.Steps > limits.Steps { // P7
				rt.Errorf("a run made %d steps", r.Steps)
			}
			if len(r.Signals) == 0 || r.Stop.Cause == agent.CauseUnknown {
				rt.Errorf("a run ended without a signal: %+v", r)
			}
			for _, s := range r.Signals { // P10
				if s.Cause.Strength() > r.Stop.Cause.Strength() {
					rt.Errorf("reported %s over %s", r.Stop.Cause, s.Cause)
				}
			}
			if r.Stop.Cause == agent.CauseError != (r.Err != "") {
				rt.Errorf("stopped by %s, failed with %q", r.Stop.Cause, r.Err)
			}
			for _, call := range r.Calls { // P8
				if (call.Err == "") != (call.Status == agent.CallSucceeded || call.Status == agent.CallSkipped ||
					call.Status == agent.CallHandedOff) {
					rt.Errorf("recorded %+v", call)
				}
				if call.Status == agent.CallSucceeded && call.Attempts == 0 && call.Call.Name != "done" {
					rt.Errorf("a call that was not dispatched succeeded: %+v", call)
				}
			}
		}
		if (failed == nil) != (got.Err == "" && ctx.Err() == nil) && !(failed == nil && got.Err == "") {
			rt.Errorf("returned %v beside %q", failed, got.Err)
		}
		if ctx.Err() != nil && failed != nil && got.Err == "" && !errors.Is(failed, context.Canceled) {
			rt.Errorf("returned %v", failed)
		}
	})
}

// cancelAt cancels at the nth fire.
type cancelAt struct {
	left   atomic.Int64
	cancel func()
}

func (c *cancelAt) Observe(context.Context, *agent.Run, hookkit.AnyFired) {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
}

// collected gathers the errors that a check reports.
type collected struct {
	testing.TB
	problems []string
}

func (c *collected) Helper() {}

func (c *collected) Error(args ...any) { c.problems = append(c.problems, fmt.Sprint(args...)) }

func (c *collected) Errorf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}
