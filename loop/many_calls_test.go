package loop_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// callsOnce returns a model whose first reply has n calls of the tool work with the same id, and whose second one is
// "ok".
func callsOnce(n int, id string) model {
	calls := make([]agent.ToolCallRequest, n)
	for i := range calls {
		calls[i] = agent.ToolCallRequest{ID: id, Name: "work"}
	}
	return func(req agent.LLMRequest) (agent.LLMResponse, error) {
		if len(req.Messages) > 1 {
			return agent.LLMResponse{Content: "ok"}, nil
		}
		return agent.LLMResponse{ToolCalls: calls}, nil
	}
}

func TestCallsOverTheLimitAreRefused(t *testing.T) {
	for _, c := range []struct {
		name              string
		limit, calls, ran int
	}{
		{"Default", 0, 20_000, 256}, {"AtTheLimit", 3, 3, 3}, {"OneMore", 3, 4, 3}, {"NoLimit", -1, 300, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Agent: &loop.Agent{Model: callsOnce(c.calls, "same"), Limits: loop.Limits{Calls: c.limit}}, Tools: tools(work()),
			}.Run(t, "x")
			ran.Recorder.Times(t, "BeforeTool", c.ran)
			ran.Recorder.Times(t, "AfterTool", c.ran)
			if len(ran.Calls) != c.calls || ran.Reply != "ok" {
				t.Fatalf("%d results, replied %q", len(ran.Calls), ran.Reply)
			}
			for i, r := range ran.Calls {
				refused := r.Status == agent.CallRefused && r.Kind == agent.FailTooMany && strings.Contains(r.Err, "at most")
				if refused != (i >= c.ran) {
					t.Fatalf("call %d: %+v", i, r)
				}
			}
			checkAnswered(t, ran.Messages)
		})
	}
}

func TestManyCallsStopAfterACancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const n = 20_000
	calls := make([]agent.ToolCallRequest, n)
	for i := range calls {
		calls[i] = agent.ToolCallRequest{ID: "same", Name: "work"}
	}
	decided := 0
	ran := looptest.Harness{
		Agent: &loop.Agent{
			Model: model(func(agent.LLMRequest) (agent.LLMResponse, error) { return agent.LLMResponse{ToolCalls: calls}, nil }),
		},
		Tools: tools(work()),
		Hooks: hooks(beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			if decided++; decided == 10 {
				cancel()
			}
			return nil, nil
		})),
	}.Do(t, ctx, loop.Request{Task: "x"})
	if decided != 10 || len(ran.Calls) != n || ran.Calls[n-1].Status != agent.CallUnrun {
		t.Errorf("%d calls were decided, the last of %d is %+v", decided, len(ran.Calls), ran.Calls[len(ran.Calls)-1])
	}
	checkAnswered(t, ran.Messages)
}

// TestManyCallsTakeLinearMemory: each of 40,000 calls in one reply is answered or refused, and the work for one of them
// does not grow with their number.
func TestManyCallsTakeLinearMemory(t *testing.T) {
	n := 40_000
	if testing.Short() {
		n = 8_000
	}
	read, person := loop.ReadOnly(work()), says(true)
	for _, c := range []struct {
		name   string
		agent  *loop.Agent
		hooks  []agent.Hook
		status agent.CallStatus // of the last call
	}{
		{"OneByOne", &loop.Agent{Tools: tools(work())}, nil, agent.CallSucceeded},
		{"InParallel", &loop.Agent{Tools: tools(read), Limits: loop.Limits{Parallel: 8}}, nil, agent.CallSucceeded},
		{"Denied", &loop.Agent{Tools: tools(read)}, hooks(votes(agent.Deny{})), agent.CallRefused},
		{"Approved", &loop.Agent{Tools: tools(work()), Approver: person}, hooks(votes(agent.Ask{})), agent.CallSucceeded},
		{"Foreign", &loop.Agent{}, nil, agent.CallFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			bytes := func(n int) uint64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				person.questions = nil
				a := &loop.Agent{Model: callsOnce(n, ""), Tools: c.agent.Tools, Approver: c.agent.Approver,
					Limits: loop.Limits{Calls: -1, Parallel: c.agent.Limits.Parallel}, Hooks: loop.Hooks(c.hooks...)}
				result, err := a.Run(t.Context(), "x")
				runtime.ReadMemStats(&after)
				if err != nil || len(result.Calls) != n || result.Calls[n-1].Status != c.status || result.Reply != "ok" {
					t.Fatalf("%v, %d results, the last is %+v", err, len(result.Calls), result.Calls[len(result.Calls)-1])
				}
				checkAnswered(t, result.Messages)
				return after.TotalAlloc - before.TotalAlloc
			}
			if few, many := bytes(n/8), bytes(n); many > 10*few {
				t.Errorf("%d calls take %d bytes, %d calls take %d", n/8, few, n, many)
			}
		})
	}
}

func TestErrorOfManyQuestionsIsShort(t *testing.T) {
	a := &loop.Agent{
		Model: callsOnce(200, ""), Tools: tools(work()), Approver: later(), Hooks: loop.Hooks(votes(agent.Ask{})),
	}
	result, err := a.Run(t.Context(), "x")
	if n := len(result.Suspended.Questions); n != 200 || len(err.Error()) > 8000 ||
		!strings.HasSuffix(err.Error(), "; 160 more questions") {
		t.Errorf("%d questions, %v", n, err)
	}
}
