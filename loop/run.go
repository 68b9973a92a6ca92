package loop

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A run is one run of an agent. Its fields are used by its own goroutine alone, but for what has a lock.
type run struct {
	agent  *Agent
	limits Limits
	outer  *run // that started this one, nil for none
	depth  int
	layer  *layer
	hooks  *agent.Hooks // of the layer
	id     *agent.Run
	env    *agent.Env

	ctx  context.Context // cancelled with the run
	back context.Context // not cancelled, for what fires on the way back

	model    agent.Model
	approver agent.Approver
	clock    agent.Clock
	start    time.Time
	counts   counters
	talk     conversation
	tools    *table
	stream   stream

	task    string
	last    *agent.StepResult // as hooks see it, so nothing that the loop relies on
	content string            // of the last reply
	calling bool              // it had tool calls
	calls   []agent.ToolCallResult
	empties int             // replies in a row
	note    string          // for the next prompt alone
	brief   int             // tokens of the last briefing
	offered map[string]bool // the tools of the last request

	over    bool // no step follows
	broken  bool // because the context was done
	replied bool // reply is the reply
	said    bool // it is in the stored conversation
	reply   string
	signals []agent.EndRun
	endedBy string
	handed  string
	failed  *failure
	passed  map[agent.BudgetKind]bool // budgets that were reported
	err     error                     // what the caller gets

	mu        sync.Mutex
	warnings  []string
	compact   *string         // a compaction was requested, for this reason
	compactor agent.Compactor // nil: there is none
	closed    bool            // the run is over
}

// A failure is what a run fails with, and where.
type failure struct {
	where string
	err   error
}

func newRun(ctx context.Context, a *Agent, req Request, outer *run, emit func(Event)) (*run, error) {
	if err := a.check(outer); err != nil {
		return nil, err
	}
	messages := answerOpen(agentspec.CloneMessages(req.Messages))
	if err := agentspec.CheckPairs(messages, false); err != nil {
		return nil, fmt.Errorf("agent %q: the conversation cannot be continued: %w", a.name(), err)
	}
	tools, err := newTable(a)
	if err != nil {
		return nil, err
	}
	r := &run{
		agent: a, outer: outer, tools: tools, task: req.Task,
		model: a.Model, approver: a.Approver, clock: a.Clock, ctx: ctx,
		passed: make(map[agent.BudgetKind]bool), compactor: a.Compactor,
	}
	tokens := a.Tokens
	var within *layer
	if outer != nil {
		within = outer.layer
		r.depth, r.counts.outer = outer.depth+1, &outer.counts
		if isNil(r.model) {
			r.model = outer.model
		}
		if isNil(r.approver) {
			r.approver = outer.approver
		}
		if isNil(r.clock) {
			r.clock = outer.clock
		}
	}
	if isNil(r.clock) {
		r.clock = agent.SystemClock{}
	}
	if tokens == nil {
		tokens, _ = r.model.(agent.TokenCounter)
	}
	if tokens == nil {
		tokens = estimate{}
	}
	if outer.runs(a) {
		r.layer = within // which has the agent's hooks already
	} else if r.layer, err = a.layerOn(within); err != nil {
		return nil, err
	}
	r.hooks, r.limits = r.layer.hooks, a.Limits.resolved(r.model)
	r.talk.id, r.talk.messages = req.Conversation, messages
	r.counts.steps, r.counts.modelCalls = req.Resume.Steps, req.Resume.ModelCalls
	r.counts.usage, r.counts.rejections = req.Resume.Usage, req.Resume.Rejections
	seed := req.Seed
	for seed == 0 {
		seed = rand.Uint64()
	}
	r.env = &agent.Env{
		Agent: a.name(), Model: handle{r}, Tools: tools, Conversation: &r.talk, Tokens: tokens,
		Random: newSource(seed), Seed: seed, Clock: r.clock,
		Counters: r.counted, Exceeded: r.exceeded, RequestCompaction: r.wantCompaction, UseCompactor: r.useCompactor, Subscribe: r.stream.subscribe,
	}
	if outer != nil {
		r.id = outer.id.Child(r.env)
	} else {
		r.id = agent.NewRun(r.env)
	}
	r.ctx = agentspec.WithRun(context.WithValue(ctx, runKey{}, r), r.id.ID())
	r.back = context.WithoutCancel(r.ctx)
	r.stream.of, r.stream.emit = r, emit
	return r, nil
}

// runKey is what a context knows the run under, for tools that start another one.
type runKey struct{}

// estimate counts tokens where no model does.
type estimate struct{}

func (estimate) CountTokens(messages []agent.Message) int { return agentspec.EstimateTokens(messages) }

// execute runs from OnRunStart to OnRunEnd.
func (r *run) execute() (result agent.AgentResult, err error) {
	r.start = r.clock.Now()
	defer func() { result, err = r.end() }() // deferred, so that a runtime.Goexit does not skip it
	returned := false
	defer func() {
		if !returned {
			r.fail("Run", &Panic{What: "the run"})
		}
	}()
	if err := contain("the loop", r.begin); err != nil {
		r.fail("Run", err)
	}
	returned = true
	return
}

// begin fires OnRunStart and goes on step by step.
func (r *run) begin() error {
	start := agent.RunStart{Task: r.task, Messages: r.talk.Messages(), Agent: r.agent.name()}
	exit, err := r.hooks.OnRunStart.Fire(r.ctx, r.id, &start)
	r.task = start.Task
	if open := agentspec.CheckPairs(start.Messages, false); err == nil && open != nil {
		err = fmt.Errorf("the messages that a hook left cannot be continued: %w", open)
	} else if err == nil {
		r.talk.replace(start.Messages)
	}
	if r.task != "" {
		r.talk.store(agent.Message{Role: agent.RoleUser, Content: r.task})
	}
	if err != nil {
		r.fail("OnRunStart", err)
		return nil
	}
	switch exit := exit.(type) {
	case nil:
	case agent.EndTurn:
		r.endTurn(exit)
		return nil
	default:
		r.fail("OnRunStart", illegal(exit))
		return nil
	}
	for r.boundary(); !r.over; r.boundary() {
		r.step()
	}
	return nil
}

// illegal is the error about an outcome that the loop does not know: newer hooks than the loop.
func illegal(exit any) error {
	return fmt.Errorf("the outcome %T is none that the loop obeys; bring loop and generated code to one version", exit)
}

// where is where the run stands.
func (r *run) where() agent.Step {
	usage, _ := r.counts.used()
	return agent.Step{
		Number: r.counts.get(&r.counts.steps), Max: r.limits.Steps,
		Usage: usage, Elapsed: r.elapsed(), Last: r.last,
	}
}

func clonedStep(s agent.StepResult) agent.StepResult {
	if s.Response != nil {
		response := s.Response.Clone()
		s.Response = &response
	}
	s.Results = clonedResults(s.Results)
	return s
}

func clonedResults(results []agent.ToolCallResult) []agent.ToolCallResult {
	out := slices.Clone(results)
	for i := range out {
		out[i] = out[i].Clone()
	}
	return out
}

func (r *run) elapsed() time.Duration { return r.clock.Now().Sub(r.start) }

// warn records what went wrong without ending the run.
func (r *run) warn(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// stands reports whether hooks are those of the run or of one that started it.
func (r *run) stands(hooks *agent.Hooks) bool {
	for ; r != nil; r = r.outer {
		if r.agent.Hooks == hooks || r.hooks == hooks {
			return true
		}
	}
	return false
}

// runs reports whether the run, or one of those that started it, is one of the agent's.
func (r *run) runs(a *Agent) bool {
	for ; r != nil; r = r.outer {
		if r.agent == a {
			return true
		}
	}
	return false
}

// toolsOff reports whether tools are switched off, here or in a run that started this one.
func (r *run) toolsOff() bool {
	for ; r != nil; r = r.outer {
		if r.agent.ToolsDisabled != nil && r.agent.ToolsDisabled() {
			return true
		}
	}
	return false
}

var errOver = errors.New("the run is over: its model can be called while it runs")

func (r *run) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}
