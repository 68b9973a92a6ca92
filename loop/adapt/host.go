package adapt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Host fires the hooks for an agent of another framework. Only Hooks is required. It is safe for concurrent use, and
// must not be changed after its first run.
//
// The points that it fires are OnRunStart, ShouldStop, Briefing, BeforeLLM, AroundLLM, AfterLLM, BeforeTool,
// OnPermission, BeforeAsk, OnPermissionGranted, OnPermissionDenied, AroundTool, OnToolError, AfterTool,
// OnBudgetExceeded, OnRunError, OnStop, BeforeRunEnd and OnRunEnd. The other points belong to parts of a loop that the
// framework has itself, for example compaction and handoffs.
type Host struct {
	Hooks    *agent.Hooks
	Agent    string             // the name of the agent for hooks; "": agent
	Tools    []agent.ToolSchema // of the agent, for hooks that look them up
	Approver agent.Approver     // nil: an Ask is a denial

	// KeepBytes bounds the results of tools that a run keeps for the Calls of its result: the last ones, of this size
	// together. 0: all are kept. Set it if a run can last as long as the program, for example for a server.
	KeepBytes int
}

// A Task is the start of a run. Most callers set only Text.
type Task struct {
	Text     string
	Messages []agent.Message // the conversation before the task

	// The owner of the run. Hooks keep the data of different owners apart.
	agent.Identity
}

// Ended is the error with which Model and Tool end a run, because a hook or a person decided so. The framework passes
// it to the caller of the agent, and Run makes a result of it. It is also the error of Run if the run was stopped
// before it was done.
type Ended struct {
	Stop  agent.EndRun
	Reply string // the final reply

	turn bool // the EndTurn of a hook gave the reply
}

// Error contains the cause and the reason.
func (e *Ended) Error() string {
	text := fmt.Sprintf("the run was ended (%s)", e.Stop.Cause)
	if e.Stop.Message != "" {
		text += ": " + e.Stop.Message
	}
	return text
}

// ErrNoRun is the error of Model and Tool outside of Run. Without a run, hooks that count or remember would start again
// at each call.
var ErrNoRun = errors.New("adapt: the agent was called outside of Host.Run; call it in the function for Run")

// Run fires the points of a run around act, which calls the agent of the framework and returns its reply. The agent
// must get the context of act, and the task as the hooks of OnRunStart left it.
//
// The error is nil exactly if the agent replied or the EndTurn of a hook gave the reply. If a signal of a hook or the
// refusal of a person stopped the run, the error is an *[Ended]. If act failed, Run returns its error, unless a hook of
// OnRunError gave a reply. The result is complete in each of these cases. A deciding hook at a point that a Host does
// not fire is an error before the run, because it would never run.
func (h *Host) Run(
	ctx context.Context, task Task, act func(ctx context.Context, task Task) (string, error),
) (agent.AgentResult, error) {
	if err := h.check(); err != nil {
		return agent.AgentResult{}, err
	}
	r := &run{host: h, start: time.Now(), tools: make(map[string]int), messages: task.Messages}
	seed := rand.Uint64()
	env := &agent.Env{
		Agent: h.name(), Tenant: task.Tenant, User: task.User, Conversation: conversation{r, task.Conversation},
		Tools: table{h}, Seed: seed, Random: rand.NewPCG(seed, seed), Counters: r.counters,
		Exceeded: func(ctx context.Context, b agent.BudgetExceeded) { h.Hooks.OnBudgetExceeded.Fire(ctx, r.hookRun, b) },
	}
	if outer, ok := ctx.Value(runKey{}).(*run); ok {
		r.hookRun = outer.hookRun.Child(env)
	} else {
		r.hookRun = agent.NewRun(env)
	}
	env.Root = r.hookRun.Root()
	ctx = agentspec.WithRun(agentspec.WithEnv(context.WithValue(ctx, runKey{}, r), env), r.hookRun.ID())
	reply, err := isolated(func() (string, error) { return r.work(ctx, task, act) })
	return r.end(context.WithoutCancel(ctx), task, reply, err)
}

func (h *Host) name() string {
	if h.Agent == "" {
		return "agent"
	}
	return h.Agent
}

// unfired are the points with decisions that a Host does not fire.
var unfired = []string{"ShouldCompact", "BeforeCompact", "AfterCompact", "OnHandoff", "CheckDone"}

// check returns an error for each deciding hook that would never run.
func (h *Host) check() error {
	if h.Hooks == nil {
		return errors.New("adapt: the Hooks are nil; set Hooks")
	}
	var errs []error
	for _, p := range h.Hooks.Points() {
		if slices.Contains(unfired, p.Name) {
			for _, hook := range p.Hooks() {
				errs = append(errs, fmt.Errorf("adapt: the hook %s (%s) decides at %s, which the framework does not fire; "+
					"leave it out", hook.Name, hook.Site, p.Name))
			}
		}
	}
	return errors.Join(errs...)
}
