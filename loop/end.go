package loop

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// end finishes every run: it fires OnRunError, OnStop, BeforeRunEnd and OnRunEnd, and builds the result. Each part is
// deferred, so that it runs even if a hook of the part before has ended the goroutine with runtime.Goexit.
func (r *run) end() (result agent.AgentResult, err error) {
	e := &ending{r: r}
	defer func() { result, err = e.close() }()
	defer e.announce()
	defer e.review()
	defer e.stop()
	r.spawned.end()
	if !r.suspended {
		r.dropState()
	}
	if r.state.failure.err != nil {
		r.rescue()
	}
	return result, err
}

// An ending is the result of a run while it is being built.
type ending struct {
	r             *run
	result, fixed agent.AgentResult // fixed: before BeforeRunEnd
	by            hookkit.By        // the hook that decided at BeforeRunEnd
	withheld      bool              // a hook of BeforeRunEnd failed
	err           error             // for the caller
}

// stop fires OnStop.
func (e *ending) stop() {
	r := e.r
	if f := r.state.failure; f.err != nil && !r.signalled(agent.CauseError) {
		r.signal(agent.EndRun{Cause: agent.CauseError, Message: r.failed().Error(), By: f.by})
	}
	returned := false
	defer func() {
		if !returned {
			r.warn("OnStop: %v", &PanicError{What: "a hook"})
		}
	}()
	signals, bys := r.hooks.OnStop.FireBy(r.cleanupCtx, r.hookRun, agent.Stopping{Signals: slices.Clone(r.signals)})
	returned = true
	for i, s := range signals {
		s.By = bys[i].Hook
		r.signal(s)
		if s.Cause == agent.CauseError {
			r.state.move(move{
				to: failed, failure: failure{"OnStop", errors.New(orElse(s.Message, "a hook says that the run failed")), s.By},
			})
		}
	}
	r.saveState()
}

// review builds the result and fires BeforeRunEnd.
func (e *ending) review() {
	r := e.r
	e.err = r.failed()
	r.chooseReply()
	e.result = r.result(e.err)
	if r.saved != nil {
		e.result.Suspended = r.saved.suspension()
	}
	e.fixed = e.result
	e.fixed.Suspended = cloneSuspension(e.result.Suspended)
	e.fixed.Signals = slices.Clone(r.signals)
	err := error(&PanicError{What: "a hook"})
	defer func() { e.reviewed(usableError(err)) }()
	e.by, err = r.hooks.BeforeRunEnd.FireBy(r.cleanupCtx, r.hookRun, &e.result)
}

// reviewed withholds the result if BeforeRunEnd failed, and restores the fields that only the loop may set.
func (e *ending) reviewed(err error) {
	r := e.r
	if err != nil {
		e.withheld = true
		e.err = errors.Join(e.err, fmt.Errorf("agent %q: BeforeRunEnd: %w", r.agent.name(), err))
		r.signal(agent.EndRun{Cause: agent.CauseError, Message: "BeforeRunEnd: " + err.Error(), By: e.by.Hook})
		e.fixed.Signals, e.fixed.Stop, e.fixed.Err = slices.Clone(r.signals), agent.EndRun{}, e.err.Error()
		e.fixed.Suspended = nil
		e.result = e.fixed
		e.result.Reply, e.result.Calls, e.result.Messages = "", nil, nil
		r.dropState()
	}
	r.fix(&e.result, e.fixed, e.by)
}

// announce fires OnRunEnd.
func (e *ending) announce() { e.r.hooks.OnRunEnd.Fire(e.r.cleanupCtx, e.r.hookRun, e.result) }

// close releases the resources of the run, and returns the result for the caller.
func (e *ending) close() (agent.AgentResult, error) {
	r, result := e.r, e.result
	switch {
	case e.withheld:
	case e.by != (hookkit.By{}):
		result = cloned(result)
	default: // the caller's result is in memory that no hook can reach
		result.Calls, result.Messages = slices.Concat(r.results...), r.conversation.recorded()
		result.Signals, result.Warnings = slices.Clone(result.Signals), slices.Clone(result.Warnings)
	}

	result.Suspended = r.suspension()
	r.stopExtending()
	unstored := r.keepState(&result)
	r.state.move(move{to: closed})
	r.tools.close()
	r.crew.close()
	r.timeouts.close()
	counts := r.countersForEnv()
	result.Usage, result.ModelCalls, result.UsageByModel = counts.Usage, counts.ModelCalls, maps.Clone(counts.Models)
	result.Unread = r.unread()
	if r.stream.read() {
		if result.Suspended != nil {
			r.stream.event(Event{Kind: EventSuspended, Step: result.Steps, Suspended: cloneSuspension(r.saved.suspension())})
		}
		final := cloned(result)
		r.stream.event(Event{Kind: EventEnd, Step: result.Steps, End: &final})
	}
	switch cause := r.state.cause; {
	case unstored != nil:
		e.err = errors.Join(unstored, e.err)
	case e.err != nil:
	case cause == nil:
		e.err = unfinished(result)
	case errors.Is(cause, r.ctx.Err()):
		e.err = fmt.Errorf("agent %q: %w", r.agent.name(), cause)
	default:
		e.err = fmt.Errorf("agent %q: %w: %w", r.agent.name(), r.ctx.Err(), cause)
	}
	r.err = ofStarted(e.err)
	return result, r.err
}

// failed returns the error of a failed run, or nil.
func (r *run) failed() error {
	f := r.state.failure
	if f.err == nil {
		return nil
	}
	return fmt.Errorf("agent %q: %s: %w", r.agent.name(), f.where, f.err)
}

// hookOf returns the name of the hook that failed with err, or "" if err is not the failure of a hook.
func hookOf(err error) string {
	if f := find[hookkit.Failure](err); f != nil {
		return f.Hook
	}
	return ""
}

// rescue fires OnRunError, whose hooks may provide a reply that replaces the failure.
func (r *run) rescue() {
	f := r.state.failure
	fired := agent.RunError{Err: f.err.Error(), Where: f.where, Partial: r.result(f.err)}
	exit, by, err := r.hooks.OnRunError.FireBy(r.cleanupCtx, r.hookRun, fired)
	if err != nil {
		r.warn("OnRunError: %v", err) // without an exit
	}
	if end, ok := exit.(agent.EndTurn); ok {
		r.warn("%s: %v", f.where, f.err)
		r.signals = slices.DeleteFunc(r.signals, func(s agent.EndRun) bool {
			if s.Cause != agent.CauseError {
				return false
			}
			r.warn("OnRunError: a reply replaced the failure; dropped its signal: %s", orElse(s.Message, "no message"))
			return true
		})
		r.endTurn(end, by, true)
	}
}

// chooseReply selects the final reply of the run and stores it in the conversation.
func (r *run) chooseReply() {
	final := r.state.reply
	switch s := &r.state; {
	case s.failure.err != nil:
		final.text, final.stored = "", false
	case r.suspended:
		final = reply{}
	case s.hasReply:
	case s.cause != nil:
		r.noteInterruption(s.cause)
	case s.interim.text != "" && r.mayEndWith(s.interim):
		final = s.interim
	case r.strongest().Cause != agent.CauseCompleted:
		if final.text = orElse(r.agent.Fallback, DefaultFallback); r.strongest().Cause == agent.CauseUserRequested {
			r.noteInterruption(r.strongest().Message)
			final.stored = true // the conversation has the note instead
		}
	}
	if final.text != "" && !final.stored {
		r.conversation.store(agent.Message{Role: agent.RoleAssistant, Content: final.text})
		final.stored = true
	}
	r.state.move(move{to: settled, reply: final})
}

// noteInterruption ends the conversation of a run that a user has stopped with a message that says so. An agent that
// took over may have written it already.
func (r *run) noteInterruption(why any) {
	messages := r.conversation.Messages()
	if n := len(messages); n > 0 && messages[n-1].Name == agent.InterruptionName {
		return
	}
	r.conversation.store(agent.Message{
		Role: agent.RoleUser, Name: agent.InterruptionName,
		Content: fmt.Sprintf("[The task was interrupted before it was done: %v]", why),
	})
}

// mayEndWith reports whether the last text of the model can serve as the reply of a run without a reply.
func (r *run) mayEndWith(interim reply) bool {
	switch cause := r.strongest().Cause; {
	case interim.rejected:
		return cause == agent.CauseRetryLimit
	case interim.cut:
		return true
	default:
		return !cause.Forced()
	}
}

// result builds the result of the run from its current state.
func (r *run) result(failed error) agent.AgentResult {
	counts := r.countersForEnv()
	result := agent.AgentResult{
		Agent: r.agent.name(), Task: r.task, Reply: r.state.reply.text,
		Steps: counts.Step, ModelCalls: counts.ModelCalls, Usage: counts.Usage, UsageByModel: maps.Clone(counts.Models),
		Calls: slices.Concat(r.hookResults...), Messages: r.conversation.Messages(), Elapsed: counts.Elapsed,
		Stop: r.strongest(), Signals: slices.Clone(r.signals),
		EndedBy: r.state.reply.by, FinishReason: r.finishReason, HandedOffTo: r.state.handedOffTo, Warnings: r.warnings(),
	}
	if failed != nil {
		result.Err = failed.Error()
	}
	return result
}

// fix restores the fields of a result that only the loop may set: all that are not in freeInResult. So a new field of
// the result belongs to the loop.
func (r *run) fix(result *agent.AgentResult, fixed agent.AgentResult, by hookkit.By) {
	fixed.Stop = r.strongest()
	if by == (hookkit.By{}) {
		result.Stop, result.Signals, result.Suspended = fixed.Stop, fixed.Signals, fixed.Suspended // which no hook has
		return
	}
	var all []owned
	left, own := reflect.ValueOf(result).Elem(), reflect.ValueOf(fixed)
	for field, value := range own.Fields() {
		at := left.FieldByIndex(field.Index)
		if slices.Contains(freeInResult, field.Name) {
			continue
		}
		all = append(all, owned{field.Name, !at.IsZero() && !sameJSON(at.Interface(), value.Interface())})
		at.Set(value)
	}
	if failed := fixed.Err != ""; failed != (result.Err != "") { // a hook may change its text
		all = append(all, owned{"Err", true})
		result.Err = fixed.Err
	}
	if undone := r.warnOwned("BeforeRunEnd", by, all...); undone != "" {
		result.Warnings = append(slices.Clip(result.Warnings), undone)
	}
}

// freeInResult are the fields of a result that a hook of BeforeRunEnd may set.
var freeInResult = []string{"Task", "Reply", "Calls", "Messages", "Warnings", "Err"}
