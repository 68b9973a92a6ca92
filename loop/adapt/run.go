package adapt

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/internal/toolkeys"
)

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
	kept      results
	messages  []agent.Message // of the last request
	warnings  []string
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
	if tools := (table{r.host}); len(tools.Schemas()) > 0 {
		toolkeys.Report(ctx, r.host.Hooks, r.host.name(), tools.Schemas, func(tool string) bool {
			_, ok := tools.Lookup(tool)
			return ok
		}, func(text string) { r.warnings = append(r.warnings, text) })
	}
	task.Text, task.Messages = start.Task, start.Messages
	return act(ctx, task)
}

// endTurn ends the run.
func (r *run) endTurn(exit agent.EndTurn, by hookkit.By) error { return r.stop(turnEnded(exit, by)) }

// turnEnded is the end of a run by the EndTurn of a hook.
func turnEnded(exit agent.EndTurn, by hookkit.By) *Ended {
	stop := agent.EndRun{Cause: agent.CauseStopRequested, Message: exit.Reason, By: by.Hook}
	return &Ended{Stop: stop, Reply: exit.Reply, turn: true}
}

// stop ends the run and returns the error for the framework. If the run has ended already, the first reason counts.
func (r *run) stop(ended *Ended) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = ended
	}
	return r.ended
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
