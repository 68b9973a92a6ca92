package repair

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

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
