package claudecode

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// OnRunStart runs the scripts of SessionStart and UserPromptSubmit. In the run of a sub-agent it runs those of
// SubagentStart.
func (h *Hooks) OnRunStart(ctx context.Context, run *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
	if run != nil && run.Parent() != "" {
		v, err := h.fire(ctx, run, occasion{event: "SubagentStart", subject: start.Agent, fields: map[string]any{
			"agent_id": run.ID(), "agent_type": start.Agent,
		}})
		h.keep(run, v)
		return nil, err
	}
	source := "startup"
	if len(start.Messages) > 0 {
		source = "resume"
	}
	fields := map[string]any{"source": source}
	if start.Agent != "" {
		fields["agent_type"] = start.Agent
	}
	begin, err := h.fire(ctx, run, occasion{event: "SessionStart", subject: source, fields: fields})
	if err != nil {
		return nil, err
	}
	h.keep(run, begin)
	if begin.stops {
		return agent.EndTurn{Reply: begin.stopReason, Reason: "a SessionStart hook stopped the run"}, nil
	}
	if start.Resumed != "" { // the prompt was submitted before the run was suspended
		return nil, nil
	}
	task := start.Task
	if begin.initialPrompt != "" && task == "" {
		task = begin.initialPrompt
	}
	v, err := h.fire(ctx, run, occasion{event: "UserPromptSubmit", fields: map[string]any{"prompt": task}})
	if err != nil {
		return nil, err
	}
	switch {
	case v.blocks:
		return agent.EndTurn{Reply: v.reason, Reason: "a UserPromptSubmit hook blocked the prompt"}, nil
	case v.stops:
		return agent.EndTurn{Reply: v.stopReason, Reason: "a UserPromptSubmit hook stopped the run"}, nil
	}
	h.keep(run, v)
	if task != start.Task {
		start.Task = task
		return agent.ReplaceOnRunStart(start, "initialUserMessage"), nil
	}
	return nil, nil
}

// keep keeps the texts of scripts for every prompt of the run.
func (h *Hooks) keep(run *agent.Run, v verdict) {
	if len(v.context) > 0 {
		h.runs.Do(run, func(s *state) { s.lasting = append(s.lasting, v.context...) })
	}
}

// Briefing contributes the texts of scripts.
func (h *Hooks) Briefing(_ context.Context, run *agent.Run, at agent.Step) (texts []string, err error) {
	h.runs.Do(run, func(s *state) {
		texts = slices.Concat(s.lasting, s.next.Take(at.Number))
	})
	return texts, nil
}

// stop stops the run at the next boundary.
func (h *Hooks) stop(run *agent.Run, reason string) {
	h.runs.Do(run, func(s *state) {
		if !s.stops {
			s.stops, s.stopped = true, reason
		}
	})
}

// ShouldStop stops a run for which a script has said so.
func (h *Hooks) ShouldStop(_ context.Context, run *agent.Run, _ agent.Step) (signals []agent.EndRun, err error) {
	h.runs.Do(run, func(s *state) {
		if s.stops {
			signals = []agent.EndRun{{Cause: agent.CauseStopRequested, Message: s.stopped}}
		}
	})
	return signals, nil
}

// BeforeCompact runs the scripts of PreCompact.
func (h *Hooks) BeforeCompact(
	ctx context.Context, run *agent.Run, c agent.Compaction,
) (agent.BeforeCompactOutcome, error) {
	v, err := h.fire(ctx, run, occasion{event: "PreCompact", subject: trigger(c.Reason), fields: map[string]any{
		"trigger": trigger(c.Reason), "custom_instructions": nil,
	}})
	if err == nil && v.blocks {
		return agent.SkipCompaction{Reason: v.reason}, nil
	}
	return nil, err
}

func trigger(reason agent.CompactionReason) string {
	if reason == agent.CompactRequested {
		return "manual"
	}
	return "auto"
}

// AfterCompact runs the scripts of PostCompact, and those of SessionStart with the source compact.
func (h *Hooks) AfterCompact(
	ctx context.Context, run *agent.Run, c agent.Compacted,
) (agent.AfterCompactOutcome, error) {
	if c.Err != "" {
		return nil, nil
	}
	begin, err := h.fire(ctx, run, occasion{event: "SessionStart", subject: "compact", fields: map[string]any{
		"source": "compact",
	}})
	h.keep(run, begin)
	_, after := h.fire(ctx, run, occasion{event: "PostCompact", subject: trigger(c.Reason), fields: map[string]any{
		"trigger": trigger(c.Reason), "compact_summary": c.Summary,
	}})
	return nil, errors.Join(err, after)
}

// OnRunError runs the scripts of StopFailure after a failed call of the model.
func (h *Hooks) OnRunError(ctx context.Context, run *agent.Run, e agent.RunError) (agent.OnRunErrorOutcome, error) {
	if e.Where != "LLM" {
		return nil, nil
	}
	kind := "unknown"
	if status := httpStatus.FindStringSubmatch(e.Err); status != nil {
		kind = cmp.Or(kinds[status[1]], kinds[status[1][:1]])
	}
	_, err := h.fire(ctx, run, occasion{event: "StopFailure", subject: kind, fields: map[string]any{
		"error": kind, "error_details": e.Err, "last_assistant_message": e.Partial.Reply,
	}})
	return nil, err
}

// httpStatus finds the status of HTTP in the text of an error from a model client.
var httpStatus = regexp.MustCompile(`\bstatus ([45]\d\d)\b`)

// kinds are the kinds of StopFailure by status, or else by its first digit.
var kinds = map[string]string{
	"401": "authentication_failed", "402": "billing_error", "403": "authentication_failed", "404": "model_not_found",
	"429": "rate_limit", "503": "overloaded", "529": "overloaded", "4": "invalid_request", "5": "server_error",
}

// OnRunEnd runs the scripts of SessionEnd.
func (h *Hooks) OnRunEnd(ctx context.Context, run *agent.Run, _ agent.AgentResult) error {
	if run != nil && run.Parent() != "" {
		return nil
	}
	_, err := h.fire(ctx, run, occasion{event: "SessionEnd", subject: "other", fields: map[string]any{"reason": "other"}})
	return err
}

// CheckDone runs the scripts of Stop, or in the run of a sub-agent those of SubagentStop.
func (h *Hooks) CheckDone(ctx context.Context, run *agent.Run, done agent.DoneRequest) (agent.CheckDoneOutcome, error) {
	o := occasion{event: "Stop", fields: map[string]any{
		"last_assistant_message": done.Answer, "background_tasks": []any{}, "session_crons": []any{},
	}}
	if run != nil && run.Parent() != "" {
		o.event, o.subject = "SubagentStop", kit.Agent(run)
		o.fields["agent_transcript_path"] = h.transcript(run, o)
	}
	h.runs.Do(run, func(s *state) { o.fields["stop_hook_active"] = s.rejected })
	v, err := h.fire(ctx, run, o)
	if err != nil || v.stops || !v.blocks && len(v.context) == 0 {
		return nil, err
	}
	h.runs.Do(run, func(s *state) { s.rejected = true })
	var texts []string
	if v.reason != "" {
		texts = append(texts, o.event+" hook feedback:\n"+v.reason)
	}
	texts = append(texts, v.context...)
	if len(texts) == 0 {
		texts = []string{"A " + o.event + " hook refused to stop. Continue."}
	}
	return agent.RejectDone{Feedback: strings.Join(texts, "\n\n"), Reason: "a " + o.event + " hook"}, nil
}
