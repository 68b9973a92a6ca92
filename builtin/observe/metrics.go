package observe

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Metrics counts runs, steps, calls, tokens and failures, and measures durations.
//
// For example, after every 10 calls of search it logs "search: 10 calls, 8 ok / 2 fail, avg 1.2ms". At the end of each
// run the sums of all runs go to Exporter. An exceeded budget is logged as a warning.
//
// Refused, denied and skipped calls count as failures even if a hook changed the result at AfterTool. A call that a
// hook answered instead of the tool, or that was handed over, is neither a success nor a failure. The first 1000 tool
// names are counted separately and all others as "(other)", because a model can invent any number of names.
//
// Metrics observes AfterLLM, AfterStep, OnToolError, OnBudgetExceeded and OnRunEnd. The zero value is ready to use.
// Metrics is safe for concurrent use and must not be copied.
type Metrics struct {
	Log *slog.Logger // nil: slog.Default()
	// Classify returns the class of a step. Nil: "error" if the step or one of its calls failed, else "productive".
	Classify func(agent.StepResult) string

	Exporter MetricsExporter // receives the sums at the end of each run, concurrently; nil: they are logged
	OnError  func(error)     // receives failures of Exporter; nil: they are logged

	mu     sync.Mutex
	sums   MetricsReport
	failed kit.Reporter
}

// A MetricsExporter forwards the sums of a [Metrics] to another system. The report is a copy.
type MetricsExporter interface {
	ExportMetrics(ctx context.Context, report MetricsReport) error
}

// maxToolNames bounds the tools that are counted by name.
const maxToolNames = 1000

// MetricsReport holds the sums of all runs.
type MetricsReport struct {
	Runs         int                    `json:"total_runs"` // finished runs; a suspended one counts when it is over
	Steps        int                    `json:"total_steps"`
	LLMCalls     int                    `json:"total_llm_calls"`
	ToolCalls    int                    `json:"total_tool_calls"`
	Errors       int                    `json:"total_errors"`    // failed calls, and other failed steps
	Attempts     int                    `json:"failed_attempts"` // failed attempts of calls, including retried ones
	InputTokens  int                    `json:"input_tokens"`
	OutputTokens int                    `json:"output_tokens"`
	Duration     time.Duration          `json:"duration_ns"` // total duration of finished runs
	Tools        map[string]ToolMetrics `json:"tools"`
	Classes      map[string]int         `json:"classes"`            // number of steps of each class
	Exceeded     map[string]int         `json:"exceeded,omitempty"` // exceeded budgets by kind
	LastRun      string                 `json:"last_run,omitempty"` // ID of the run that ended last; its owner:
	agent.Identity
}

// ToolMetrics holds the sums of one tool.
type ToolMetrics struct {
	Calls     int           `json:"calls"`
	Successes int           `json:"successes"`
	Failures  int           `json:"failures"`
	Duration  time.Duration `json:"duration_ns"`
}

// Bind adds the observers.
func (m *Metrics) Bind(h *agent.Hooks) {
	name := hookkit.Named("observe.Metrics")
	h.AfterLLM.ObserveFunc(func(_ context.Context, _ *agent.Run, fired agent.AfterLLMFired[agent.LLMResponse]) {
		m.count(func(s *MetricsReport) {
			s.LLMCalls++
			s.InputTokens += fired.Payload.Usage.Input
			s.OutputTokens += fired.Payload.Usage.Output
		})
	}, name)
	h.AfterStep.ObserveFunc(m.step, name)
	h.OnBudgetExceeded.ObserveFunc(m.exceeded, name)
	h.OnRunEnd.ObserveFunc(func(ctx context.Context, run *agent.Run, fired agent.OnRunEndFired[agent.AgentResult]) {
		m.count(func(s *MetricsReport) {
			if fired.Payload.Suspended == nil { // Elapsed includes the time before a suspension
				s.Runs++
				s.Duration += fired.Payload.Elapsed
			}
			s.LastRun, s.Identity = run.ID(), kit.Owner(run)
		})
		m.export(ctx)
	}, name)
	h.OnToolError.Observe(m)
}

// ObserveOnToolError counts a failed attempt.
func (m *Metrics) ObserveOnToolError(context.Context, *agent.Run, agent.OnToolErrorFired[agent.ToolFailure]) {
	m.count(func(s *MetricsReport) { s.Attempts++ })
}

// export passes the sums to the exporter, or logs them.
func (m *Metrics) export(ctx context.Context) {
	r := m.Report()
	if m.Exporter == nil {
		m.log().InfoContext(ctx, "runs so far", "last_run", r.LastRun, ownerAttr(r.Identity), "runs", r.Runs,
			"steps", r.Steps, "llm_calls", r.LLMCalls, "tool_calls", r.ToolCalls, "errors", r.Errors,
			"input_tokens", r.InputTokens, "output_tokens", r.OutputTokens)
		return
	}
	_, err := kit.Recover(func() (struct{}, error) { return struct{}{}, m.Exporter.ExportMetrics(ctx, r) })
	m.failed.Report("observe.Metrics", m.OnError, err)
}

func (m *Metrics) count(f func(*MetricsReport)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sums.Tools == nil {
		m.sums.Tools, m.sums.Classes, m.sums.Exceeded = map[string]ToolMetrics{}, map[string]int{}, map[string]int{}
	}
	f(&m.sums)
}

// tool counts a call.
func (m *Metrics) tool(ctx context.Context, r *agent.ToolCallResult) {
	if r.Status == agent.CallUnrun || r.Kind == agent.FailDisabled {
		return // the loop, not a hook, prevented the call
	}
	name := shorten.To(r.Call.Name, toolname.MaxDisplay)
	var t ToolMetrics
	m.count(func(s *MetricsReport) {
		s.ToolCalls++
		var known bool
		if t, known = s.Tools[name]; !known && len(s.Tools) >= maxToolNames {
			name = "(other)"
			t = s.Tools[name]
		}
		t.Calls++
		t.Duration += r.Elapsed
		switch {
		case kit.Succeeded(*r):
			t.Successes++
		case !r.OK():
			t.Failures++
			s.Errors++
		}
		s.Tools[name] = t
	})
	if t.Calls%10 == 0 && m.log().Enabled(ctx, slog.LevelInfo) {
		average := float64(t.Duration) / float64(time.Millisecond) / float64(t.Calls)
		m.log().InfoContext(ctx, fmt.Sprintf("%s: %d calls, %d ok / %d fail, avg %.1fms",
			name, t.Calls, t.Successes, t.Failures, average))
	}
}

// step counts a step and its calls.
func (m *Metrics) step(ctx context.Context, _ *agent.Run, fired agent.AfterStepFired[agent.StepResult]) {
	step := fired.Payload
	if step.Suspended { // it continues, and AfterStep fires again
		return
	}
	for i := range step.Results {
		m.tool(ctx, &step.Results[i])
	}
	class := stepClass(&step)
	if m.Classify != nil {
		class = m.Classify(step)
	}
	m.count(func(s *MetricsReport) {
		s.Steps++
		s.Classes[class]++
		if step.Err != "" && !anyFailed(step.Results) {
			s.Errors++
		}
	})
}

// stepClass returns "error" if the step or one of its calls failed, else "productive".
func stepClass(step *agent.StepResult) string {
	if step.Err != "" || anyFailed(step.Results) {
		return "error"
	}
	return "productive"
}

func anyFailed(results []agent.ToolCallResult) bool {
	for i := range results { // OK would copy each result, which is large
		if results[i].Err != "" {
			return true
		}
	}
	return false
}

func (m *Metrics) exceeded(
	ctx context.Context, run *agent.Run, fired agent.OnBudgetExceededFired[agent.BudgetExceeded],
) {
	b := fired.Payload
	m.count(func(s *MetricsReport) { s.Exceeded[string(b.Kind)]++ })
	m.log().WarnContext(ctx, "a budget was exceeded", "run", run.ID(), ownerAttr(kit.Owner(run)),
		"kind", b.Kind, "used", b.Used, "limit", b.Limit, "by", b.By)
}

func (m *Metrics) log() *slog.Logger {
	if m.Log != nil {
		return m.Log
	}
	return slog.Default()
}

// Report returns a copy of the sums so far.
func (m *Metrics) Report() MetricsReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.sums
	r.Tools, r.Classes, r.Exceeded = maps.Clone(r.Tools), maps.Clone(r.Classes), maps.Clone(r.Exceeded)
	return r
}

// String renders the report as lines with headings: steps and errors, tokens, duration, model calls, the ten most used
// tools, and classes.
func (r MetricsReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "steps: %d, errors: %d\n", r.Steps, r.Errors)
	fmt.Fprintf(&b, "tokens: %d in, %d out\n", r.InputTokens, r.OutputTokens)
	fmt.Fprintf(&b, "duration: %s\n", r.Duration.Round(time.Millisecond))
	fmt.Fprintf(&b, "model calls: %d\n", r.LLMCalls)
	b.WriteString("tools:\n")
	names := slices.SortedFunc(maps.Keys(r.Tools), func(x, y string) int {
		if d := r.Tools[y].Calls - r.Tools[x].Calls; d != 0 {
			return d
		}
		return strings.Compare(x, y)
	})
	for _, name := range names[:min(len(names), 10)] {
		t := r.Tools[name]
		fmt.Fprintf(&b, "  %s: %d calls, %d ok / %d fail\n",
			shorten.Line(name, toolname.MaxDisplay), t.Calls, t.Successes, t.Failures)
	}
	b.WriteString("classes:\n")
	for _, class := range slices.Sorted(maps.Keys(r.Classes)) {
		fmt.Fprintf(&b, "  %s: %d\n", shorten.Line(class, toolname.MaxDisplay), r.Classes[class])
	}
	return b.String()
}
