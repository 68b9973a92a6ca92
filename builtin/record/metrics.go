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
// Metrics reads AfterStep, OnToolError, OnBudgetExceeded and OnRunEnd. The zero value is ready to use.
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
	return []string{"AfterStep", "OnToolError", "OnBudgetExceeded", "OnRunEnd"}
}

func (m *Metrics) see(ctx context.Context, e event) {
	switch p := e.payload.(type) {
	case agent.StepResult:
		if !p.Suspended { // else it continues, and AfterStep fires again
			m.step(ctx, p, e.of != nil)
		}
	case agent.ToolFailure:
		m.count(func(s *MetricsReport) { s.Attempts++ })
	case agent.BudgetExceeded:
		m.count(func(s *MetricsReport) { s.Exceeded[string(p.Kind)]++ })
		if e.of != nil {
			m.log().WarnContext(ctx, "a budget was exceeded", "run", e.run, kit.OwnerAttr(e.Identity),
				"kind", p.Kind, "used", p.Used, "limit", p.Limit, "by", p.By)
		}
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

// step counts a step and its calls.
func (m *Metrics) step(ctx context.Context, step agent.StepResult, live bool) {
	class, callFailed := "productive", anyFailed(step.Results)
	if step.Err != "" || callFailed {
		class = "error"
	}
	if m.Classify != nil {
		class = m.Classify(step)
	}
	logs := live && m.log().Enabled(ctx, slog.LevelInfo)
	var tenth []string
	m.count(func(s *MetricsReport) {
		s.Steps++
		s.Classes[class]++
		if step.Err != "" && !callFailed {
			s.Errors++
		}
		if step.Response != nil {
			s.LLMCalls++
			s.InputTokens += step.Response.Usage.Input
			s.OutputTokens += step.Response.Usage.Output
		}
		for i := range step.Results {
			if name, t := s.tool(&step.Results[i]); logs && t.Calls > 0 && t.Calls%10 == 0 {
				average := float64(t.Duration) / float64(time.Millisecond) / float64(t.Calls)
				tenth = append(tenth, fmt.Sprintf("%s: %d calls, %d ok / %d fail, avg %.1fms",
					name, t.Calls, t.Successes, t.Failures, average))
			}
		}
	})
	for _, text := range tenth {
		m.log().InfoContext(ctx, text)
	}
}

// tool counts a call, and returns the sums under which it counts.
func (r *MetricsReport) tool(result *agent.ToolCallResult) (name string, t ToolMetrics) {
	if result.Status == agent.CallUnrun || result.Kind == agent.FailDisabled {
		return "", ToolMetrics{} // the loop, not a hook, prevented the call
	}
	name = shorten.To(result.Call.Name, toolname.MaxDisplay)
	t, known := r.Tools[name]
	if !known && len(r.Tools) >= maxToolNames {
		name = "(other)"
		t = r.Tools[name]
	}
	r.ToolCalls++
	t.Calls++
	t.Duration += result.Elapsed
	switch {
	case result.Err != "":
		t.Failures++
		r.Errors++
	case kit.Succeeded(*result):
		t.Successes++
	}
	r.Tools[name] = t
	return name, t
}

func anyFailed(results []agent.ToolCallResult) bool {
	for i := range results { // OK would copy each result, which is large
		if results[i].Err != "" {
			return true
		}
	}
	return false
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
