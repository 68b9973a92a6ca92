package done

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Gate keeps the model from finishing before it may.
//
// It stands at CheckDone (RejectDone), in the tier Safety, observes AfterTool, and with MaxRejections contributes to
// ShouldStop. An answer must meet every condition; the first that rejects it says why, and the model reads that in the
// next prompt. A condition that fails or panics rejects. State: per run, the names of the calls that were made and the
// number of rejections.
//
// Conditions made here: [MinTools], [RequireTool], [AnswerCheck], [AnswerSchema].
type Gate struct {
	Conditions []Condition // asked in order; required
	// MaxRejections is how often this hook rejects in a run; then the run stops with retry_limit. 0: as often as
	// the loop lets it.
	MaxRejections limit.Bound[int]

	runs hookkit.PerRun[doneState]
}

// A Condition judges an answer. It must be safe for concurrent use.
type Condition interface {
	// Check returns what the model must do before it can finish, "" if it may.
	Check(ctx context.Context, run *agent.Run, a Attempt) (feedback string, err error)
}

// An Attempt is an answer that a [Gate] judges, and what was done for it.
type Attempt struct {
	agent.DoneRequest
	Calls []MadeCall // the tool calls of the run so far, in order; a copy
}

// A MadeCall is a tool call that is over.
type MadeCall struct {
	Tool string // its name, at most 256 characters
	Step int    // calls of one step ran side by side
	Ran  bool   // it was dispatched, so it may have changed something
	OK   bool   // the tool ran and succeeded; an answer of a hook in its place is no success of the tool
}

// doneState is what a Gate knows of one run.
type doneState struct {
	calls    []MadeCall
	rejected int
}

// Bind adds the hook. No conditions, a condition that cannot work and a negative MaxRejections panic.
func (d *Gate) Bind(h *agent.Hooks) {
	kit.MustConfig("done.Gate", d.check())
	h.CheckDone.Add(d, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Observe(d)
	if d.MaxRejections != 0 && d.MaxRejections != limit.None {
		h.ShouldStop.Add(d, hookkit.Priority(hookkit.Safety))
	}
}

func (d *Gate) check() error {
	if len(d.Conditions) == 0 {
		return errors.New("Conditions is empty, so every answer would pass; give a condition, such as MinTools(3)")
	}
	if err := d.MaxRejections.Check("MaxRejections"); err != nil {
		return err
	}
	for i, g := range d.Conditions {
		if g == nil {
			return fmt.Errorf("Conditions[%d] is nil; give a gate or leave it out", i)
		}
		if c, ok := g.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return fmt.Errorf("Conditions[%d]: %w", i, err)
			}
		}
	}
	return nil
}

// ObserveAfterTool notes a call that is over.
func (d *Gate) ObserveAfterTool(_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	was := fired.Payload
	made := MadeCall{
		Tool: shorten.To(was.Call.Name, toolname.MaxStored), Step: was.Call.Step,
		Ran: was.Status == "" || was.Status == agent.CallSucceeded || was.Status == agent.CallFailed && was.Attempts > 0,
		OK:  fired.Err == nil && kit.Succeeded(was) && fired.Final.Err == "",
	}
	d.runs.Do(run, func(s *doneState) { s.calls = append(s.calls, made) })
}

// CheckDone asks the gates.
func (d *Gate) CheckDone(ctx context.Context, run *agent.Run, asked agent.DoneRequest) (agent.CheckDoneOutcome, error) {
	a := Attempt{DoneRequest: asked}
	d.runs.Do(run, func(s *doneState) { a.Calls = slices.Clone(s.calls) })
	for _, g := range d.Conditions {
		feedback, err := kit.Recover(func() (string, error) { return g.Check(ctx, run, a) })
		if err == nil && feedback == "" {
			continue
		}
		d.runs.Do(run, func(s *doneState) { s.rejected++ })
		if err != nil {
			return nil, fmt.Errorf("gate %T: %w", g, err) // the point fails closed, which rejects
		}
		return agent.RejectDone{Feedback: feedback, Reason: "done_gate"}, nil
	}
	return nil, nil
}

// ShouldStop stops a run in which this hook has rejected often enough.
func (d *Gate) ShouldStop(_ context.Context, run *agent.Run, at agent.Step) (signals []agent.EndRun, err error) {
	d.runs.Do(run, func(s *doneState) {
		if most := d.MaxRejections.Or(limit.None); s.rejected >= most && !at.Done {
			signals = []agent.EndRun{{
				Cause: agent.CauseRetryLimit, Message: fmt.Sprintf("Rejections reached: %d/%d", s.rejected, most),
				Detail: map[string]any{"rejections": s.rejected, "maxRejections": most},
			}}
		}
	})
	return signals, nil
}

// MinTools is a gate that wants n successful tool calls before an answer; those that were refused, skipped or failed do
// not count.
func MinTools(n int) Condition { return minTools(n) }

type minTools int

func (n minTools) check() error {
	if n < 1 {
		return fmt.Errorf("MinTools(%d); give 1 or more", int(n))
	}
	return nil
}

func (n minTools) Check(_ context.Context, _ *agent.Run, a Attempt) (string, error) {
	made := 0
	for _, c := range a.Calls {
		if c.OK {
			made++
		}
	}
	if made >= int(n) {
		return "", nil
	}
	return fmt.Sprintf("Insufficient evidence: only %d tools called. Call at least %d before concluding.", made, int(n)), nil
}

// RequireTool is a gate that wants the check tool to have succeeded after the last call of a changing tool, and at
// least once. Any call of a changing tool that ran counts as a change, a failed one too: it may have changed something.
// A check beside a change in one step does not count, since they ran side by side; nor does an answer from a cache. In
// the names of changing tools "*" stands for any text. What a sub-agent changes is a change if its tool is named.
func RequireTool(check string, changes ...string) Condition { return requireTool{check, changes} }

type requireTool struct {
	tool    string
	changes []string
}

func (g requireTool) check() error {
	if g.tool == "" {
		return errors.New("RequireTool without a tool; name the tool that checks")
	}
	return toolname.Check("changes", g.changes)
}

func (g requireTool) Check(_ context.Context, _ *agent.Run, a Attempt) (string, error) {
	passed, changed := false, -1 // the step of the last change
	for _, c := range a.Calls {
		switch {
		case c.Tool == g.tool:
			passed = c.OK && (c.Step == 0 || c.Step != changed)
		case c.Ran && toolname.Match(g.changes, c.Tool):
			passed, changed = false, c.Step
		}
	}
	if passed {
		return "", nil
	}
	return fmt.Sprintf("%s has not passed yet; run it and fix failures first", g.tool), nil
}

// AnswerCheck is a gate that judges by the answer itself: f returns what is wrong with it, "" for nothing.
func AnswerCheck(f func(answer string) string) Condition { return answerCheck(f) }

type answerCheck func(string) string

func (f answerCheck) check() error {
	if f == nil {
		return errors.New("AnswerCheck(nil); give a function")
	}
	return nil
}

func (f answerCheck) Check(_ context.Context, _ *agent.Run, a Attempt) (string, error) {
	return f(a.Answer), nil
}

// AnswerSchema is a gate that wants the answer to be JSON that fits a JSON Schema, given as JSON. The feedback names
// the path that does not fit. A schema that is none panics when the hook is used.
func AnswerSchema(schema string) Condition {
	g := &answerSchema{}
	var s jsonschema.Schema
	if g.err = json.Unmarshal([]byte(schema), &s); g.err == nil {
		g.schema, g.err = s.Resolve(nil)
	}
	return g
}

type answerSchema struct {
	schema *jsonschema.Resolved
	err    error
}

func (g *answerSchema) check() error {
	if g.err != nil {
		return fmt.Errorf("AnswerSchema: %w; give a JSON Schema", g.err)
	}
	return nil
}

func (g *answerSchema) Check(_ context.Context, _ *agent.Run, a Attempt) (string, error) {
	var answer any
	d := json.NewDecoder(strings.NewReader(a.Answer))
	if err := d.Decode(&answer); err != nil || strings.Trim(a.Answer[d.InputOffset():], " \t\r\n") != "" {
		return "The answer must be one JSON value and nothing else, and it is not. Answer again.", nil
	}
	if err := g.schema.Validate(answer); err != nil {
		return shorten.To("The answer does not fit its schema: "+err.Error()+". Answer again.", 1000), nil
	}
	return "", nil
}
