package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// end is the way out of every run.
func (r *run) end() (agent.AgentResult, error) {
	if r.failed != nil {
		r.rescue()
	}
	var failed error
	if r.failed != nil {
		failed = fmt.Errorf("agent %q: %s: %w", r.agent.name(), r.failed.where, r.failed.err)
		if !r.failedAlready() {
			r.signal(agent.EndRun{Cause: agent.CauseError, Message: failed.Error()})
		}
	}
	for _, s := range r.hooks.OnStop.Fire(r.back, r.id, agent.Stopping{Signals: slices.Clone(r.signals)}) {
		r.signal(s)
		if s.Cause == agent.CauseError && failed == nil {
			failed = fmt.Errorf("agent %q: OnStop: %s", r.agent.name(), orElse(s.Message, "a hook says that the run failed"))
		}
	}
	r.settleReply(failed)
	result := r.result(failed)
	fixed := result
	fixed.Signals = slices.Clone(r.signals)
	if err := r.hooks.BeforeRunEnd.Fire(r.back, r.id, &result); err != nil {
		failed = errors.Join(failed, fmt.Errorf("agent %q: BeforeRunEnd: %w", r.agent.name(), err))
		r.signal(agent.EndRun{Cause: agent.CauseError, Message: "BeforeRunEnd: " + err.Error()})
		fixed.Signals, fixed.Stop, fixed.Err = slices.Clone(r.signals), agent.EndRun{}, failed.Error()
		result = fixed
		result.Reply, result.Calls, result.Messages = "", nil, nil
	}
	r.fix(&result, fixed)
	r.hooks.OnRunEnd.Fire(r.back, r.id, cloned(result))

	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.tools.close()
	result.Usage, result.ModelCalls = r.counts.used()
	if r.stream.read() {
		shown := cloned(result)
		r.stream.event(Event{Kind: EventEnd, Step: result.Steps, End: &shown})
	}
	if failed == nil && r.broken {
		failed = fmt.Errorf("agent %q: %w", r.agent.name(), context.Cause(r.ctx))
	}
	r.err = failed
	return result, failed
}

// rescue asks whether a reply can stand in the place of a failure.
func (r *run) rescue() {
	partial := r.result(r.failed.err)
	fired := agent.RunError{Err: r.failed.err.Error(), Where: r.failed.where, Partial: partial}
	exit, err := r.hooks.OnRunError.Fire(r.back, r.id, fired)
	if err != nil {
		r.warn("OnRunError: %v", err)
		return
	}
	switch exit := exit.(type) {
	case nil:
	case agent.EndTurn:
		r.warn("%s: %v", r.failed.where, r.failed.err)
		r.failed, r.replied = nil, false
		r.signals = slices.DeleteFunc(r.signals, func(s agent.EndRun) bool {
			if s.Cause != agent.CauseError {
				return false
			}
			r.warn("a signal of the failure that a reply stands for: %s", orElse(s.Message, "no message"))
			return true
		})
		r.endTurn(exit)
	default:
		r.warn("OnRunError: %v", illegal(exit))
	}
}

// settleReply gives a run without a reply the one that it ends with, and puts it into the conversation.
func (r *run) settleReply(failed error) {
	switch {
	case failed != nil:
		r.reply, r.replied = "", true
	case r.replied:
	case r.broken:
	case !r.strongest().Cause.Forced() && r.content != "":
		r.reply, r.said = r.content, r.calling
	default:
		r.reply = r.agent.fallback()
	}
	if r.reply != "" && !r.said {
		r.talk.store(agent.Message{Role: agent.RoleAssistant, Content: r.reply})
		r.said = true
	}
}

// result is what there is of the run.
func (r *run) result(failed error) agent.AgentResult {
	usage, modelCalls := r.counts.used()
	r.mu.Lock()
	warnings := slices.Clone(r.warnings)
	r.mu.Unlock()
	result := agent.AgentResult{
		Agent: r.agent.name(), Task: r.task, Reply: r.reply,
		Steps: r.counts.get(&r.counts.steps), ModelCalls: modelCalls, Usage: usage,
		Calls: clonedResults(r.calls), Messages: r.talk.Messages(), Elapsed: r.elapsed(),
		Stop: r.strongest(), Signals: slices.Clone(r.signals),
		EndedBy: r.endedBy, HandedOffTo: r.handed, Warnings: warnings,
	}
	if failed != nil {
		result.Err = failed.Error()
	}
	return result
}

// fix keeps what no hook may rewrite.
func (r *run) fix(result *agent.AgentResult, fixed agent.AgentResult) {
	result.Agent, result.Steps, result.ModelCalls, result.Usage = fixed.Agent, fixed.Steps, fixed.ModelCalls, fixed.Usage
	result.Elapsed, result.Signals, result.EndedBy, result.HandedOffTo = fixed.Elapsed, fixed.Signals, fixed.EndedBy, fixed.HandedOffTo
	result.Stop = r.strongest()
	if result.Err == "" {
		result.Err = fixed.Err
	}
}

func cloned(result agent.AgentResult) agent.AgentResult {
	result.Calls = clonedResults(result.Calls)
	result.Messages = agentspec.CloneMessages(result.Messages)
	result.Signals = slices.Clone(result.Signals)
	result.Warnings = slices.Clone(result.Warnings)
	return result
}
