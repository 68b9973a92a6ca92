package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A Trajectory writes down what a run did, step by step, whatever ended it.
//
// It observes OnRunStart, Briefing, BeforeStep, CheckDone, AfterStep and OnRunEnd, at tier Observability, and with
// Snapshot BeforeLLM. Each run has a directory, the same one as with a [Model] of the same Dir and OneRun. It
// holds steps/step_NN.json, a [TrajectoryStep], as soon as a step is over, and at the end trajectory.json, a
// [TrajectoryRun]; [ReadTrajectory] reads it. Steps whose answer was rejected and the last step are in it.
//
// Everything is redacted and cut before it is kept anywhere. What cannot be written is reported and does not touch
// the run. One Trajectory serves any number of runs at once.
type Trajectory struct {
	Dir       string
	OneRun    bool             // Dir is the directory of the only run
	MaxChars  limit.Bound[int] // of a text; default 200,000
	Redact    redact.Redactor
	NoContext bool // leave out what was in the prompt beside the conversation
	// Recorder is what records the run's model calls, so that steps can say which were theirs; nil: none.
	Recorder *Model
	// Snapshot adds what the run was made of: system prompt, limits, tools, model, and the hooks of Hooks.
	Snapshot bool
	Hooks    *agent.Hooks
	OnError  func(error) // gets what could not be written; nil: it is logged by slog

	once   kit.OnceObserver
	runs   hookkit.PerRun[tracedRun]
	failed kit.Reporter
}

// tracedRun is a trajectory in the making.
type tracedRun struct {
	started   time.Time
	task      string
	steps     []TrajectoryStep
	context   string
	stepStart time.Time
	rejected  string
	snapshot  *Snapshot
	metadata  map[string]any
	ended     *TrajectoryRun // once it was written
}

// A TrajectoryStep is one step. A step with one call has it in ToolCall and ToolResult, and only there.
type TrajectoryStep struct {
	StepNum        int                `json:"step_num"`
	Timestamp      float64            `json:"timestamp"` // seconds since 1970, when it began
	DurationMS     float64            `json:"duration_ms"`
	Pretty         string             `json:"pretty"` // the step in one line
	Reply          string             `json:"reply,omitempty"`
	Rejected       string             `json:"rejected,omitempty"` // why the answer was not accepted
	Error          string             `json:"error,omitempty"`
	ToolCall       *TrajectoryCall    `json:"tool_call"`
	ToolResult     *TrajectoryResult  `json:"tool_result"`
	ToolCalls      []TrajectoryCall   `json:"tool_calls,omitempty"` // of a step with several, in call order
	ToolResults    []TrajectoryResult `json:"tool_results,omitempty"`
	ContextBefore  string             `json:"context_before"` // what Briefing put into the step's prompt
	LLMCallIndices []int              `json:"llm_call_indices"`
	Metadata       map[string]any     `json:"metadata"`
}

// A TrajectoryRun is a trajectory.json.
type TrajectoryRun struct {
	RunID             string           `json:"run_id"`
	Parent            string           `json:"parent,omitempty"` // the run that started it
	Agent             string           `json:"agent,omitempty"`
	StartedAt         float64          `json:"started_at"` // seconds since 1970
	EndedAt           float64          `json:"ended_at"`
	Task              string           `json:"task"`
	Reply             string           `json:"reply"`
	TerminationReason string           `json:"termination_reason"` // the cause of the strongest signal, and its message
	Error             string           `json:"error,omitempty"`
	Summary           string           `json:"summary"`          // "5 steps, 2 failed, done, 12.3s"
	SessionLogText    string           `json:"session_log_text"` // the steps, a line each
	Metadata          map[string]any   `json:"metadata"`
	Snapshot          *Snapshot        `json:"snapshot,omitempty"`
	StepCount         int              `json:"step_count"`
	LLMCallCount      int              `json:"llm_call_count"`
	Steps             []TrajectoryStep `json:"steps"`
	LLMCalls          []ModelCall      `json:"llm_calls"`
}

// Bind adds the observers.
func (t *Trajectory) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Trajectory", t.MaxChars.Check("MaxChars"))
	if t.Dir == "" {
		kit.MustConfig("record.Trajectory", errors.New("Dir is empty; name the directory to write to"))
	}
	as := new(kit.Binding)
	name := hookkit.Named("record.Trajectory")
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
		t.runs.Do(run, func(r *tracedRun) {
			if r.started.IsZero() {
				r.started, r.task = kit.Env(run).Now(), t.text(f.Final.Task)
			}
		})
	}, name)
	h.Briefing.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.BriefingFired[agent.Step]) {
		if !t.NoContext {
			t.runs.Do(run, func(r *tracedRun) { r.context = t.text(strings.Join(f.Collected, "\n\n")) })
		}
	}, name)
	h.BeforeStep.ObserveFunc(func(_ context.Context, run *agent.Run, _ agent.BeforeStepFired[agent.Step]) {
		t.runs.Do(run, func(r *tracedRun) { r.stepStart, r.context, r.rejected = kit.Env(run).Now(), "", "" })
	}, name)
	h.CheckDone.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.CheckDoneFired[agent.DoneRequest]) {
		t.rejected(run, f)
	}, name)

	if t.Snapshot {
		h.BeforeLLM.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.BeforeLLMFired[agent.LLMRequest]) {
			t.runs.Do(run, func(r *tracedRun) {
				if r.snapshot == nil {
					r.snapshot = t.snapshot(run, f.Final)
				}
			})
		}, name)
	}
	h.AfterStep.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		if t.once.First(run, as, "AfterStep", f.Verdict) {
			t.step(run, f.Payload)
		}
	}, name)
	h.OnRunEnd.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunEndFired[agent.AgentResult]) {
		if t.once.First(run, as, "OnRunEnd", f.Verdict) {
			t.end(run, f.Payload)
		}
	}, name, hookkit.Priority(kit.LastPriority))

}

// SetMetadata adds a value to the metadata of a run, which are in trajectory.json. If that is written already, it is
// written anew.
func (t *Trajectory) SetMetadata(run *agent.Run, key string, value any) {
	t.runs.Do(run, func(r *tracedRun) {
		if r.metadata == nil {
			r.metadata = make(map[string]any)
		}
		r.metadata[t.text(key)] = t.value(map[string]any{key: value})
		if r.ended != nil {
			r.ended.Metadata = r.metadata
			t.write(run, r.ended)
		}
	})
}

func (t *Trajectory) rejected(run *agent.Run, f agent.CheckDoneFired[agent.DoneRequest]) {
	why := ""
	switch exit := f.Exit.(type) {
	case agent.RejectDone:
		why = exit.Feedback
		if why == "" {
			why = exit.Reason
		}
		if why == "" {
			why = "rejected"
		}
	default:
		if f.Err != nil {
			why = f.Err.Error()
		}
	}
	if why != "" {
		t.runs.Do(run, func(r *tracedRun) { r.rejected = t.text(why) })
	}
}

// step writes down a step that is over.
func (t *Trajectory) step(run *agent.Run, s agent.StepResult) {
	var indices []int
	if t.Recorder != nil {
		for _, c := range t.Recorder.Calls(run) {
			if c.StepNum == s.Step.Number {
				indices = append(indices, c.Index)
			}
		}
	}
	now := kit.Env(run).Now()
	var made TrajectoryStep
	t.runs.Do(run, func(r *tracedRun) {
		start := r.stepStart
		if start.IsZero() {
			start = now
		}
		made = t.made(s)
		made.Timestamp, made.DurationMS = kit.UnixSeconds(start), kit.Milliseconds(now.Sub(start))
		made.ContextBefore, made.Rejected, made.LLMCallIndices = r.context, r.rejected, append([]int{}, indices...)
		made.Pretty = made.pretty()
		r.steps = append(r.steps, made)
		r.context, r.rejected = "", ""
	})
	t.writeStep(run, made)
}

// end writes the trajectory.
func (t *Trajectory) end(run *agent.Run, result agent.AgentResult) {
	var calls []ModelCall
	if t.Recorder != nil {
		calls = t.Recorder.Calls(run)
	}
	id, parent := kit.Identity(run)
	t.runs.Do(run, func(r *tracedRun) {
		if r.started.IsZero() {
			r.started = kit.Env(run).Now().Add(-result.Elapsed)
		}
		ended := &TrajectoryRun{
			RunID: id, Parent: parent, Agent: t.text(kit.Agent(run)),
			StartedAt: kit.UnixSeconds(r.started), EndedAt: kit.UnixSeconds(kit.Env(run).Now()),
			Task: r.task, Reply: t.text(result.Reply), TerminationReason: t.text(reasonOf(result.Stop)), Error: t.text(result.Err),
			Metadata: r.metadata, Snapshot: r.snapshot, StepCount: len(r.steps), LLMCallCount: result.ModelCalls,
			Steps: append([]TrajectoryStep{}, r.steps...), LLMCalls: append([]ModelCall{}, calls...),
		}
		if ended.Metadata == nil {
			ended.Metadata = map[string]any{}
		}
		if ended.Task == "" {
			ended.Task = t.text(result.Task)
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
		ended.Summary = fmt.Sprintf("%d steps, %d failed, %s, %.1fs", len(r.steps), failed, endWord(result), result.Elapsed.Seconds())
		r.ended = ended
		t.write(run, ended)
	})
}

// reasonOf is why a run stopped, in a line.
func reasonOf(stop agent.EndRun) string {
	if stop.Message == "" {
		return string(stop.Cause)
	}
	return string(stop.Cause) + ": " + stop.Message
}

// endWord says in a word how a run ended.
func endWord(result agent.AgentResult) string {
	switch {
	case result.Err != "":
		return "failed"
	case result.Stop.Cause == agent.CauseCompleted:
		return "done"
	}
	return string(result.Stop.Cause)
}

func (t *Trajectory) text(s string) string {
	return cutRedacted(&t.Redact, s, t.MaxChars.Or(recordChars))
}

func (t *Trajectory) report(err error) { t.failed.Report("record.Trajectory", t.OnError, err) }

// failed reports whether something in the step failed.
func (s TrajectoryStep) failed() bool {
	results := s.ToolResults
	if s.ToolResult != nil {
		results = []TrajectoryResult{*s.ToolResult}
	}
	return s.Error != "" || slices.ContainsFunc(results, func(r TrajectoryResult) bool { return r.Error != "" })
}
