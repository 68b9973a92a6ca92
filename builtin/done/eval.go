package done

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Eval grades every run when it is over.
//
// It observes AfterStep and OnRunEnd, after all other observers (priority −100), so it grades every run, however it
// ended. Collectors look first; what they find is merged into the artifacts, and one that fails is a result
// "collector:name" with the label error. Then the evaluators grade, in order. What is expected is shown to them and to
// nobody else. A grader or collector that panics is an error result, not a failure of the run. State: per run its
// steps; the last 100 reports. It must not be copied.
type Eval struct {
	Evaluators []Evaluator // required
	Collectors []Collector
	Judge      agent.Model      // for evaluators that need one; nil: these are skipped
	Expected   any              // the right answer, for the evaluators
	Verbose    bool             // log each result, beside the summary
	OnReport   func(EvalReport) // gets each report; nil: its summary is logged

	steps hookkit.PerRun[[]agent.StepResult]
	task  hookkit.PerRun[string]

	mu      sync.Mutex
	reports []EvalReport
}

// An Evaluator grades a run.
type Evaluator struct {
	Name       string
	NeedsJudge bool
	// Grade returns a score from 0 to 1, as a float64 or an int; a bool, 1 for yes; a label, as a string; metrics,
	// as a map[string]float64; or an [EvalResult].
	Grade func(ctx context.Context, e EvalContext) (any, error)
}

// A Collector finds artifacts of a run.
type Collector struct {
	Name    string
	Collect func(ctx context.Context, e EvalContext) (map[string]any, error)
}

// An EvalContext is a run that is over. It shares memory with the run's records: look, and do not change.
type EvalContext struct {
	Task         string
	FinalOutput  string
	Steps        []agent.StepResult
	Result       agent.AgentResult
	StopReason   string            // the cause of the strongest signal
	Completed    bool              // the run was done, and not stopped
	LogText      string            // what was said and done, a line each
	Metadata     map[string]string // run and agent
	ToolSequence []string
	Errors       []string // of calls and of the run
	Artifacts    map[string]any
	Expected     any
	Judge        agent.Model
}

// An EvalResult is one grade.
type EvalResult struct {
	Name        string             `json:"name"`
	Score       *float64           `json:"score,omitempty"` // 0 to 1; nil: none
	Label       string             `json:"label,omitempty"` // error and skipped among them
	Metrics     map[string]float64 `json:"metrics,omitempty"`
	Details     map[string]any     `json:"details,omitempty"`
	Explanation string             `json:"explanation,omitempty"`
	DurationMS  float64            `json:"duration_ms"`
}

// An EvalReport is how one run was graded.
type EvalReport struct {
	Run       string         `json:"run"`
	Task      string         `json:"task"`
	Results   []EvalResult   `json:"results"`
	Passed    int            `json:"passed"`
	Failed    int            `json:"failed"` // errors included
	Skipped   int            `json:"skipped"`
	Expected  any            `json:"expected,omitempty"`
	Artifacts map[string]any `json:"artifacts,omitempty"`
}

// maxReports bounds the reports that an Eval keeps.
const maxReports = 100

// Bind adds the observers. An evaluator or a collector without a name or a function, and no evaluator, panic.
func (e *Eval) Bind(h *agent.Hooks) {
	kit.MustConfig("done.Eval", e.check())
	last := hookkit.Priority(kit.LastPriority)
	name := hookkit.Named("done.Eval")
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

// grade grades a run that is over.
func (e *Eval) grade(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
	seen := EvalContext{Result: fired.Payload, FinalOutput: fired.Payload.Reply, StopReason: string(fired.Payload.Stop.Cause),
		Completed: !fired.Payload.Forced() && fired.Payload.Err == "", Artifacts: map[string]any{}, Expected: e.Expected, Judge: e.Judge}
	e.task.Do(run, func(task *string) { seen.Task = *task })
	e.steps.Do(run, func(steps *[]agent.StepResult) { seen.Steps = slices.Clone(*steps) })
	seen.LogText = logText(fired.Payload.Messages)
	seen.Metadata = map[string]string{"run": run.ID(), "parent": run.Parent(), "agent": fired.Payload.Agent}
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
			report.Results = append(report.Results, EvalResult{Name: "collector:" + c.Name, Label: "error", Explanation: err.Error()})
			continue
		}
		for k, v := range found {
			seen.Artifacts[k] = v
		}
	}
	for _, g := range e.Evaluators {
		report.Results = append(report.Results, e.one(ctx, run, g, seen))
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
	e.mu.Lock()
	if len(e.reports) >= maxReports {
		e.reports = slices.Delete(e.reports, 0, 1)
	}
	e.reports = append(e.reports, report)
	e.mu.Unlock()
	if e.Verbose {
		for _, r := range report.Results {
			slog.InfoContext(ctx, "graded", "run", report.Run, "evaluator", r.Name, "passed", r.Passed(), "label", r.Label, "explanation", r.Explanation)
		}
	}
	if e.OnReport != nil {
		e.OnReport(report)
		return
	}
	slog.InfoContext(ctx, "graded", "run", report.Run, "summary", report.String())
}

// logText writes a conversation, a line for each message and each call.
func logText(messages []agent.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if m.Content != "" {
			fmt.Fprintf(&b, "%s: %s\n", m.Role, shorten.Line(m.Content, 2000))
		}
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, shorten.Line(c.Name, toolname.MaxDisplay), shorten.Line(string(c.Args), 2000))
		}
	}
	return b.String()
}

// one asks one evaluator.
func (e *Eval) one(ctx context.Context, run *agent.Run, g Evaluator, seen EvalContext) EvalResult {
	if g.NeedsJudge && e.Judge == nil {
		return EvalResult{Name: g.Name, Label: "skipped", Explanation: "it needs a judge and there is none"}
	}
	start := run.Env.Now()
	grade, err := kit.Recover(func() (any, error) { return g.Grade(ctx, seen) })
	r := resultOf(grade, err)
	r.Name, r.DurationMS = g.Name, float64(run.Env.Now().Sub(start))/float64(time.Millisecond)
	return r
}

// resultOf reads a grade.
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
		return EvalResult{Label: "error", Explanation: fmt.Sprintf("a grade of type %T cannot be read; return a number, a bool, a label, metrics or an EvalResult", grade)}
	}
	if r.Score != nil && (math.IsNaN(*r.Score) || *r.Score < 0 || *r.Score > 1) {
		return EvalResult{Label: "error", Explanation: fmt.Sprintf("the score %v is not between 0 and 1", *r.Score)}
	}
	return r
}

// Passed reports whether the grade is a pass: never with the label error, fail, wrong, no or skipped; else by a score
// of at least 0.5; without a score by the label pass, correct or yes.
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

// Reports returns copies of the last 100 reports, in order.
func (e *Eval) Reports() []EvalReport {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.reports)
}

// String is the report on one line.
func (r EvalReport) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
}

// Save writes the report as JSON, whole or not at all, readable by its owner alone.
func (r EvalReport) Save(path string) error {
	text, err := json.MarshalIndent(struct {
		EvalReport
		Summary string `json:"summary"`
	}{r, r.String()}, "", "  ")
	if err != nil {
		return fmt.Errorf("the report cannot be encoded: %w; let Expected and the artifacts be JSON", err)
	}
	return atomicfile.Write(path, append(text, '\n'))
}
