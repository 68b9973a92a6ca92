package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// TrajectoryCall is a tool call.
type TrajectoryCall struct {
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Reasoning string          `json:"reasoning"` // text of the model in the same reply
	CallID    string          `json:"call_id"`
	Metadata  map[string]any  `json:"metadata"`
}

// TrajectoryResult is the result of a tool call.
type TrajectoryResult struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	DurationMS float64         `json:"duration_ms"`
	Data       string          `json:"data,omitempty"`    // output for the model
	Context    []string        `json:"context,omitempty"` // texts of hooks for the model, after Data
	Error      string          `json:"error,omitempty"`
	Status     string          `json:"status,omitempty"`     // succeeded, failed, refused and so on
	DecidedBy  string          `json:"decided_by,omitempty"` // the hook that answered or refused the call
}

// Snapshot describes the configuration of a run.
type Snapshot struct {
	SchemaVersion int            `json:"schema_version"` // 2
	SystemPrompt  string         `json:"system_prompt"`  // truncated to 4000 characters
	Limits        map[string]any `json:"limits"`
	Tools         []ToolSnapshot `json:"tools"`
	Hooks         []string       `json:"hooks"` // sorted names, without duplicates
	Model         string         `json:"model"`
}

// ToolSnapshot is a tool as offered to the model.
type ToolSnapshot struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

const (
	snapshotSchema = 2
	snapshotPrompt = 4000
)

// made converts a step result, without the fields that depend on the run.
func (t *Trajectory) made(s agent.StepResult) TrajectoryStep {
	out := TrajectoryStep{StepNum: s.Step.Number, Error: t.text(s.Err), Metadata: map[string]any{}}
	reasoning := ""
	if s.Response != nil {
		out.Reply = t.text(s.Response.Content)
		if reasoning = s.Response.Reasoning; reasoning == "" {
			reasoning = s.Response.Content
		}
		if s.Response.FinishReason != "" {
			out.Metadata["finish_reason"] = t.text(s.Response.FinishReason)
		}
		if u := usageFacts(s.Response.Usage); u != nil {
			out.Metadata["usage"] = u
		}
	}
	reasoning = t.text(reasoning) // once, because each call has it
	for _, r := range s.Results {
		args := t.args(r.Call.Args)
		call := TrajectoryCall{
			Tool: t.text(r.Call.Name), Args: args, Reasoning: reasoning, CallID: t.text(r.Call.ID),
			Metadata: map[string]any{},
		}
		result := TrajectoryResult{
			Tool: call.Tool, Args: args, DurationMS: kit.Milliseconds(r.Elapsed), Data: t.text(r.Output), Error: t.text(r.Err),
			Status: t.text(string(r.Status)), DecidedBy: t.text(r.By),
		}
		for _, text := range r.Context {
			result.Context = append(result.Context, t.text(text))
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
func (t *Trajectory) args(args json.RawMessage) json.RawMessage {
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	if v, err := jsonx.Decode(args); err == nil && len(args) <= 4<<20 {
		return jsonx.Encode(t.Redact.Value(v, t.shape()))
	}
	return jsonx.Encode(t.text(string(args)))
}

func (t *Trajectory) value(m map[string]any) any {
	for _, v := range t.Redact.Value(m, t.shape()).(map[string]any) {
		return v
	}
	return nil
}

// shape bounds the number and depth of values, in case a payload is hostile.
func (t *Trajectory) shape() redact.Shape {
	return redact.Shape{Text: t.text, Values: 100_000, Levels: 100}
}

// pretty renders the step on one line.
func (s TrajectoryStep) pretty() string {
	var line strings.Builder
	fmt.Fprintf(&line, "#%d", s.StepNum)
	calls, results := s.ToolCalls, s.ToolResults
	if s.ToolCall != nil {
		calls, results = []TrajectoryCall{*s.ToolCall}, []TrajectoryResult{*s.ToolResult}
	}
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

func (t *Trajectory) snapshot(e event, req agent.LLMRequest) *Snapshot {
	count := kit.Env(e.of).Count()
	s := &Snapshot{
		SchemaVersion: snapshotSchema, Model: t.text(req.Model), Tools: []ToolSnapshot{}, Hooks: []string{},
		Limits: map[string]any{
			"max_steps": count.MaxSteps, "max_tokens": count.MaxTokens, "max_seconds": count.MaxTime.Seconds(),
		},
	}
	isSystem := func(m agent.Message) bool { return m.Role == agent.RoleSystem }
	if at := slices.IndexFunc(req.Messages, isSystem); at >= 0 {
		s.SystemPrompt = cutRedacted(&t.Redact, req.Messages[at].Content, snapshotPrompt)
	}
	for _, tool := range req.Tools {
		s.Tools = append(s.Tools, ToolSnapshot{t.text(tool.Name), t.text(tool.Description)})
	}
	if t.Hooks != nil {
		for _, p := range t.Hooks.Points() {
			for _, h := range slices.Concat(p.Hooks(), p.Observers()) {
				s.Hooks = append(s.Hooks, h.Name)
			}
		}
		slices.Sort(s.Hooks)
		s.Hooks = slices.Compact(s.Hooks)
	}
	return s
}

func (t *Trajectory) writeStep(dir string, s TrajectoryStep) {
	data, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		name := fmt.Sprintf("step_%02d.json", s.StepNum)
		err = atomicfile.Write(filepath.Join(dir, "steps", name), data)
	}
	t.report(err)
}

func (t *Trajectory) write(dir string, r *TrajectoryRun) {
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, trajectoryFile), data)
	}
	t.report(err)
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

const trajectoryFile = "trajectory.json"

// ReadTrajectory reads the trajectory in the directory of a run. It returns an error if the file is missing or invalid.
func ReadTrajectory(dir string) (TrajectoryRun, error) {
	data, err := os.ReadFile(filepath.Join(dir, trajectoryFile))
	if err != nil {
		return TrajectoryRun{}, fmt.Errorf("the trajectory cannot be read: %w", err)
	}
	var r TrajectoryRun
	if err = json.Unmarshal(data, &r); err == nil && r.RunID == "" {
		err = errors.New("it has no run_id")
	}
	if err != nil {
		return TrajectoryRun{}, fmt.Errorf("%s is not a trajectory: %w", filepath.Join(dir, trajectoryFile), err)
	}
	return r, nil
}
