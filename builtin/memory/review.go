package memory

import (
	"context"
	_ "embed" // for the texts
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Review asks a model after a long run which steps are worth repeating, so that the next run need not find them again.
//
// For example, an agent has found out in twelve steps how to restore the test database. The review stores the fact
// "procedure restore the test database" with the value "When the tests need data: 1. stop the server 2. ...". An
// [Injector] with the same Store shows it in the next run. A later procedure of the same name replaces the fact.
//
// A run is reviewed if it completed with at least MinSteps steps and MinCalls successful calls. The review is one call
// of a model with the task, the last 50 calls and the reply. It stores at most 3 procedures with 10 steps each.
// Sub-runs are ignored.
//
// Secrets and personal data are removed from the procedures, which are instructions and not about a person. A failure
// is reported as a failure of the hook and does not affect the run.
//
// Review uses OnRunEnd. It is safe for concurrent use if its Store and Model are. Bind panics if Store is nil or a
// bound is invalid.
type Review struct {
	Store    Store
	Model    agent.Model      // nil: the model of the run; only then the call counts towards the run
	MinSteps limit.Bound[int] // default 10
	MinCalls limit.Bound[int] // default 5
	Redact   redact.Redactor

	seen hookkit.PerRun[bool]
}

const (
	maxProcedures     = 3
	maxProcedureSteps = 10
	maxStepChars      = 200
	reviewedCalls     = 50
	reviewedChars     = 1000 // of each text
)

// Bind adds the hook to OnRunEnd.
func (r *Review) Bind(h *agent.Hooks) {
	mustHaveStore("memory.Review", r.Store)
	kit.MustConfig("memory.Review", errors.Join(r.MinSteps.Check("MinSteps"), r.MinCalls.Check("MinCalls")))
	h.OnRunEnd.Add(r, hookkit.Priority(hookkit.Observability))
}

// OnRunEnd reviews the run if it was long.
func (r *Review) OnRunEnd(ctx context.Context, run *agent.Run, result agent.AgentResult) error {
	var again bool
	r.seen.Do(run, func(seen *bool) { again, *seen = *seen, true })
	succeeded := 0
	for _, c := range result.Calls {
		if kit.Succeeded(c) {
			succeeded++
		}
	}
	if again || run.Parent() != "" || result.Err != "" || result.Forced() || result.Steps < r.MinSteps.Or(10) ||
		succeeded < r.MinCalls.Or(5) {
		return nil
	}
	found, err := r.ask(ctx, run, result)
	if err != nil {
		return fmt.Errorf("the run is not reviewed: %w", err)
	}
	var facts []Fact
	for _, p := range found[:min(len(found), maxProcedures)] {
		if name, text := r.line(p.Name, shorten.KeyChars), r.text(p); name != "" && text != "" {
			facts = append(facts, Fact{Key: "procedure " + name, Value: text, Source: "review"})
		}
	}
	return r.Store.Put(kit.For(ctx, run), facts...)
}

func (r *Review) line(text string, most int) string {
	return shorten.Line(r.Redact.CutText(text, most), most)
}

// text returns a procedure on one line, or "" if it has no steps.
func (r *Review) text(p procedure) string {
	var b strings.Builder
	if when := r.line(p.When, maxStepChars); when != "" {
		b.WriteString(when + ":")
	}
	n := 0
	for _, step := range p.Steps {
		if step = r.line(step, maxStepChars); step == "" || n == maxProcedureSteps {
			continue
		}
		n++
		fmt.Fprintf(&b, " %d. %s", n, step)
	}
	if n == 0 {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// A procedure is a list of steps that are worth repeating.
type procedure struct {
	Name  string   `json:"name"`
	When  string   `json:"when"`
	Steps []string `json:"steps"`
}

//go:embed review.txt
var reviewPrompt string

//go:embed procedure.schema.json
var procedureSchema string

func (r *Review) ask(ctx context.Context, run *agent.Run, result agent.AgentResult) ([]procedure, error) {
	model := r.Model
	if env := kit.Env(run); model == nil && env != nil {
		model = env.Model
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Task\n%s\n\n# Calls and results\n", shorten.Middle(result.Task, reviewedChars))
	for _, c := range result.Calls[max(0, len(result.Calls)-reviewedCalls):] {
		fmt.Fprintf(&b, "%s %s\n%s\n\n", shorten.Line(c.Call.Name, shorten.KeyChars),
			shorten.Middle(string(c.Call.Args), reviewedChars), shorten.Middle(c.Content(), reviewedChars))
	}
	fmt.Fprintf(&b, "# Reply\n%s\n", shorten.Middle(result.Reply, reviewedChars))
	return askForList[procedure](ctx, model, "procedures", procedureSchema, reviewPrompt, b.String())
}
