package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

const (
	snapshotSchema = 2
	snapshotPrompt = 4000
)

// step records a finished step.
func (p *Provenance) step(r *provenRun, e event, s agent.StepResult) {
	made := p.made(s)
	made.Run, made.Identity, made.LLMCallIndices = e.run, e.Identity, []int{}
	start := r.stepStart
	if start.IsZero() {
		start = e.at
	}
	made.Timestamp, made.DurationMS = kit.UnixSeconds(start), kit.Milliseconds(e.at.Sub(start))
	made.ContextBefore, made.Rejected = r.context, r.rejected
	for _, c := range r.calls[r.listed:] {
		if c.StepNum == s.Step.Number {
			made.LLMCallIndices = append(made.LLMCallIndices, c.Index)
		}
	}
	made.Pretty = made.pretty()
	r.steps, r.listed = append(r.steps, made), len(r.calls)
	r.context, r.rejected = "", ""
	p.write(filepath.Join(p.dirOf(e), "steps", fmt.Sprintf("step_%02d.json", made.StepNum)), made)
}

// end writes the trajectory.
func (p *Provenance) end(r *provenRun, e event, result agent.AgentResult) {
	if r.started.IsZero() {
		r.started = e.at.Add(-result.Elapsed)
	}
	ended := TrajectoryRun{
		RunID: e.run, Identity: e.Identity, Parent: e.parent, Agent: p.text(e.agent),
		StartedAt: kit.UnixSeconds(r.started), EndedAt: kit.UnixSeconds(e.at),
		Task: cmp.Or(r.task, p.text(result.Task)), Reply: p.text(result.Reply),
		TerminationReason: p.text(reasonOf(result.Stop)), Error: p.text(result.Err),
		Metadata: r.metadata, Snapshot: r.snapshot, StepCount: len(r.steps), LLMCallCount: result.ModelCalls,
		Steps: append([]TrajectoryStep{}, r.steps...), LLMCalls: append([]ModelCall{}, r.calls...),
	}
	var log []string
	failed := 0
	for _, s := range r.steps {
		log = append(log, s.Pretty)
		if s.failed() {
			failed++
		}
	}
	ended.SessionLogText = strings.Join(log, "\n")
	ended.Summary = fmt.Sprintf("%d steps, %d failed, %s, %.1fs",
		len(r.steps), failed, endWord(result), result.Elapsed.Seconds())
	p.write(filepath.Join(p.dirOf(e), trajectoryFile), ended)
}

// reasonOf returns the cause and message of a stop on one line.
func reasonOf(stop agent.EndRun) string {
	if stop.Message == "" {
		return string(stop.Cause)
	}
	return string(stop.Cause) + ": " + stop.Message
}

// endWord returns one word for the end of a run.
func endWord(result agent.AgentResult) string {
	switch {
	case result.Err != "":
		return "failed"
	case result.Stop.Cause == agent.CauseCompleted:
		return "done"
	}
	return string(result.Stop.Cause)
}

// calls returns the calls of the step and their results.
func (s TrajectoryStep) calls() ([]TrajectoryCall, []TrajectoryResult) {
	if s.ToolCall != nil {
		return []TrajectoryCall{*s.ToolCall}, []TrajectoryResult{*s.ToolResult}
	}
	return s.ToolCalls, s.ToolResults
}

// failed reports whether the step or one of its calls failed.
func (s TrajectoryStep) failed() bool {
	_, results := s.calls()
	return s.Error != "" || slices.ContainsFunc(results, func(r TrajectoryResult) bool { return r.Error != "" })
}

// made converts a step result, without the fields that depend on the run.
func (p *Provenance) made(s agent.StepResult) TrajectoryStep {
	out := TrajectoryStep{StepNum: s.Step.Number, Error: p.text(s.Err), Metadata: map[string]any{}}
	reasoning := ""
	if s.Response != nil {
		out.Reply = p.text(s.Response.Content)
		if reasoning = s.Response.Reasoning; reasoning == "" {
			reasoning = s.Response.Content
		}
		if s.Response.FinishReason != "" {
			out.Metadata["finish_reason"] = p.text(s.Response.FinishReason)
		}
		if u := usageFacts(s.Response.Usage); u != nil {
			out.Metadata["usage"] = u
		}
	}
	reasoning = p.text(reasoning) // once, because each call has it
	for _, r := range s.Results {
		args := p.args(r.Call.Args)
		call := TrajectoryCall{
			Tool: p.text(r.Call.Name), Args: args, Reasoning: reasoning, CallID: p.text(r.Call.ID),
			Metadata: map[string]any{},
		}
		result := TrajectoryResult{
			Tool: call.Tool, Args: args, DurationMS: kit.Milliseconds(r.Elapsed), Data: p.text(r.Output), Error: p.text(r.Err),
			Status: p.text(string(r.Status)), DecidedBy: p.text(r.By),
		}
		for _, text := range r.Context {
			result.Context = append(result.Context, p.text(text))
		}
		out.ToolCalls, out.ToolResults = append(out.ToolCalls, call), append(out.ToolResults, result)
	}
	if len(out.ToolCalls) == 1 {
		out.ToolCall, out.ToolResult = &out.ToolCalls[0], &out.ToolResults[0]
		out.ToolCalls, out.ToolResults = nil, nil
	}
	return out
}

// args redacts and truncates arguments. It returns {} for empty arguments.
func (p *Provenance) args(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	if v, err := jsonx.Decode(args); err == nil && len(args) <= 4<<20 {
		return jsonx.Encode(p.Redact.Value(v, p.shape()))
	}
	return jsonx.Encode(p.text(string(args)))
}

func (p *Provenance) value(m map[string]any) any {
	for _, v := range p.Redact.Value(m, p.shape()).(map[string]any) {
		return v
	}
	return nil
}

// shape bounds the number and depth of values, in case a payload is hostile.
func (p *Provenance) shape() redact.Shape {
	return redact.Shape{Text: p.text, Values: 100_000, Levels: 100}
}

// pretty renders the step on one line.
func (s TrajectoryStep) pretty() string {
	var line strings.Builder
	fmt.Fprintf(&line, "#%d", s.StepNum)
	calls, results := s.calls()
	for i, c := range calls {
		fmt.Fprintf(&line, " %s(%s)", shorten.Line(c.Tool, 60), shorten.Line(string(c.Args), 80))
		if r := results[i]; r.Error != "" {
			line.WriteString(" ✗ " + shorten.Line(r.Error, 100))
		} else {
			line.WriteString(" → " + shorten.Line(r.Data, 100))
		}
	}
	switch {
	case s.Rejected != "":
		line.WriteString(" " + shorten.Line(s.Reply, 100) + " ✗ rejected: " + shorten.Line(s.Rejected, 100))
	case len(calls) == 0 && s.Reply != "":
		line.WriteString(" " + shorten.Line(s.Reply, 100))
	}
	if s.Error != "" {
		line.WriteString(" ✗ " + shorten.Line(s.Error, 100))
	}
	return line.String()
}

func (p *Provenance) snapshot(e event, req agent.LLMRequest) *Snapshot {
	count := kit.Env(e.of).Count()
	s := &Snapshot{
		SchemaVersion: snapshotSchema, Model: p.text(req.Model), Tools: []ToolSnapshot{}, Hooks: []string{},
		Limits: map[string]any{
			"max_steps": count.MaxSteps, "max_tokens": count.MaxTokens, "max_seconds": count.MaxTime.Seconds(),
		},
	}
	isSystem := func(m agent.Message) bool { return m.Role == agent.RoleSystem }
	if at := slices.IndexFunc(req.Messages, isSystem); at >= 0 {
		s.SystemPrompt = cutRedacted(&p.Redact, req.Messages[at].Content, snapshotPrompt)
	}
	for _, tool := range req.Tools {
		s.Tools = append(s.Tools, ToolSnapshot{p.text(tool.Name), p.text(tool.Description)})
	}
	if p.Hooks != nil {
		for _, point := range p.Hooks.Points() {
			for _, h := range slices.Concat(point.Hooks(), point.Observers()) {
				s.Hooks = append(s.Hooks, h.Name)
			}
		}
		slices.Sort(s.Hooks)
		s.Hooks = slices.Compact(s.Hooks)
	}
	return s
}

// usageFacts returns a usage as a map, or nil for a zero usage.
func usageFacts(u agent.Usage) any {
	if u == (agent.Usage{}) {
		return nil
	}
	m := map[string]any{"input_tokens": u.Input, "output_tokens": u.Output}
	if u.CacheRead != 0 || u.CacheWrite != 0 {
		m["cache_read_tokens"], m["cache_write_tokens"] = u.CacheRead, u.CacheWrite
	}
	if u.Cost != 0 {
		m["cost"] = u.Cost
	}
	return m
}
