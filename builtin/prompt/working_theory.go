package prompt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// WorkingTheory shows the model its own current theory in every prompt.
//
// For example, the model adds "__theory__": "the cache is stale" to the arguments of any tool call. The next prompts
// then contain "Current working theory: the cache is stale". Before the first theory they say "No theory yet". A theory
// is one line of at most 500 characters. A blank theory is ignored.
//
// WorkingTheory observes BeforeTool, so a theory counts even if the call is refused. With the priority InputShape it
// also removes the argument from the call if the tool does not declare it, because the tool might refuse it. Arguments
// that are not a JSON object are not changed.
//
// The zero value is ready to use. WorkingTheory keeps one theory for each run and is safe for concurrent use.
type WorkingTheory struct {
	theory hookkit.PerRun[string]
}

// maxTheory bounds a theory in characters.
const maxTheory = 500

// Bind adds the hook to its points.
func (n *WorkingTheory) Bind(h *agent.Hooks) {
	h.Briefing.Add(n)
	h.BeforeTool.Add(n, hookkit.Priority(hookkit.InputShape))
	h.BeforeTool.Observe(n)
}

// theoryArgument is the name of the argument.
const theoryArgument = "__theory__"

// Briefing contributes the theory.
func (n *WorkingTheory) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	return []string{"Current working theory: " + cmp.Or(n.theory.Load(run), "No theory yet")}, nil
}

// ObserveBeforeTool records the theory in the arguments of a call.
func (n *WorkingTheory) ObserveBeforeTool(
	_ context.Context, run *agent.Run, fired agent.BeforeToolFired[agent.ToolCallRequest],
) {
	_, value := splitTheory(fired.Payload.Args)
	if string(value) == "null" {
		return
	}
	if theory := shorten.JSON(value, maxTheory); theory != "" {
		n.theory.Do(run, func(t *string) { *t = theory })
	}
}

// BeforeTool removes the theory from a call if the tool does not declare the argument.
func (n *WorkingTheory) BeforeTool(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	rest, value := splitTheory(call.Args)
	if value == nil || declaresTheory(run, call.Name) {
		return nil, nil
	}
	call.Args = rest
	return agent.ReplaceBeforeTool(call, "the theory is not for the tool"), nil
}

// splitTheory returns the arguments without the theory, and the last theory in them, or nil.
func splitTheory(args json.RawMessage) (rest, value json.RawMessage) {
	if !bytes.Contains(args, []byte(theoryArgument)) || !json.Valid(args) {
		return args, nil
	}
	all, _ := jsonx.Members(args, -1)
	var b strings.Builder
	for _, m := range all {
		if m.Key == theoryArgument {
			value = m.Value
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonx.Encode(m.Key))
		b.WriteByte(':')
		b.Write(m.Value)
	}
	return json.RawMessage("{" + b.String() + "}"), value
}

// declaresTheory reports whether the parameters of a tool declare the argument.
func declaresTheory(run *agent.Run, tool string) bool {
	schema, ok := kit.Schema(run, tool)
	if !ok {
		return true // the tool is unknown, so leave the call unchanged
	}
	var parameters struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema.Parameters, &parameters) != nil {
		return false
	}
	_, ok = parameters.Properties[theoryArgument]
	return ok
}
