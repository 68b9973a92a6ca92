package loop

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// A paused has the questions for which a run waits, and the answers with which it was resumed.
type paused struct {
	from       *snapshot // the state that the run continues; nil: a new run
	resumption           // for the run and those that it has started
	mayWait    bool      // the run can be suspended

	open      *batch            // the suspended calls, until they are decided
	target    *snapshot         // the suspended run of the agent that took over
	suspended bool              // the run waits for open or target
	saved     *snapshot         // the state of the run at its end, if it is suspended
	encoded   *agent.Suspension // saved, for the caller of the outermost run
	response  agent.LLMResponse // the last reply with calls
}

// suspend suspends the run if one of the calls waits for a person or for a run that it has started, and if the run has
// not ended for another reason. It reports whether the run is suspended.
func (b *batch) suspend() bool {
	waits := func(c *call) bool { return c.waitsForPerson() || c.waiting() }
	if b.r.state.over() || !slices.ContainsFunc(b.calls, waits) {
		return false
	}
	b.r.open = b
	b.r.suspend()
	return true
}

// suspend ends the run with a state from which it can continue. The state is made at the end of the run, because a hook
// of OnStop may still end the run for good.
func (r *run) suspend() {
	r.suspended = true
	r.stop(agent.CauseSuspended, nil, "The run waits for the answers of persons")
}

// saveState stores the state of a suspended run in saved and encoded. If the run is not suspended, or has to end for
// another reason, it answers the open calls as not run instead.
func (r *run) saveState() {
	if r.suspended && r.state.failure.err == nil && r.strongest().Cause == agent.CauseSuspended {
		var err error
		if r.saved, err = r.snapshot(); err == nil && r.outer == nil {
			r.encoded, err = r.saved.encode()
		}
		if err == nil {
			return
		}
		r.failWith("Suspension", err, "")
		r.signal(agent.EndRun{Cause: agent.CauseError, Message: r.failed().Error()})
	}
	r.dropState()
}

// suspension returns the state for the caller, or nil if the run is not suspended. Only the caller of the outermost run
// gets the State.
func (r *run) suspension() *agent.Suspension {
	if r.saved != nil && r.outer != nil {
		return cloneSuspension(r.saved.suspension())
	}
	return r.encoded
}

// dropState answers the open calls as not run, because the run cannot be resumed.
func (r *run) dropState() {
	b, target := r.open, r.target
	r.suspended, r.saved, r.encoded, r.open, r.target = false, nil, nil, nil, nil
	if target != nil { // the open calls are those of the agent that took over
		r.conversation.replace(answerOpen(r.conversation.recorded()))
	}
	if b != nil {
		b.close()
	}
}

// snapshot returns the state of the run.
func (r *run) snapshot() (*snapshot, error) {
	position, err := r.random.position()
	if err != nil {
		return nil, err
	}
	c := r.countersForEnv()
	s := &snapshot{
		Version: stateVersion, Generation: 1, Run: r.hookRun.ID(), Agent: r.agent.name(),
		Tenant: r.env.Tenant, User: r.env.User, Conversation: r.conversation.id,
		Seed: r.seed, Random: position, Task: r.task,
		Counters: Resume{c.Step, c.ModelCalls, c.ToolCalls, c.Tools, c.Usage, c.Models, c.Elapsed, c.Rejections},
		Data:     r.env.Data, Compaction: r.compact.take(),
		Messages: r.conversation.recorded(), Response: r.response, Target: r.target,
	}
	if r.typed != nil {
		s.Answer = &r.typed.savedType
	}
	if r.from != nil {
		s.Generation = r.from.Generation + 1
	}
	for kind := range r.reportedBudgets {
		s.Reported = append(s.Reported, string(kind))
	}
	slices.Sort(s.Reported)
	if n := len(r.rewrites.take()); n > 0 {
		r.warn("%d rewrites of the conversation were dropped, because the run is suspended", n)
	}
	if r.open == nil {
		if n := len(r.results); n > 0 {
			s.Results = slices.Clone(r.results[n-1])
		} else { // the agent that took over is suspended once more
			s.Results = r.from.Results
		}
		return s, nil
	}
	for _, call := range r.open.calls {
		s.Calls = append(s.Calls, call.saved(call == r.open.last))
	}
	return s, nil
}

// saved returns the call for the state.
func (c *call) saved(last bool) savedCall {
	saved := savedCall{ID: c.req.ID, Name: c.req.Name, Args: c.req.Args, Fired: c.fired && !c.settled, Last: last,
		Changed: c.changed}
	switch {
	case c.result != nil:
		result := c.result.Clone()
		saved.Result = &result
	case c.question != nil:
		saved.Question, saved.Skip = c.question, c.skip
	case c.to != nil:
		saved.To, saved.Task = c.to.name(), c.task
	default:
		saved.Spawned, saved.Deferred = c.spawned, c.deferred
	}
	return saved
}

// spawns are the runs that one call has started, in its last attempt. If one of them is suspended, the call is called
// again after the resumption, and the runs that had finished must not run again.
type spawns struct {
	mu      sync.Mutex
	earlier []savedSpawn // before the outer run was suspended
	done    []savedSpawn
	waits   bool // one of done is suspended
}

type flightKey struct{}

// flightOf returns the dispatched call of the run that ctx belongs to, or nil outside of a call.
func flightOf(ctx context.Context, r *run) *flight {
	f, _ := ctx.Value(flightKey{}).(*flight)
	if f == nil || f.r != r {
		return nil
	}
	return f
}

// again starts the n-th attempt. Another attempt after a failed one starts its runs anew.
func (s *spawns) again(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = nil
	if n > 1 {
		s.earlier = nil
	}
}

// wait reports whether a run is suspended.
func (s *spawns) wait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waits
}

// take removes and returns the run with a key that was started before the outer run was suspended.
func (s *spawns) take(key string) (savedSpawn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.earlier, func(e savedSpawn) bool { return e.Key == key })
	if at < 0 {
		return savedSpawn{}, false
	}
	found := s.earlier[at]
	s.earlier = slices.Delete(slices.Clone(s.earlier), at, at+1)
	return found, true
}

func (s *spawns) put(made savedSpawn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.waits = append(s.done, made), s.waits || made.State != nil
}

// suspend leaves the call without a result if it is deferred or a run that it started is suspended, and reports whether
// it did.
func (c *call) suspend(started *spawns) bool {
	started.mu.Lock()
	defer started.mu.Unlock()
	if !started.waits && !c.deferred {
		return false
	}
	*c.slot, c.result, c.stopsRun = agent.ToolCallResult{}, nil, false
	c.spawned, c.waits = started.done, true
	return true
}

// errWaits returns the error of an attempt at a call that waits for a run. Hooks of AroundTool see it.
func errWaits() error {
	return &agent.ToolError{
		Kind: agent.FailSuspended, NoRetry: true, Message: "the call waits for an answer; its result comes later",
	}
}

// spawnKey identifies a run that a call starts, also when the call is repeated after a resumption.
func spawnKey(a *Agent, req Request) string {
	return digest(fmt.Appendf(nil, "%q %q %q %d", a.name(), req.ID, req.Task, req.Seed))
}

// spawn starts a run for a call, or continues it.
func (f *flight) spawn(ctx context.Context, outer *run, a *Agent, req Request) (agent.AgentResult, error) {
	if f == nil {
		result, _, err := outer.spawn(ctx, a, req, false, origin{})
		return result, err
	}
	key := spawnKey(a, req)
	earlier, known := f.started.take(key)
	from := origin{mayWait: outer.mayWait}
	switch {
	case !known:
	case earlier.State == nil:
		f.started.put(earlier)
		return earlier.outcome()
	case !outer.continues(earlier.State):
		f.started.put(earlier)
		return agent.AgentResult{
			Agent: a.name(), Task: earlier.State.Task, Stop: agent.EndRun{Cause: agent.CauseSuspended},
			Suspended: earlier.State.suspension(),
		}, ErrSuspended
	default:
		req, from.state = Request{Use: req.Use, Events: req.Events}, earlier.State
	}
	result, waiting, err := outer.spawn(ctx, a, req, false, from)
	if waiting != nil {
		f.started.put(savedSpawn{Key: key, State: waiting})
		return result, ErrSuspended
	}
	made := savedSpawn{Key: key, Result: &result}
	if err != nil {
		made.Err = err.Error()
	}
	f.started.put(made)
	return result, err
}

// outcome returns the result of a run that had finished before the outer run was suspended.
func (s savedSpawn) outcome() (agent.AgentResult, error) {
	if s.Err != "" && s.Result.Err == "" && unfinished(*s.Result) != nil {
		return *s.Result, unfinished(*s.Result)
	}
	if s.Err != "" {
		return *s.Result, &agent.ToolError{Kind: agent.FailTool, Message: s.Err}
	}
	return *s.Result, nil
}
