package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Eval grades every run when it is over, for example for a regression suite of an agent.
//
// Collectors run first; they return artifacts of the run, such as the files it wrote. Then the evaluators grade the
// run, in order. Only they see Expected. A failing collector adds a result named "collector:" and its name, with the
// label error. If an evaluator or collector panics, that is a result with the label error, not a failure of the run.
//
// Eval observes OnRunStart, AfterStep and OnRunEnd after all other observers, so it grades every run, however it ended.
// A run that was suspended is graded once, when it is over; Steps and Calls are those since it was last resumed.
// It keeps the steps of each run, and no reports. It is safe for concurrent use if its evaluators and
// collectors are. It must not be copied.
//
// Bind panics if Evaluators is empty, and if an evaluator or collector has no name or no function.
type Eval struct {
	Evaluators []Evaluator // required
	Collectors []Collector
	Judge      agent.Model      // for evaluators with NeedsJudge; nil: they are skipped
	Expected   any              // the expected answer, passed to the evaluators
	Verbose    bool             // log each result in addition to the summary
	OnReport   func(EvalReport) // receives each report, concurrently; nil: its summary is logged

	steps hookkit.PerRun[[]agent.StepResult]
	task  hookkit.PerRun[string]
}

// An Evaluator grades one aspect of a run.
type Evaluator struct {
	Name       string
	NeedsJudge bool
	// Grade returns the grade as one of: a score from 0 to 1 (float64 or int), a bool, a label (string), metrics
	// (map[string]float64), or an [EvalResult].
	Grade func(ctx context.Context, e EvalContext) (any, error)
}

// A Collector returns artifacts of a run for the evaluators.
type Collector struct {
	Name    string
	Collect func(ctx context.Context, e EvalContext) (map[string]any, error)
}

// EvalContext describes a finished run. It shares memory with the records of the run and must not be modified.
type EvalContext struct {
	Task         string
	FinalOutput  string
	Steps        []agent.StepResult
	Result       agent.AgentResult
	StopReason   string            // the cause with which the run stopped
	Completed    bool              // the run finished by itself and without an error
	LogText      string            // the messages and calls, one line each
	Metadata     map[string]string // keys: run, parent, agent
	ToolSequence []string
	Errors       []string // of calls, and of the run
	Artifacts    map[string]any
	Expected     any
	Judge        agent.Model
}

// EvalResult is the grade by one evaluator.
type EvalResult struct {
	Name        string             `json:"name"`
	Score       *float64           `json:"score,omitempty"` // from 0 to 1; nil: no score
	Label       string             `json:"label,omitempty"` // for example pass, error, or skipped
	Metrics     map[string]float64 `json:"metrics,omitempty"`
	Details     map[string]any     `json:"details,omitempty"`
	Explanation string             `json:"explanation,omitempty"`
	DurationMS  float64            `json:"duration_ms"`
}

// EvalReport holds all grades of one run.
type EvalReport struct {
	Run       string         `json:"run"`
	Task      string         `json:"task"`
	Results   []EvalResult   `json:"results"`
	Passed    int            `json:"passed"`
	Failed    int            `json:"failed"` // including results with the label error
	Skipped   int            `json:"skipped"`
	Expected  any            `json:"expected,omitempty"`
	Artifacts map[string]any `json:"artifacts,omitempty"`
}

// Bind adds the observers.
func (e *Eval) Bind(h *agent.Hooks) {
	kit.MustConfig("answer.Eval", e.check())
	last := hookkit.Priority(kit.LastPriority)
	name := hookkit.Named("answer.Eval")
	h.OnRunStart.ObserveFunc(func(_ context.Context, run *agent.Run, fired agent.OnRunStartFired[agent.RunStart]) {
		e.task.Do(run, func(task *string) { *task = fired.Payload.Task })
	}, name, last)
	h.AfterStep.ObserveFunc(func(_ context.Context, run *agent.Run, fired agent.AfterStepFired[agent.StepResult]) {
		e.steps.Do(run, func(steps *[]agent.StepResult) { *steps = append(*steps, fired.Payload) })
	}, name, last)
	h.OnRunEnd.ObserveFunc(e.grade, name, last)
}

func (e *Eval) check() error {
	if len(e.Evaluators) == 0 {
		return errors.New("Evaluators is empty, so nothing would be graded; give one")
	}
	for i, g := range e.Evaluators {
		if g.Name == "" || g.Grade == nil {
			return fmt.Errorf("Evaluators[%d] has no Name or no Grade; give it both", i)
		}
	}
	for i, c := range e.Collectors {
		if c.Name == "" || c.Collect == nil {
			return fmt.Errorf("Collectors[%d] has no Name or no Collect; give it both", i)
		}
	}
	return nil
}

// grade grades a finished run.
func (e *Eval) grade(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
	if fired.Payload.Suspended != nil { // it goes on
		return
	}
	seen := EvalContext{
		Result: fired.Payload, FinalOutput: fired.Payload.Reply, StopReason: string(fired.Payload.Stop.Cause),
		Completed: !fired.Payload.Forced() && fired.Payload.Err == "",
		Artifacts: map[string]any{}, Expected: e.Expected, Judge: e.Judge,
		Task: e.task.Load(run), Steps: slices.Clone(e.steps.Load(run)), LogText: logText(fired.Payload.Messages),
		Metadata: map[string]string{"run": run.ID(), "parent": run.Parent(), "agent": fired.Payload.Agent},
	}
	for _, c := range fired.Payload.Calls {
		seen.ToolSequence = append(seen.ToolSequence, c.Call.Name)
		if c.Err != "" {
			seen.Errors = append(seen.Errors, c.Err)
		}
	}
	if fired.Payload.Err != "" {
		seen.Errors = append(seen.Errors, fired.Payload.Err)
	}

	report := EvalReport{Run: run.ID(), Task: seen.Task, Expected: e.Expected}
	for _, c := range e.Collectors {
		found, err := kit.Recover(func() (map[string]any, error) { return c.Collect(ctx, seen) })
		if err == nil && found == nil {
			err = errors.New("the collector returned no map")
		}
		if err != nil {
			failed := EvalResult{Name: "collector:" + c.Name, Label: "error", Explanation: err.Error()}
			report.Results = append(report.Results, failed)
			continue
		}
		maps.Copy(seen.Artifacts, found)
	}
	for _, g := range e.Evaluators {
		report.Results = append(report.Results, e.evaluate(ctx, run, g, seen))
	}
	report.Artifacts = seen.Artifacts
	for _, r := range report.Results {
		switch {
		case r.Label == "skipped":
			report.Skipped++
		case r.Passed():
			report.Passed++
		default:
			report.Failed++
		}
	}
	if e.Verbose {
		for _, r := range report.Results {
			slog.InfoContext(ctx, "graded", "run", report.Run, "evaluator", r.Name,
				"passed", r.Passed(), "label", r.Label, "explanation", r.Explanation)
		}
	}
	if e.OnReport != nil {
		e.OnReport(report)
		return
	}
	slog.InfoContext(ctx, "graded", "run", report.Run, "summary", report.String())
}

// logText renders a conversation, one line for each message and each call.
func logText(messages []agent.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if m.Content != "" {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, shorten.Line(m.Content, 2000))
		}
		for _, c := range m.ToolCalls {
			name, args := shorten.Line(c.Name, toolname.MaxDisplay), shorten.Line(string(c.Args), 2000)
			fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, name, args)
		}
	}
	return b.String()
}

// evaluate asks one evaluator.
func (e *Eval) evaluate(ctx context.Context, run *agent.Run, g Evaluator, seen EvalContext) EvalResult {
	if g.NeedsJudge && e.Judge == nil {
		return EvalResult{Name: g.Name, Label: "skipped", Explanation: "it needs a judge; set Judge"}
	}
	start := kit.Env(run).Now()
	grade, err := kit.Recover(func() (any, error) { return g.Grade(ctx, seen) })
	r := resultOf(grade, err)
	r.Name, r.DurationMS = g.Name, float64(kit.Env(run).Now().Sub(start))/float64(time.Millisecond)
	return r
}

// resultOf converts the result of Grade.
func resultOf(grade any, err error) EvalResult {
	if err != nil {
		return EvalResult{Label: "error", Explanation: err.Error()}
	}
	score := func(v float64) *float64 { return &v }
	var r EvalResult
	switch g := grade.(type) {
	case EvalResult:
		r = g
	case bool:
		r.Score = score(0)
		if g {
			r.Score = score(1)
		}
	case float64:
		r.Score = score(g)
	case int:
		r.Score = score(float64(g))
	case string:
		r.Label = g
	case map[string]float64:
		r.Metrics = g
		for _, primary := range []string{"score", "f1", "accuracy", "overall"} {
			if v, ok := g[primary]; ok {
				r.Score = score(v)
				break
			}
		}
	default:
		return EvalResult{Label: "error", Explanation: fmt.Sprintf(
			"a grade of type %T cannot be read; return a number, a bool, a label, metrics or an EvalResult", grade)}
	}
	if r.Score != nil && (math.IsNaN(*r.Score) || *r.Score < 0 || *r.Score > 1) {
		return EvalResult{Label: "error", Explanation: fmt.Sprintf("the score %v is not between 0 and 1", *r.Score)}
	}
	return r
}

// Passed reports whether the grade is a pass. The labels error, fail, wrong, no and skipped never pass. Otherwise a
// score of at least 0.5 passes, and without a score the labels pass, correct and yes.
func (r EvalResult) Passed() bool {
	label := strings.ToLower(r.Label)
	switch label {
	case "error", "fail", "wrong", "no", "skipped":
		return false
	}
	if r.Score != nil {
		return *r.Score >= 0.5
	}
	return label == "pass" || label == "correct" || label == "yes"
}

// String returns the counts of the report on one line.
func (r EvalReport) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
}

// Save writes the report to a JSON file that only its owner can read. The file is replaced atomically. An error means
// that Expected or an artifact cannot be encoded, or that the file cannot be written.
func (r EvalReport) Save(path string) error {
	text, err := json.MarshalIndent(struct {
		EvalReport
		Summary string `json:"summary"`
	}{r, r.String()}, "", "  ")
	if err != nil {
		return fmt.Errorf("the report cannot be encoded: %w; Expected and the artifacts must be valid JSON values", err)
	}
	return atomicfile.Write(path, append(text, '\n'))
}
