package repair

import (
	"cmp"
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

// SchemaRetry explains to the model which arguments a tool accepts, after a call failed because of its arguments.
//
// For example, a model calls read with {"file": "a"} instead of {"path": "a"}. The output of the failed call then lists
// the parameters, such as "- path (string, required)", and asks the model to try once more. Err stays set, so records
// still show the call as a failure.
//
// SchemaRetry rewrites results at AfterTool, with the priority Mutation. The zero value is ready to use. It counts
// explanations for each run and tool and is safe for concurrent use. Bind panics on a negative bound.
type SchemaRetry struct {
	MaxPerTool limit.Bound[int] // explanations for each tool and run; default 1

	runs hookkit.PerRun[map[string]int]
}

// Bind adds the hook to AfterTool.
func (s *SchemaRetry) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.SchemaRetry", s.MaxPerTool.Check("MaxPerTool"))
	h.AfterTool.Add(s, hookkit.Priority(hookkit.Mutation))
}

// AfterTool explains a call with wrong arguments.
func (s *SchemaRetry) AfterTool(
	_ context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	schema, ok := kit.Schema(run, result.Call.Name)
	if result.Err == "" || result.Kind != agent.FailArguments || !ok {
		return nil, nil
	}
	var explain bool
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
	result.Output = fmt.Sprintf("The call of %s failed because its arguments are wrong: %s\n"+
		"%s accepts only these parameters:\n%s\n"+
		"Call it once more with the right names and types; if that fails too, stop and say so.",
		schema.Name, shorten.To(result.Err, 500), schema.Name, parameters(schema.Parameters))
	return agent.ReplaceAfterTool(result, "explained the schema"), nil
}

// parameters lists the parameters in a JSON Schema, one line each.
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
		_ = json.Unmarshal(p.Value, &of) // a property may be true, which allows anything
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

// typeName renders the type in a JSON Schema as words.
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

// ToolErrorRetry asks the model to stop calling a tool that keeps failing.
//
// For example, with the default MaxFailures of 2, the first failure of search is passed on unchanged. After the second
// failure in a row, the output is a JSON object with "retries_exhausted": true and Suggest. Err stays set.
//
// A success resets the count of the tool. Failures because of wrong arguments do not count. Refused calls and calls of
// unknown tools do not count either, because they never reached the tool.
//
// ToolErrorRetry rewrites results at AfterTool, at the priority Mutation-1, after [SchemaRetry]. The zero value is
// ready to use. It counts failures for each run and tool and is safe for concurrent use. Bind panics on a negative
// bound.
type ToolErrorRetry struct {
	MaxFailures limit.Bound[int] // default 2
	Suggest     string           // "": "This tool is failing. Try a different tool or answer without it."

	runs hookkit.PerRun[map[string]int]
}

// Bind adds the hook to AfterTool.
func (e *ToolErrorRetry) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.ToolErrorRetry", e.MaxFailures.Check("MaxFailures"))
	h.AfterTool.Add(e, hookkit.Priority(hookkit.Mutation-1))
}

// AfterTool counts a failure and, from MaxFailures on, asks the model to stop.
func (e *ToolErrorRetry) AfterTool(
	_ context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	failed := result.Err != ""
	if failed && (result.Kind == agent.FailArguments || result.Attempts == 0) {
		return nil, nil
	}
	var failures int
	e.runs.Do(run, func(n *map[string]int) {
		if *n == nil {
			*n = make(map[string]int)
		}
		if !failed {
			delete(*n, result.Call.Name)
			return
		}
		(*n)[result.Call.Name]++
		failures = (*n)[result.Call.Name]
	})
	if !failed || failures < e.MaxFailures.Or(2) {
		return nil, nil
	}
	suggest := cmp.Or(e.Suggest, "This tool is failing. Try a different tool or answer without it.")
	text, _ := json.Marshal(struct { // texts and booleans can always be encoded
		OK        bool   `json:"ok"`
		Error     string `json:"error"`
		Exhausted bool   `json:"retries_exhausted"`
		Suggest   string `json:"suggest"`
	}{false, shorten.To(result.Err, 500), true, suggest})
	result.Output, result.NoRetry = string(text), true
	return agent.ReplaceAfterTool(result, "retries exhausted"), nil
}
