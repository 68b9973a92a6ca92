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

// Trajectory records the steps of a run, however the run ends.
//
// For example, after a crash in step 12, the directory of the run contains steps/step_01.json to step_11.json. Each is
// a [TrajectoryStep], written at the end of the step. At the end of the run, trajectory.json with a [TrajectoryRun] is
// added; [ReadTrajectory] reads it. Steps whose answer was rejected are included. The directory is the same as that of
// a [Model] with the same Dir and OneRun.
//
// Texts are redacted and then truncated. A failure to write is reported and does not affect the run.
//
// Trajectory observes OnRunStart, Briefing, BeforeStep, CheckDone, AfterStep and OnRunEnd, and with Snapshot also
// BeforeLLM. It is safe for concurrent use. Bind panics on an empty Dir and on a negative bound.
type Trajectory struct {
	Dir       string           // required
	OneRun    bool             // Dir is the directory of the only run
	MaxChars  limit.Bound[int] // characters of each text; default 200,000
	Redact    redact.Redactor
	NoContext bool         // omit the briefing of each step
	Recorder  *Model       // records the model calls, so that steps can list theirs; nil: no list
	Snapshot  bool         // add the system prompt, limits, tools, model, and the names of Hooks
	Hooks     *agent.Hooks // hooks to list in the snapshot; nil: no list
	OnError   func(error)  // receives write failures; nil: they are logged

	once   kit.OnceObserver
	runs   hookkit.PerRun[tracedRun]
	failed kit.Reporter
}

// tracedRun is the state of one run.
type tracedRun struct {
	started   time.Time
	task      string
	steps     []TrajectoryStep
	context   string
	stepStart time.Time
	rejected  string
	snapshot  *Snapshot
	metadata  map[string]any
	ended     *TrajectoryRun // set once trajectory.json is written
}

// TrajectoryStep is one step. If the step has exactly one call, it is in ToolCall and ToolResult, otherwise in
// ToolCalls and ToolResults.
type TrajectoryStep struct {
	Run string `json:"run"`
	agent.Identity
	StepNum        int                `json:"step_num"`
	Timestamp      float64            `json:"timestamp"` // start, in seconds since 1970
	DurationMS     float64            `json:"duration_ms"`
	Pretty         string             `json:"pretty"` // the step in one line
	Reply          string             `json:"reply,omitempty"`
	Rejected       string             `json:"rejected,omitempty"` // feedback or reason if the answer was rejected
	Error          string             `json:"error,omitempty"`
	ToolCall       *TrajectoryCall    `json:"tool_call"`
	ToolResult     *TrajectoryResult  `json:"tool_result"`
	ToolCalls      []TrajectoryCall   `json:"tool_calls,omitempty"` // calls of a step with several, in order
	ToolResults    []TrajectoryResult `json:"tool_results,omitempty"`
	ContextBefore  string             `json:"context_before"` // the briefing in the step's prompt
	LLMCallIndices []int              `json:"llm_call_indices"`
	Metadata       map[string]any     `json:"metadata"`
}

// TrajectoryRun is the content of trajectory.json.
type TrajectoryRun struct {
	RunID string `json:"run_id"`
	agent.Identity
	Parent            string           `json:"parent,omitempty"` // the run that started this run
	Agent             string           `json:"agent,omitempty"`
	StartedAt         float64          `json:"started_at"` // seconds since 1970
	EndedAt           float64          `json:"ended_at"`
	Task              string           `json:"task"`
	Reply             string           `json:"reply"`
	TerminationReason string           `json:"termination_reason"` // cause and message of the strongest signal
	Error             string           `json:"error,omitempty"`
	Summary           string           `json:"summary"`          // for example "5 steps, 2 failed, done, 12.3s"
	SessionLogText    string           `json:"session_log_text"` // the steps, one line each
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

// SetMetadata adds a value to the metadata of a run. If trajectory.json is already written, it is replaced.
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

// step records a finished step.
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
		made.Run, made.Identity = run.ID(), kit.Owner(run)
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
			RunID: id, Identity: kit.Owner(run), Parent: parent, Agent: t.text(kit.Agent(run)),
			StartedAt: kit.UnixSeconds(r.started), EndedAt: kit.UnixSeconds(kit.Env(run).Now()),
			Task: r.task, Reply: t.text(result.Reply), TerminationReason: t.text(reasonOf(result.Stop)),
			Error:    t.text(result.Err),
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
		ended.Summary = fmt.Sprintf("%d steps, %d failed, %s, %.1fs",
			len(r.steps), failed, endWord(result), result.Elapsed.Seconds())
		r.ended = ended
		t.write(run, ended)
	})
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

func (t *Trajectory) text(s string) string {
	return cutRedacted(&t.Redact, s, t.MaxChars.Or(recordChars))
}

func (t *Trajectory) report(err error) { t.failed.Report("record.Trajectory", t.OnError, err) }

// failed reports whether the step or one of its calls failed.
func (s TrajectoryStep) failed() bool {
	results := s.ToolResults
	if s.ToolResult != nil {
		results = []TrajectoryResult{*s.ToolResult}
	}
	return s.Error != "" || slices.ContainsFunc(results, func(r TrajectoryResult) bool { return r.Error != "" })
}
