package record

import (
	"cmp"
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

// Trajectory is a [View] that writes the steps of a run, however the run ends.
//
// For example, after a crash in step 12, the directory of the run contains steps/step_01.json to step_11.json. Each is
// a [TrajectoryStep], written at the end of the step. At the end of the run, trajectory.json with a [TrajectoryRun] is
// added; [ReadTrajectory] reads it. Steps whose answer was rejected are included. The directory is the same as that of
// a [Model] with the same Dir and OneRun.
//
// Texts are redacted and then truncated. A failure to write is reported and does not affect the run.
//
// Trajectory reads OnRunStart, BeforeStep, Briefing, BeforeLLM, CheckDone, AfterStep and OnRunEnd. From a record, it
// knows neither Recorder's calls nor the limits of the Snapshot. Bind panics on an empty Dir, on a negative bound, and
// on Hooks without Snapshot.
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

	watch
	runs   hookkit.PerRun[tracedRun] // of live runs
	read   map[string]*tracedRun     // of runs in a record that have not ended, by their IDs
	failed kit.Reporter
}

// tracedRun is the state of one run.
type tracedRun struct {
	started    time.Time
	task       string
	steps      []TrajectoryStep
	stepNumber int // of the current step
	stepStart  time.Time
	context    string
	rejected   string
	calls      int // model calls before the current step
	snapshot   *Snapshot
	dir        string // of the files, once the run has ended
	metadata   map[string]any
	ended      *TrajectoryRun // set once trajectory.json is written
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

// Bind adds the view to its points.
func (t *Trajectory) Bind(h *agent.Hooks) {
	kit.MustConfig("record.Trajectory", t.MaxChars.Check("MaxChars"))
	if t.Dir == "" {
		kit.MustConfig("record.Trajectory", errors.New("Dir is empty; name the directory to write to"))
	}
	if t.Hooks != nil && !t.Snapshot {
		kit.MustConfig("record.Trajectory", errors.New("Hooks is for the snapshot; set Snapshot, or leave Hooks out"))
	}
	t.bind(h, "record.Trajectory", t)
}

func (t *Trajectory) points() []string {
	return []string{"OnRunStart", "BeforeStep", "Briefing", "BeforeLLM", "CheckDone", "AfterStep", "OnRunEnd"}
}

func (t *Trajectory) see(_ context.Context, e event) {
	switch p := e.final.(type) {
	case agent.RunStart:
		t.of(e, func(r *tracedRun) {
			if r.started.IsZero() {
				r.started, r.task = e.at, t.text(p.Task)
			}
		})
	case agent.Step: // of BeforeStep, and then of Briefing, which may have collected texts
		t.of(e, func(r *tracedRun) {
			switch {
			case r.stepNumber != p.Number:
				r.stepNumber, r.stepStart, r.context, r.rejected = p.Number, e.at, "", ""
			case !t.NoContext:
				r.context = t.text(strings.Join(e.collected, "\n\n"))
			}
		})
	case agent.LLMRequest:
		if t.Snapshot {
			t.of(e, func(r *tracedRun) {
				if r.snapshot == nil {
					r.snapshot = t.snapshot(e, p)
				}
			})
		}
	case agent.DoneRequest:
		t.rejected(e)
	case agent.StepResult:
		t.step(e, p)
	case agent.AgentResult:
		t.end(e, p)
	}
}

// of calls f with the state of the run of an event.
func (t *Trajectory) of(e event, f func(*tracedRun)) {
	if e.of != nil {
		t.runs.Do(e.of, f)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read == nil {
		t.read = make(map[string]*tracedRun)
	}
	if t.read[e.run] == nil {
		t.read[e.run] = new(tracedRun)
	}
	f(t.read[e.run])
	if t.read[e.run].ended != nil {
		delete(t.read, e.run)
	}
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
			t.write(r.dir, r.ended)
		}
	})
}

func (t *Trajectory) rejected(e event) {
	why := e.err
	if exit, ok := e.exit.(agent.RejectDone); ok {
		why = cmp.Or(exit.Feedback, exit.Reason, "rejected")
	}
	if why != "" {
		t.of(e, func(r *tracedRun) { r.rejected = t.text(why) })
	}
}

// step records a finished step.
func (t *Trajectory) step(e event, s agent.StepResult) {
	made := t.made(s)
	made.Run, made.Identity, made.LLMCallIndices = e.run, e.Identity, []int{}
	t.of(e, func(r *tracedRun) {
		start := r.stepStart
		if start.IsZero() {
			start = e.at
		}
		made.Timestamp, made.DurationMS = kit.UnixSeconds(start), kit.Milliseconds(e.at.Sub(start))
		made.ContextBefore, made.Rejected = r.context, r.rejected
		for _, c := range t.calls(e, r.calls) {
			r.calls++
			if c.StepNum == s.Step.Number {
				made.LLMCallIndices = append(made.LLMCallIndices, c.Index)
			}
		}
		made.Pretty = made.pretty()
		r.steps = append(r.steps, made)
		r.context, r.rejected = "", ""
	})
	t.writeStep(runDir(t.Dir, t.OneRun, e), made)
}

// calls returns the recorded model calls of the run of an event, without the first ones.
func (t *Trajectory) calls(e event, without int) []ModelCall {
	if t.Recorder == nil || e.of == nil {
		return nil
	}
	return t.Recorder.callsAfter(e.of, without)
}

// end writes the trajectory.
func (t *Trajectory) end(e event, result agent.AgentResult) {
	t.of(e, func(r *tracedRun) {
		if r.started.IsZero() {
			r.started = e.at.Add(-result.Elapsed)
		}
		ended := &TrajectoryRun{
			RunID: e.run, Identity: e.Identity, Parent: e.parent, Agent: t.text(e.agent),
			StartedAt: kit.UnixSeconds(r.started), EndedAt: kit.UnixSeconds(e.at),
			Task: r.task, Reply: t.text(result.Reply), TerminationReason: t.text(reasonOf(result.Stop)),
			Error:    t.text(result.Err),
			Metadata: r.metadata, Snapshot: r.snapshot, StepCount: len(r.steps), LLMCallCount: result.ModelCalls,
			Steps: append([]TrajectoryStep{}, r.steps...), LLMCalls: append([]ModelCall{}, t.calls(e, 0)...),
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
		r.ended, r.dir = ended, runDir(t.Dir, t.OneRun, e)
		t.write(r.dir, ended)
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
