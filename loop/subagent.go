package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/hookgen/hookgen/generated/agent"
)

// Subagent makes a tool of an agent, under the agent's name and description. A call of it is a run on a fresh
// conversation, started by the run that calls it: it fires that run's hooks as its outer layer, what it uses
// counts towards that run, and where the agent has no Model, Approver or Clock it takes that run's. A run
// that was stopped before it was done is a failed call; its reply is guidance.
func Subagent(a *Agent) agent.Tool {
	if a == nil {
		panic("loop: Subagent of a nil agent; pass one")
	}
	return &subagent{a}
}

type subagent struct{ a *Agent }

func (s *subagent) Schema() agent.ToolSchema {
	return agent.ToolSchema{
		Name:        toolName("", s.a.name()),
		Description: orElse(s.a.Description, fmt.Sprintf("Give a task to the agent %s and get its answer.", s.a.name())),
		Parameters:  json.RawMessage(`{"type":"object","properties":{"task":{"type":"string","description":"what the agent is to do"}},"required":["task"]}`),
	}
}

func (s *subagent) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	var args struct {
		Task string `json:"task"`
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return "", &agent.ToolError{Kind: agent.FailArguments, Message: "the task cannot be read: " + err.Error(), Cause: err}
	}
	outer, _ := ctx.Value(runKey{}).(*run)
	var (
		result agent.AgentResult
		err    error
	)
	if outer == nil {
		result, err = s.a.Run(ctx, args.Task)
	} else {
		if limit := outer.limits.Depth; limit > 0 && outer.depth >= limit {
			return "", tooDeep(limit)
		}
		result, err = outer.spawn(ctx, s.a, Request{Task: args.Task, Seed: outer.seedFor(call)}, false)
	}
	if err == nil && result.Forced() {
		err = &agent.ToolError{Kind: agent.FailTool, Message: fmt.Sprintf(
			"the agent %s was stopped before it was done: %s", s.a.name(),
			orElse(result.Stop.Message, string(result.Stop.Cause)))}
	}
	return result.Reply, err
}

// seedFor returns the seed of the run that a call starts. It follows from the seed of this run and from the call, so
// that a run with the same seed and the same replies starts runs with the same seeds.
func (r *run) seedFor(call agent.ToolCallRequest) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", r.seed, call.Step, call.ID)
	return max(h.Sum64(), 1) // 0 would be drawn
}

// spawn runs an agent inside the run.
func (r *run) spawn(ctx context.Context, a *Agent, req Request, handoff bool) (result agent.AgentResult, err error) {
	inner, err := newRun(ctx, a, req, r, nil)
	if err != nil {
		return result, err
	}
	id := inner.id.ID()
	r.hooks.OnSubagentStart.Fire(ctx, r.id, agent.Subagent{ID: id, Name: a.name(), Task: req.Task, Handoff: handoff})
	defer func() {
		r.hooks.OnSubagentStop.Fire(r.cleanupCtx, r.id, agent.SubagentDone{
			ID: id, Name: a.name(), ModelCalls: result.ModelCalls, Steps: result.Steps, Result: cloned(result),
		})
	}()
	return inner.execute()
}
