package record

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
)

// Metrics is a [View] that counts runs, steps, calls, tokens and failures, and adds up durations.
//
// For example, after every 10 calls of search it logs "search: 10 calls, 8 ok / 2 fail, avg 1.2ms" while runs are live.
// An exceeded budget is logged as a warning. Report returns the sums of all runs, for a page or another system.
//
// Refused, denied and skipped calls count as failures even if a hook changed the result at AfterTool. A call that a
// hook answered instead of the tool, or that was handed over, is neither a success nor a failure. The first 1000 tool
// names are counted separately and all others as "(other)", because a model can invent any number of names.
//
// Metrics reads AfterLLM, AfterStep, OnToolError, OnBudgetExceeded and OnRunEnd. The zero value is ready to use.
type Metrics struct {
	Log *slog.Logger // of live runs; nil: slog.Default()
	// Classify returns the class of a step. Nil: "error" if the step or one of its calls failed, else "productive".
	Classify func(agent.StepResult) string

	watch
	sums MetricsReport
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
}

// ToolMetrics holds the sums of one tool.
type ToolMetrics struct {
	Calls     int           `json:"calls"`
	Successes int           `json:"successes"`
	Failures  int           `json:"failures"`
	Duration  time.Duration `json:"duration_ns"`
}

// Bind adds the view to its points.
func (m *Metrics) Bind(h *agent.Hooks) { m.bind(h, "record.Metrics", m) }

func (m *Metrics) points() []string {
	return []string{"AfterLLM", "AfterStep", "OnToolError", "OnBudgetExceeded", "OnRunEnd"}
}

func (m *Metrics) see(ctx context.Context, e event) {
	switch p := e.payload.(type) {
	case agent.LLMResponse:
		m.count(func(s *MetricsReport) {
			s.LLMCalls++
			s.InputTokens += p.Usage.Input
			s.OutputTokens += p.Usage.Output
		})
	case agent.StepResult:
		m.step(ctx, p, e.of != nil)
	case agent.ToolFailure:
		m.count(func(s *MetricsReport) { s.Attempts++ })
	case agent.BudgetExceeded:
		m.exceeded(ctx, e, p)
	case agent.AgentResult:
		if p.Suspended == nil { // Elapsed includes the time before a suspension
			m.count(func(s *MetricsReport) {
				s.Runs++
				s.Duration += p.Elapsed
			})
		}
	}
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
func (m *Metrics) tool(ctx context.Context, r *agent.ToolCallResult, live bool) {
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
	if live && t.Calls%10 == 0 && m.log().Enabled(ctx, slog.LevelInfo) {
		average := float64(t.Duration) / float64(time.Millisecond) / float64(t.Calls)
		m.log().InfoContext(ctx, fmt.Sprintf("%s: %d calls, %d ok / %d fail, avg %.1fms",
			name, t.Calls, t.Successes, t.Failures, average))
	}
}

// step counts a step and its calls.
func (m *Metrics) step(ctx context.Context, step agent.StepResult, live bool) {
	if step.Suspended { // it continues, and AfterStep fires again
		return
	}
	for i := range step.Results {
		m.tool(ctx, &step.Results[i], live)
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

func (m *Metrics) exceeded(ctx context.Context, e event, b agent.BudgetExceeded) {
	m.count(func(s *MetricsReport) { s.Exceeded[string(b.Kind)]++ })
	if e.of != nil {
		m.log().WarnContext(ctx, "a budget was exceeded", "run", e.run, kit.OwnerAttr(e.Identity),
			"kind", b.Kind, "used", b.Used, "limit", b.Limit, "by", b.By)
	}
}

func (m *Metrics) log() *slog.Logger { return cmp.Or(m.Log, slog.Default()) }

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
