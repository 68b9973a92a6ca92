package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A run is one run of an agent. Only its own goroutine uses its fields, except for those with a lock.
type run struct {
	agent    *Agent
	limits   Limits
	outer    *run // the run that started this one, or nil
	depth    int
	seed     uint64
	random   *source
	hooks    *agent.Hooks
	ownHooks bool       // hooks are a layer of this run, or of a run that started it
	hookRun  *agent.Run // the run as hooks see it
	env      *agent.Env

	ctx        context.Context // cancelled with the run
	cleanupCtx context.Context // never cancelled, for the points that fire while the run ends

	model    agent.Model
	approver agent.Approver
	clock    agent.Clock
	start    time.Time
	task     string
	parts    []agent.Part // of the task

	conversation *conversation
	tools        *table
	counts       counters
	stream       stream
	crew         crew
	timeouts     timeouts
	spawned      attempts // the runs that this run started

	inbox *inbox // messages of the user, for this run and the agents that take over
	typed *typed // the type of the answer; nil: any text
	lease string // in Agent.Runs, extended until stopExtending is called; "": the run was not taken from there

	stopExtending func()
	paused

	state   state
	signals []agent.EndRun
	err     error // returned to the caller

	last        *agent.StepResult        // for hooks; the loop does not read it, because a hook could change it in place
	results     [][]agent.ToolCallResult // one per call of each step, in memory that no hook can reach
	hookResults [][]agent.ToolCallResult // copies for hooks

	exchange
	reportedBudgets map[agent.BudgetKind]bool

	compact     locked[*string]         // the reason of a requested compaction, or nil
	rewrites    locked[[]rewrite]       // requested by hooks
	compactor   locked[agent.Compactor] // may be nil
	pricer      locked[agent.Pricer]    // may be nil
	unknownCost locked[error]           // a limit on the cost applies, and the price of a call is unknown; else nil
	warned
}

// runKey is the context key of a run. A tool that starts another run finds the current run by it.
type runKey struct{}

// runOf returns the run that called a tool, or nil.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// estimate counts tokens if no model does.
type estimate struct{}

func (estimate) CountTokens(messages []agent.Message) int { return agentspec.EstimateTokens(messages) }

// execute runs from OnRunStart to OnRunEnd.
func (r *run) execute() (result agent.AgentResult, err error) {
	r.start = r.clock.Now()
	r.stopExtending = r.extend()
	r.listen()
	defer func() { result, err = r.end() }() // deferred, because runtime.Goexit must not skip it
	returned := false
	defer func() {
		if !returned {
			r.fail("Run", &PanicError{What: "the run"})
		}
	}()
	if err := recoverAsError("the loop", r.begin); err != nil {
		r.fail("Run", err)
	}
	returned = true
	return
}

// begin fires OnRunStart and runs the steps.
func (r *run) begin() error {
	start := agent.RunStart{
		Task: r.task, Parts: agentspec.CloneParts(r.parts), Messages: r.conversation.Messages(), Agent: r.agent.name(),
		Instructions: r.agent.Instructions, Resumed: r.env.Resumed,
	}
	was := start
	exit, by, err := r.hooks.OnRunStart.FireBy(r.ctx, r.hookRun, &start)
	r.warnOwned("OnRunStart", by, ownedField("Agent", start.Agent, was.Agent),
		ownedField("Resumed", start.Resumed, was.Resumed))
	if r.from != nil {
		r.warnOwned("OnRunStart", by, ownedField("Task", start.Task, was.Task), owned{"Parts", len(start.Parts) > 0},
			owned{"Messages", start.Messages != nil && !sameMessages(start.Messages, was.Messages)})
		start.Task, start.Parts = "", nil
	} else {
		r.task = start.Task
	}
	if err == nil && by != (hookkit.By{}) {
		messages := r.conversation.recorded()
		if r.from == nil {
			messages = answerOpen(start.Messages)
			err = agentspec.CheckPairs(messages, false)
		}
		if err != nil {
			err = fmt.Errorf("a hook returned messages that cannot be continued: %w", err)
		} else {
			r.conversation.restart(start.Instructions, messages)
		}
	}
	if start.Task != "" || len(start.Parts) > 0 {
		r.conversation.store(agent.Message{Role: agent.RoleUser, Content: start.Task, Parts: start.Parts})
	}
	if err != nil {
		r.fail("OnRunStart", err)
		return nil
	}
	if end, ok := exit.(agent.EndTurn); ok {
		r.endTurn(end, by, false)
		return nil
	}
	r.reportKeys() // hooks of OnRunStart may have added tools
	if r.from != nil {
		r.step(r.workAgain)
	}
	for r.checkStop(); !r.state.over(); r.checkStop() {
		r.counts.add(&r.counts.steps, 1)
		r.step(r.work)
	}
	return nil
}

// where returns the progress of the run, for hooks.
func (r *run) where() agent.Step {
	usage, _ := r.counts.used()
	return agent.Step{
		Number: r.counts.get(&r.counts.steps), Max: r.limits.Steps,
		Usage: usage, Elapsed: r.elapsed(), Last: r.last,
	}
}

func clonedResults(results []agent.ToolCallResult) []agent.ToolCallResult {
	out := slices.Clone(results)
	for i := range out {
		out[i] = out[i].Clone()
	}
	return out
}

// elapsed returns the time since the start of the run, and of the interrupted run that it continues.
func (r *run) elapsed() time.Duration {
	took, earlier := r.clock.Now().Sub(r.start), time.Duration(r.counts.earlier.Load())
	return min(took, math.MaxInt64-earlier) + earlier
}

// fires reports whether hooks are those of the run's agent or of the agent of a run that started it.
func (r *run) fires(hooks *agent.Hooks) bool {
	for ; r != nil; r = r.outer {
		if r.agent.Hooks == hooks {
			return true
		}
	}
	return false
}

// toolsOff reports whether tools are switched off for this run or for a run that started it.
func (r *run) toolsOff() bool {
	for ; r != nil; r = r.outer {
		if r.agent.ToolsDisabled != nil && r.agent.ToolsDisabled() {
			return true
		}
	}
	return false
}

var errOver = errors.New("the run has ended; call the model while it runs")
