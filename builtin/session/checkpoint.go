package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Checkpoint saves the progress of a run every few steps, so that the run can be resumed after a crash.
//
// For example, a run of 40 steps is killed in step 23. With the default Every of 5, the checkpoint of step 20 is in the
// store, and the next run of the conversation continues there. Set Resume to do this automatically, or call [Latest]
// and pass its conversation and counters to the next request yourself.
//
// A checkpoint is saved after each successful step whose number is a multiple of Every. It holds the messages
// since the checkpoint before it, so that all of them together are about as long as the conversation. After a
// compaction, a checkpoint holds the whole conversation again, and the earlier ones are deleted. [Latest] joins them.
//
// The counters of the run are saved in every step, before the step and after the reply of the model. A run that resumes
// the same task restores them, so that a program that crashes again and again does not escape the limits of the agent.
// With another task, a run takes over the conversation and counts anew.
//
// Checkpoints belong to the conversation, user and tenant of the run. A run without a named conversation is not saved,
// which is reported, and runs of one conversation must not be active at the same time. Sub-runs are not saved either:
// after a crash their call is made again.
//
// With Resume, a run that starts without messages takes over the conversation of the last checkpoint. It continues the
// step numbers, and deletes the checkpoints when it completes. Its task is left out if the conversation already
// contains it. A run that failed or that a limit stopped keeps its checkpoints, and so does a suspended run. That run
// continues with its own state instead, and its last step is saved when it is complete.
//
// A checkpoint is not redacted, because a resumed run needs the original data. A failure to save is reported and does
// not affect the run. Checkpoint keeps separate state for each run and is safe for concurrent use if its Store is. Bind
// panics if Store is nil or Every is negative.
type Checkpoint struct {
	Store   agent.Store
	Every   limit.Bound[int] // steps between checkpoints; default 5
	Resume  bool
	OnError func(error) // receives failures to save; nil: they are logged

	runs   hookkit.PerRun[checkpointRun]
	failed kit.Reporter
}

const checkpointKind = "checkpoint"

// checkpointRun is the state of one run.
type checkpointRun struct {
	chain  string          // identifies the checkpoints that belong together
	offset int             // steps of earlier runs that the step numbers of this run do not include
	saved  int             // number of the last step that was recorded
	kept   []agent.Message // the conversation in the last checkpoint of the chain; nil: there is none
	task   string
	stored string // the task in the last checkpoint of the chain
}

// Bind adds the hook to its points.
func (c *Checkpoint) Bind(h *agent.Hooks) {
	err := c.Every.Check("Every")
	if c.Store == nil {
		err = errors.New("Store is nil; give it a store, such as session.Dir{Path: ...}")
	}
	kit.MustConfig("session.Checkpoint", err)
	name := hookkit.Named("session.Checkpoint")
	if c.Resume {
		h.OnRunStart.Add(agent.OnRunStartFunc(c.resume), name, hookkit.Priority(hookkit.InputShape))
		h.OnRunEnd.Add(agent.OnRunEndFunc(c.done), name)
	}
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
		c.runs.Do(run, func(r *checkpointRun) { r.task = cmp.Or(r.task, f.Payload.Task) })
		if _, ok := ownerOf(run); !ok && run.Parent() == "" {
			c.report(errors.New("the run is not saved: its conversation has no name; name it in the request"))
		}
	}, name)
	h.BeforeStep.ObserveFunc(func(ctx context.Context, run *agent.Run, _ agent.BeforeStepFired[agent.Step]) {
		c.saveCounters(ctx, run)
	}, name)
	h.AfterLLM.ObserveFunc(func(ctx context.Context, run *agent.Run, _ agent.AfterLLMFired[agent.LLMResponse]) {
		c.saveCounters(ctx, run)
	}, name)
	h.AfterStep.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		c.step(ctx, run, f.Payload)
	}, name)
}

func (c *Checkpoint) report(err error) { c.failed.Report("session.Checkpoint", c.OnError, err) }

// saveCounters saves the counters of a run.
func (c *Checkpoint) saveCounters(ctx context.Context, run *agent.Run) {
	owner, ok := ownerOf(run)
	if !ok {
		return
	}
	saved := savedCounters{Counters: kit.Env(run).Count()}
	c.runs.Do(run, func(r *checkpointRun) { saved.Chain, saved.Task = r.chainFor(run), hashOf(r.task) })
	if err := put(ctx, c.Store, countersKey(owner), saved); err != nil {
		c.report(fmt.Errorf("the counters of step %d are not saved: %w", saved.Counters.Step, err))
	}
}

func (r *checkpointRun) chainFor(run *agent.Run) string {
	r.chain = cmp.Or(r.chain, run.ID())
	return r.chain
}

// step records a step and saves a checkpoint if one is due.
func (c *Checkpoint) step(ctx context.Context, run *agent.Run, s agent.StepResult) {
	owner, ok := ownerOf(run)
	if !ok {
		return
	}
	var (
		part     *checkpointPart
		messages = kit.Messages(run)
		task     string
	)
	c.runs.Do(run, func(r *checkpointRun) {
		n := s.Step.Number
		if n <= r.saved || s.Suspended { // the hook is registered twice, or the step ends later
			return
		}
		if r.saved = n; s.Err == "" && (r.offset+n)%c.Every.Or(5) == 0 {
			part, task = r.part(run, r.offset+n, messages), r.task
		}
	})
	if part == nil {
		return
	}
	part.Identity = owner
	err := put(ctx, c.Store, partKey(owner, part.StepNumber), part)
	if err == nil && part.First {
		err = c.deleteOthers(ctx, owner, part.StepNumber)
	}
	if err != nil {
		c.report(fmt.Errorf("step %d is not saved: %w", part.StepNumber, err))
		return
	}
	c.runs.Do(run, func(r *checkpointRun) { r.kept, r.stored = messages, task })
}

// part returns the checkpoint of a step.
func (r *checkpointRun) part(run *agent.Run, step int, messages []agent.Message) *checkpointPart {
	part := &checkpointPart{Chain: r.chainFor(run), From: len(r.kept), CheckpointState: CheckpointState{
		StepNumber: step, Run: run.ID(), Agent: kit.Agent(run), Time: kit.Env(run).Now(), Counters: kit.Env(run).Count(),
	}}
	if r.kept == nil || !continues(messages, r.kept) {
		part.First, part.From, r.stored = true, 0, ""
	}
	part.Messages = messages[part.From:]
	if r.task != r.stored {
		part.Task = r.task
	}
	return part
}

// continues reports whether a conversation begins with an earlier one, by the texts of the messages.
func continues(messages, earlier []agent.Message) bool {
	return len(messages) >= len(earlier) && slices.EqualFunc(messages[:len(earlier)], earlier,
		func(a, b agent.Message) bool {
			return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.Name == b.Name &&
				len(a.ToolCalls) == len(b.ToolCalls)
		})
}

// deleteOthers deletes all checkpoints of an owner except that of a step.
func (c *Checkpoint) deleteOthers(ctx context.Context, owner agent.Identity, step int) error {
	steps, err := stepsOf(ctx, c.Store, owner)
	for _, n := range steps {
		if n != step {
			err = errors.Join(err, c.Store.Delete(ctx, partKey(owner, n)))
		}
	}
	return err
}

// resume takes over the conversation of the last checkpoint, and the counters if the task is the same.
func (c *Checkpoint) resume(
	ctx context.Context, run *agent.Run, start agent.RunStart,
) (agent.OnRunStartOutcome, error) {
	owner, ok := ownerOf(run)
	if !ok || start.Resumed != "" { // a suspended run has its own state
		return nil, nil
	}
	last, chain, err := latest(ctx, c.Store, owner)
	found := !errors.As(err, new(*agent.NotFound))
	if found && err != nil {
		return nil, err
	}
	counters, err := readCounters(ctx, c.Store, owner)
	if err != nil {
		return nil, err
	}
	switch {
	case counters != nil && (start.Task == "" || counters.Task == hashOf(start.Task)):
		restore(run, counters.Counters)
	case counters == nil && found && (start.Task == "" || last.Task == start.Task):
		restore(run, last.Counters)
	}
	if !found || len(start.Messages) > 0 {
		return nil, nil
	}
	c.runs.Do(run, func(r *checkpointRun) {
		r.offset = max(0, last.StepNumber-kit.Env(run).Count().Step)
		r.chain, r.kept, r.stored = chain, last.Messages, last.Task
		r.task = cmp.Or(start.Task, last.Task)
	})
	hasTask := func(m agent.Message) bool { return m.Role == agent.RoleUser && m.Content == start.Task }
	if slices.ContainsFunc(last.Messages, hasTask) {
		start.Task = ""
	}
	start.Messages = last.Messages
	return agent.ReplaceOnRunStart(start, fmt.Sprintf("continues after step %d", last.StepNumber)), nil
}

func restore(run *agent.Run, c agent.Counters) {
	if env := kit.Env(run); env != nil && env.Restore != nil {
		env.Restore(c)
	}
}

// done deletes the checkpoints of a completed run. It begins with the counters and the first checkpoint: if the program
// is killed meanwhile, the next run must not resume a completed one.
func (c *Checkpoint) done(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	owner, ok := ownerOf(run)
	if !ok || result.Err != "" || result.Forced() {
		return nil
	}
	return errors.Join(c.Store.Delete(ctx, countersKey(owner)), c.deleteOthers(ctx, owner, 0))
}
