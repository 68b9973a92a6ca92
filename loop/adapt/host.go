package adapt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
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
}

// A Task is the start of a run. Most callers set only Text.
type Task struct {
	Text     string
	Messages []agent.Message // the conversation before the task

	// The owner of the run. Hooks keep the data of different owners apart.
	agent.Identity
}

// Ended is the error with which Model and Tool end a run, because a hook decided so. The framework passes it to the
// caller of the agent, and Run makes a result of it.
type Ended struct {
	Stop  agent.EndRun
	Reply string // the final reply
}

// Error contains the reason.
func (e *Ended) Error() string {
	if e.Stop.Message == "" {
		return "a hook ended the run"
	}
	return "a hook ended the run: " + e.Stop.Message
}

// ErrNoRun is the error of Model and Tool outside of Run. Without a run, hooks that count or remember would start again
// at each call.
var ErrNoRun = errors.New("adapt: the agent was called outside of Host.Run; call it in the function for Run")

// A run is one call of Run.
type run struct {
	host    *Host
	hookRun *agent.Run
	start   time.Time

	mu        sync.Mutex
	ended     *Ended
	steps     int // calls to the model
	toolCalls int // that have begun
	usage     agent.Usage
	tools     map[string]int
	calls     []agent.ToolCallResult
	messages  []agent.Message // of the last request
}

type runKey struct{}

// runOf returns the run of a context. It fails without a run, and if a hook has ended the run.
func (h *Host) runOf(ctx context.Context) (*run, error) {
	r, _ := ctx.Value(runKey{}).(*run)
	if r == nil || r.host != h {
		return nil, ErrNoRun
	}
	if ended := r.over(); ended != nil {
		return nil, ended
	}
	return r, nil
}

// over returns how a hook ended the run, or nil.
func (r *run) over() *Ended {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// Run fires the points of a run around act, which calls the agent of the framework and returns its reply. The agent
// must get the context of act, and the task as the hooks of OnRunStart left it.
//
// If a hook ended the run, the result has its reply and reason, and the error is nil. If act failed, Run returns its
// error and a complete result, unless a hook of OnRunError gave a reply. A deciding hook at a point that a Host does
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

// work fires OnRunStart and calls the agent.
func (r *run) work(
	ctx context.Context, task Task, act func(ctx context.Context, task Task) (string, error),
) (string, error) {
	start := agent.RunStart{Task: task.Text, Messages: task.Messages, Agent: r.host.name()}
	exit, by, err := r.host.Hooks.OnRunStart.FireBy(ctx, r.hookRun, &start)
	if err != nil {
		return "", err
	}
	if end, ok := exit.(agent.EndTurn); ok {
		return "", r.endTurn(end, by)
	}
	task.Text, task.Messages = start.Task, start.Messages
	return act(ctx, task)
}

// endTurn ends the run.
func (r *run) endTurn(exit agent.EndTurn, by hookkit.By) error {
	return r.stop(exit.Reply, agent.EndRun{Cause: agent.CauseStopRequested, Message: exit.Reason, By: by.Hook})
}

// stop ends the run and returns the error for the framework. If the run has ended already, the first reason counts.
func (r *run) stop(reply string, signal agent.EndRun) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = &Ended{Stop: signal, Reply: reply}
	}
	return r.ended
}

// end fires the points of the end and returns the result.
func (r *run) end(ctx context.Context, task Task, reply string, err error) (agent.AgentResult, error) {
	hooks, ended := r.host.Hooks, r.over()
	if ended != nil {
		err = nil
	} else {
		ended = &Ended{Stop: signalOf(err), Reply: reply}
	}
	result := r.result(task, ended, err)
	if ended.Stop.Cause == agent.CauseError {
		failed := agent.RunError{Err: err.Error(), Where: "Run", Partial: result}
		rescued, problem := isolated(func() (*Ended, error) { return r.rescue(ctx, failed) })
		switch {
		case problem != nil:
			result.Warnings = append(result.Warnings, "OnRunError: "+problem.Error())
		case rescued != nil:
			result = r.result(task, rescued, nil)
			result.Warnings, err = []string{err.Error()}, nil
		}
	}
	more, _ := isolated(func() ([]agent.EndRun, error) {
		signals, bys := hooks.OnStop.FireBy(ctx, r.hookRun, agent.Stopping{Signals: slices.Clone(result.Signals)})
		for i := range signals {
			signals[i].By = bys[i].Hook
		}
		return signals, nil
	})
	result.Signals = append(result.Signals, more...)
	result.Stop = agentspec.Strongest(result.Signals)
	reviewed, failed := isolated(func() (agent.AgentResult, error) {
		left := result
		err := hooks.BeforeRunEnd.Fire(ctx, r.hookRun, &left)
		return left, err
	})
	result.Reply = reviewed.Reply
	if failed != nil { // the result is withheld
		err = errors.Join(err, fmt.Errorf("BeforeRunEnd: %w", failed))
		result.Reply, result.Calls, result.Messages = "", nil, nil
		result.Stop = agent.EndRun{Cause: agent.CauseError, Message: err.Error()}
		result.Signals, result.Err = append(result.Signals, result.Stop), err.Error()
	}
	_ = isolatedErr(func() error {
		hooks.OnRunEnd.Fire(ctx, r.hookRun, result)
		return nil
	})
	return result, err
}

// rescue fires OnRunError. It returns the reply of a hook that replaces the failure, or nil.
func (r *run) rescue(ctx context.Context, failed agent.RunError) (*Ended, error) {
	exit, by, err := r.host.Hooks.OnRunError.FireBy(ctx, r.hookRun, failed)
	if err != nil {
		return nil, err
	}
	switch exit := exit.(type) {
	case nil:
		return nil, nil
	case agent.EndTurn:
		return &Ended{agent.EndRun{Cause: agent.CauseStopRequested, Message: exit.Reason, By: by.Hook}, exit.Reply}, nil
	default:
		return nil, unknown(exit)
	}
}

// signalOf returns the reason of a run that ended with err.
func signalOf(err error) agent.EndRun {
	switch {
	case err == nil:
		return agent.EndRun{Cause: agent.CauseCompleted}
	case errors.Is(err, context.Canceled):
		return agent.EndRun{Cause: agent.CauseUserRequested, Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return agent.EndRun{Cause: agent.CauseTimeLimit, Message: err.Error()}
	}
	return agent.EndRun{Cause: agent.CauseError, Message: err.Error()}
}

func (r *run) result(task Task, ended *Ended, err error) agent.AgentResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := agent.AgentResult{
		Agent: r.host.name(), Task: task.Text, Reply: ended.Reply, Steps: r.steps, ModelCalls: r.steps, Usage: r.usage,
		Calls: slices.Clone(r.calls), Messages: slices.Clone(r.messages), Elapsed: time.Since(r.start), Stop: ended.Stop,
		Signals: []agent.EndRun{ended.Stop}, EndedBy: ended.Stop.By,
	}
	if err != nil {
		result.Err = err.Error()
	}
	return result
}

// isolated calls f in a goroutine of its own, and returns a panic as a *hookkit.PanicError and a runtime.Goexit as
// hookkit.ErrGoexit. A hook that ends its goroutine thus does not end that of the framework.
func isolated[T any](f func() (T, error)) (value T, err error) {
	err = hookkit.ErrGoexit
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = &hookkit.PanicError{Value: v}
			}
		}()
		value, err = f()
	}()
	<-done
	return value, err
}

// isolatedErr is isolated for a function that returns only an error.
func isolatedErr(f func() error) error {
	_, err := isolated(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// counters returns the counters of the run for hooks.
func (r *run) counters() agent.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	answered := 0
	for _, n := range r.tools {
		answered += n
	}
	return agent.Counters{
		Step: r.steps, ModelCalls: r.steps, ToolCalls: answered, Tools: maps.Clone(r.tools), Usage: r.usage,
		Elapsed: time.Since(r.start),
	}
}

// step returns the progress of the run for hooks.
func (r *run) step(number int) agent.Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	return agent.Step{Number: number, Usage: r.usage, Elapsed: time.Since(r.start)}
}

// A conversation has the messages of the last request to the model. The framework stores the conversation itself.
type conversation struct {
	r  *run
	id string
}

func (c conversation) ID() string { return c.id }

func (c conversation) Messages() []agent.Message {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	return slices.Clip(c.r.messages)
}

// A table has the tools of the host for hooks.
type table struct{ h *Host }

func (t table) Lookup(name string) (agent.ToolSchema, bool) {
	for _, schema := range t.h.Tools {
		if schema.Name == name {
			return schema, true
		}
	}
	return agent.ToolSchema{}, false
}

func (t table) Schemas() []agent.ToolSchema { return slices.Clone(t.h.Tools) }

func (t table) Add(agent.Tool) error {
	return errors.New("adapt: a hook cannot add a tool to an agent of another framework")
}
