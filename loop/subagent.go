package loop

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/hookgen/hookgen/generated/agent"
)

// Subagent makes an agent a tool, with the agent's name, description and Input. Each call is a new run on an empty
// conversation. The inner run fires the hooks of the calling run and then those of the agent, and its usage counts
// towards the calling run. If the agent has no Model, Approver or Clock, it uses those of the calling run. If the inner
// run is stopped before it is done, the call fails with the reply as guidance. If it is suspended, the calling run is
// suspended with it. Consecutive calls of sub-agents run in parallel, because the tool is [Concurrent].
func Subagent(a *Agent) agent.Tool {
	if a == nil {
		panic("loop: Subagent of a nil agent; pass one")
	}
	return &subagent{a}
}

type subagent struct{ a *Agent }

func (s *subagent) Schema() agent.ToolSchema {
	schema := s.a.schema("", "Give a task to the agent %s and get its answer.", `"required":["task"],`)
	schema.Concurrent = true
	return schema
}

func (s *subagent) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	task, err := s.a.taskIn(ctx, call)
	if err != nil {
		return "", err
	}
	req := Request{Task: task}
	if outer := runOf(ctx); outer != nil {
		req.Seed = outer.seedFor(call)
	}
	result, err := Spawn(ctx, s.a, req)
	if err == nil && result.Forced() || find[StoppedError](err) != nil {
		err = &agent.ToolError{Kind: agent.FailTool, Message: fmt.Sprintf(
			"the agent %s was stopped before it was done: %s", s.a.name(),
			orElse(result.Stop.Message, string(result.Stop.Cause)))}
	}
	return orElse(result.Reply, readBefore(result.Messages)), err
}

// readBefore returns what a person has read of the reply during which a run was interrupted, or "".
func readBefore(messages []agent.Message) string {
	n := len(messages) - 2
	if n < 0 || messages[n].Role != agent.RoleAssistant || messages[n+1].Name != agent.InterruptionName {
		return ""
	}
	return messages[n].Content
}

// Spawn runs an agent inside the run that called a tool with ctx, as [Subagent] does. A tool uses it to choose the
// messages, the ID or the seed of the inner run. Without a Seed, the seed follows from that of the outer run, the ID
// and the Task. Conversation, User and Tenant are those of the outer run. The inner run is cancelled when the outer run
// ends. If the inner run is suspended, the error is [ErrSuspended]. Outside a run, Spawn is the same as [Agent.Do].
func Spawn(ctx context.Context, a *Agent, req Request) (agent.AgentResult, error) {
	outer := runOf(ctx)
	if outer == nil {
		return a.Do(ctx, req)
	}
	if deep := outer.tooDeep(); deep != nil {
		return agent.AgentResult{}, deep
	}
	if req.Seed == 0 {
		req.Seed = outer.seedFrom(req.ID, req.Task)
	}
	if req.Suspended != nil {
		return agent.AgentResult{}, errors.New("a suspended run is resumed outside of other runs; call Agent.Resume")
	}
	return flightOf(ctx, outer).spawn(ctx, outer, a, req)
}

// ErrSuspended is matched by the error of a run that waits for the answer of a person. AgentResult.Suspended has its
// state.
//
// A tool that called Spawn must return then; its result is ignored. When the outer run is resumed, the tool is called
// again with the same arguments. Spawn then continues the suspended run. For a run that had finished, it returns the
// same result again.
var ErrSuspended = errors.New("the run waits for an answer; it continues when it has one")

// seedFor returns the seed of the run that a call starts. It depends only on the seed of this run and on the call,
// so a repeated run with the same replies gives its inner runs the same seeds.
func (r *run) seedFor(call agent.ToolCallRequest) uint64 { return r.seedFrom(call.Step, call.ID) }

// seedFrom derives a seed from that of the run. It is not 0, which means random.
func (r *run) seedFrom(what ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, r.seed)
	for _, w := range what {
		fmt.Fprintf(h, " %v", w)
	}
	return max(h.Sum64(), 1)
}

// spawn runs an agent inside the run. A tool may have been abandoned and call spawn when the run has ended.
// If the other run is suspended, spawn also returns its state.
func (r *run) spawn(
	ctx context.Context, a *Agent, req Request, handoff bool, from origin,
) (result agent.AgentResult, waiting *snapshot, err error) {
	if !r.spawned.begin() {
		return result, nil, errors.New("the run has ended; start other runs while it runs")
	}
	defer r.spawned.done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.spawned.cancelWith(cancel)
	from.outer = r
	inner, err := newRun(ctx, a, req, from)
	if err != nil {
		return result, nil, err
	}
	id := inner.hookRun.ID()
	defer func() { // also if a hook of OnSubagentStart ends the goroutine
		r.hooks.OnSubagentStop.Fire(r.cleanupCtx, r.hookRun, agent.SubagentDone{
			ID: id, Name: a.name(), ModelCalls: result.ModelCalls, Steps: result.Steps, Result: cloned(result),
		})
	}()
	r.hooks.OnSubagentStart.Fire(ctx, r.hookRun, agent.Subagent{
		ID: id, Name: a.name(), Task: inner.task, Handoff: handoff,
	})
	result, err = inner.execute()
	return result, inner.saved, err
}
