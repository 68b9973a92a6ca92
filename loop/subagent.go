package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/hookgen/hookgen/generated/agent"
)

// Subagent makes an agent a tool, with the agent's name and description. Each call is a new run on an empty
// conversation. The inner run fires the hooks of the calling run as its outer layer, and its usage counts towards
// that run. If the agent has no Model, Approver or Clock, it uses those of the calling run. If the inner run is
// stopped before it is done, the call fails with the reply as guidance.
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
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"task":{"type":"string","description":"what the agent is to do"}},"required":["task"],"additionalProperties":false}`),
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
		if deep := outer.tooDeep(); deep != nil {
			return "", deep
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

// seedFor returns the seed of the run that a call starts. It depends only on the seed of this run and on the call,
// so a repeated run with the same replies gives its inner runs the same seeds.
func (r *run) seedFor(call agent.ToolCallRequest) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", r.seed, call.Step, call.ID)
	return max(h.Sum64(), 1) // 0 means random
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
