package prompt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// WorkingTheory keeps what the model takes to be true while it works, and shows it in every prompt.
//
// The model states its theory in an argument of any tool call, __theory__ if Argument is empty. The last value
// that is not blank is kept for the run and contributed to Briefing, in the tier Observability, as "Current working
// theory: …", in one line and at most 500 characters; before there is one it says "No theory yet".
//
// It observes BeforeTool, so that a theory counts whatever becomes of the call, and there, in the tier InputShape,
// it also takes the argument out of calls of tools that do not declare it: tools that check their arguments would
// refuse them otherwise. Arguments that are no JSON object are left alone.
type WorkingTheory struct {
	Argument string

	theory hookkit.PerRun[string]
}

// maxTheory bounds a theory, in characters.
const maxTheory = 500

// Bind adds the hook to its points.
func (n *WorkingTheory) Bind(h *agent.Hooks) {
	h.Briefing.Add(n)
	h.BeforeTool.Add(n, hookkit.Priority(hookkit.InputShape))
	h.BeforeTool.Observe(n)
}

func (n *WorkingTheory) argument() string { return cmp.Or(n.Argument, "__theory__") }

// Briefing contributes the theory.
func (n *WorkingTheory) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	var theory string
	n.theory.Do(run, func(t *string) { theory = *t })
	return []string{"Current working theory: " + cmp.Or(theory, "No theory yet")}, nil
}

// ObserveBeforeTool keeps the theory that the model stated in a call.
func (n *WorkingTheory) ObserveBeforeTool(_ context.Context, run *agent.Run, fired agent.BeforeToolFired[agent.ToolCallRequest]) {
	_, value := n.split(fired.Payload.Args)
	if string(value) == "null" {
		return
	}
	if theory := shorten.JSON(value, maxTheory); theory != "" {
		n.theory.Do(run, func(t *string) { *t = theory })
	}
}

// BeforeTool takes the argument out of a call whose tool does not know it.
func (n *WorkingTheory) BeforeTool(_ context.Context, run *agent.Run, call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
	rest, value := n.split(call.Args)
	if value == nil || n.declared(run, call.Name) {
		return nil, nil
	}
	call.Args = rest
	return agent.ReplaceBeforeTool(call, "the theory is not for the tool"), nil
}

// split returns the arguments without the theory, and its last value, nil if there is none.
func (n *WorkingTheory) split(args json.RawMessage) (rest, value json.RawMessage) {
	if !bytes.Contains(args, []byte(n.argument())) || !json.Valid(args) {
		return args, nil
	}
	all, _ := jsonx.Members(args, -1)
	var b strings.Builder
	for _, m := range all {
		if m.Key == n.argument() {
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

// declared reports whether a tool's parameters have the argument.
func (n *WorkingTheory) declared(run *agent.Run, tool string) bool {
	schema, ok := toolSchema(run, tool)
	if !ok {
		return true // nobody knows; leave the call alone
	}
	var parameters struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema.Parameters, &parameters) != nil {
		return false
	}
	_, ok = parameters.Properties[n.argument()]
	return ok
}

// toolSchema returns the schema of a tool of the run.
func toolSchema(run *agent.Run, tool string) (agent.ToolSchema, bool) {
	if run == nil || run.Env == nil || run.Env.Tools == nil {
		return agent.ToolSchema{}, false
	}
	return run.Env.Tools.Lookup(tool)
}
