package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// SchemaRetry tells a model in words what a tool accepts, after a call that failed for its arguments.
//
// It rewrites results at AfterTool, in the tier Mutation. The Output of a call whose failure is of the kind arguments
// says that the arguments are wrong, the error, and the tool's parameters, one line each with name, type, required or
// optional, and description; then it asks for one more try. Err stays set, so the call stays a failure in every record.
// State: per run, how often each tool's calls were explained.
type SchemaRetry struct {
	MaxPerTool limit.Bound[int] // explanations per tool and run; default 1

	runs hookkit.PerRun[map[string]int]
}

// Bind adds the hook. A negative MaxPerTool panics.
func (s *SchemaRetry) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.SchemaRetry", s.MaxPerTool.Check("MaxPerTool"))
	h.AfterTool.Add(s, hookkit.Priority(hookkit.Mutation))
}

// AfterTool explains a call with wrong arguments.
func (s *SchemaRetry) AfterTool(_ context.Context, run *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	if result.Err == "" || result.Kind != agent.FailArguments || run.Env == nil || run.Env.Tools == nil {
		return nil, nil
	}
	schema, ok := run.Env.Tools.Lookup(result.Call.Name)
	if !ok {
		return nil, nil
	}
	explain := false
	s.runs.Do(run, func(n *map[string]int) {
		if *n == nil {
			*n = make(map[string]int)
		}
		if explain = (*n)[schema.Name] < s.MaxPerTool.Or(1); explain {
			(*n)[schema.Name]++
		}
	})
	if !explain {
		return nil, nil
	}
	result.Output = fmt.Sprintf("The call of %s failed because its arguments are wrong: %s\n%s accepts only these parameters:\n%s\nCall it once more with the right names and types; if that fails too, stop and say so.",
		schema.Name, shorten.To(result.Err, 500), schema.Name, parameters(schema.Parameters))
	return agent.ReplaceAfterTool(result, "explained the schema"), nil
}

// parameters lists the parameters of a JSON Schema of arguments, one line each.
func parameters(schema json.RawMessage) string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &s) != nil {
		return "(its schema cannot be read)"
	}
	properties, _ := jsonx.Members(s.Properties, -1)
	if len(properties) == 0 {
		return "(no parameters)"
	}
	lines := make([]string, len(properties))
	for i, p := range properties {
		var of struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
		}
		if json.Unmarshal(p.Value, &of) != nil {
			of.Type = "anything"
		}
		need := "optional"
		if slices.Contains(s.Required, p.Key) {
			need = "required"
		}
		lines[i] = fmt.Sprintf("- %s (%s, %s)", shorten.Line(p.Key, 100), typeName(of.Type), need)
		if of.Description != "" {
			lines[i] += ": " + shorten.Line(of.Description, 300)
		}
	}
	return strings.Join(lines, "\n")
}

// typeName is the type of a JSON Schema in words.
func typeName(t any) string {
	switch t := t.(type) {
	case string:
		return shorten.Line(t, 50)
	case []any:
		words := make([]string, len(t))
		for i, x := range t {
			words[i] = typeName(x)
		}
		return strings.Join(words, " or ")
	}
	return "anything"
}
