package answer

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

// Gate prevents the model from finishing before its work meets all conditions.
//
// For example, RequireTool("run_tests", "edit_*") rejects an answer until the tests have passed after the last edit.
// The first condition that is not met rejects the answer, and the model reads the feedback of that condition in the
// next prompt. A condition that fails or panics rejects too.
//
// The package has the conditions [MinTools], [RequireTool], [AnswerCheck] and [AnswerSchema].
//
// Gate adds to CheckDone, with the priority Safety, and observes AfterTool. It keeps the names of calls and the number
// of rejections for each run, and is safe for concurrent use if its conditions are. Bind panics if there is no
// condition, if a condition is invalid, and on a negative bound.
type Gate struct {
	Conditions []Condition // checked in order; at least one
	// MaxRejections is the number of rejections by this hook after which the run stops with the cause retry_limit. By
	// default only the loop limits rejections.
	MaxRejections limit.Bound[int]

	runs hookkit.PerRun[gateState]
}

// A Condition checks an answer. Implementations must be safe for concurrent use.
type Condition interface {
	// Check returns feedback for the model if the condition is not met, otherwise "". An error rejects the answer.
	Check(ctx context.Context, run *agent.Run, a Attempt) (feedback string, err error)
}

// An Attempt is an answer that a [Gate] checks, with the calls made so far.
type Attempt struct {
	agent.DoneRequest
	Calls []MadeCall // in order; a copy
}

// A MadeCall is a finished tool call.
type MadeCall struct {
	Tool string // name of the tool, at most 256 characters
	Step int    // number of the step; calls of one step run in parallel
	Ran  bool   // the tool was started, so it may have changed something
	OK   bool   // the tool ran and succeeded; a result supplied by a hook does not count
}

// gateState is the state of one run.
type gateState struct {
	calls    []MadeCall
	rejected int
}

// Bind adds the hook to its points.
func (d *Gate) Bind(h *agent.Hooks) {
	kit.MustConfig("answer.Gate", d.check())
	h.CheckDone.Add(d, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Observe(d)
	var names []kit.ToolName
	for i, c := range d.Conditions {
		if c, ok := c.(condition); ok && c.names != nil {
			names = append(names, c.names(fmt.Sprintf("Conditions[%d]", i))...)
		}
	}
	kit.WatchTools("answer.Gate", names...).AtStart(h)
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
			return fmt.Errorf("Conditions[%d] is nil; give a condition or leave it out", i)
		}
		if c, ok := g.(condition); ok && c.broken != nil {
			return fmt.Errorf("Conditions[%d]: %w", i, c.broken)
		}
	}
	return nil
}

// ObserveAfterTool records a finished call.
func (d *Gate) ObserveAfterTool(_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult]) {
	was := fired.Payload
	made := MadeCall{
		Tool: shorten.To(was.Call.Name, toolname.MaxStored), Step: was.Call.Step,
		Ran: was.Status == "" || was.Status == agent.CallSucceeded || was.Status == agent.CallFailed && was.Attempts > 0,
		OK:  fired.Err == nil && kit.Succeeded(was) && fired.Final.Err == "",
	}
	d.runs.Do(run, func(s *gateState) { s.calls = append(s.calls, made) })
}

// CheckDone checks the conditions.
func (d *Gate) CheckDone(ctx context.Context, run *agent.Run, asked agent.DoneRequest) (agent.CheckDoneOutcome, error) {
	a := Attempt{DoneRequest: asked}
	d.runs.Do(run, func(s *gateState) { a.Calls = slices.Clone(s.calls) })
	for i, g := range d.Conditions {
		feedback, err := kit.Recover(func() (string, error) { return g.Check(ctx, run, a) })
		if err == nil && feedback == "" {
			continue
		}
		d.runs.Do(run, func(s *gateState) { s.rejected++ })
		if err != nil {
			return nil, fmt.Errorf("Conditions[%d]: %w", i, err) // the point fails closed, which rejects the answer
		}
		return agent.RejectDone{Feedback: feedback, Reason: "done_gate"}, nil
	}
	return nil, nil
}

// ShouldStop stops a run after MaxRejections rejections.
func (d *Gate) ShouldStop(_ context.Context, run *agent.Run, at agent.Step) (signals []agent.EndRun, err error) {
	d.runs.Do(run, func(s *gateState) {
		if most := d.MaxRejections.Or(limit.None); s.rejected >= most && !at.Done {
			signals = []agent.EndRun{{
				Cause: agent.CauseRetryLimit, Message: fmt.Sprintf("Rejections reached: %d/%d", s.rejected, most),
				Detail: map[string]any{"rejections": s.rejected, "maxRejections": most},
			}}
		}
	})
	return signals, nil
}

// A condition is a Condition of this package.
type condition struct {
	check  func(a Attempt) (feedback string)
	names  func(at string) []kit.ToolName // of tools; nil: none
	broken error                          // why the condition cannot be used
}

func (c condition) Check(_ context.Context, _ *agent.Run, a Attempt) (string, error) {
	return c.check(a), nil
}

// MinTools returns a condition that requires n successful tool calls before an answer. Refused, skipped and failed
// calls do not count.
func MinTools(n int) Condition {
	var broken error
	if n < 1 {
		broken = fmt.Errorf("MinTools(%d); give 1 or more", n)
	}
	return condition{broken: broken, check: func(a Attempt) string {
		made := 0
		for _, c := range a.Calls {
			if c.OK {
				made++
			}
		}
		if made >= n {
			return ""
		}
		return fmt.Sprintf("Insufficient evidence: only %d tools called. Call at least %d before concluding.", made, n)
	}}
}

// RequireTool returns a condition that requires a successful call of the tool check after the last change, and at least
// one.
//
// A change is a call of a tool in changes that was started, even if it failed. In these names "*" matches any text.
// Calls of one step run in parallel, so a check in the same step as a change does not count. A cached result does not
// count either. Changes made by a sub-agent count if the tool that starts it is in changes.
func RequireTool(check string, changes ...string) Condition {
	broken := toolname.Check("changes", changes)
	if check == "" {
		broken = errors.New("RequireTool without a tool; name the tool that checks")
	}
	names := func(at string) []kit.ToolName {
		at += ": RequireTool"
		return append(kit.ToolNames(at+" changes", changes), kit.ExactTool(at, check))
	}
	return condition{broken: broken, names: names, check: func(a Attempt) string {
		passed, changed := false, -1 // the step of the last change
		for _, c := range a.Calls {
			switch {
			case c.Tool == check:
				passed = c.OK && (c.Step == 0 || c.Step != changed)
			case c.Ran && toolname.Match(changes, c.Tool):
				passed, changed = false, c.Step
			}
		}
		if passed {
			return ""
		}
		return fmt.Sprintf("%s has not passed yet; run it and fix failures first", check)
	}}
}

// AnswerCheck returns a condition on the answer itself. f returns the problem, or "".
func AnswerCheck(f func(answer string) string) Condition {
	if f == nil {
		return condition{broken: errors.New("AnswerCheck(nil); give a function")}
	}
	return condition{check: func(a Attempt) string { return f(a.Answer) }}
}

// AnswerSchema returns a condition that requires the answer to be JSON that matches a JSON Schema. The feedback names
// the path of the mismatch. If the schema is invalid, Bind panics.
func AnswerSchema(schema string) Condition {
	var s jsonschema.Schema
	err := json.Unmarshal([]byte(schema), &s)
	if err != nil {
		return condition{broken: fmt.Errorf("AnswerSchema: %w; give a JSON Schema", err)}
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return condition{broken: fmt.Errorf("AnswerSchema: %w; give a JSON Schema", err)}
	}
	return condition{check: func(a Attempt) string {
		var answer any
		d := json.NewDecoder(strings.NewReader(a.Answer))
		if err := d.Decode(&answer); err != nil || strings.Trim(a.Answer[d.InputOffset():], " \t\r\n") != "" {
			return "The answer must be one JSON value and nothing else, and it is not. Answer again."
		}
		if err := resolved.Validate(answer); err != nil {
			return shorten.To("The answer does not fit its schema: "+err.Error()+". Answer again.", 1000)
		}
		return ""
	}}
}
