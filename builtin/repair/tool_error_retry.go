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

// ToolErrorRetry tells a model to give a tool up that keeps failing.
//
// It rewrites results at AfterTool, just below the tier Mutation, after [SchemaRetry]. The first MaxFailures − 1
// failures in a row of a tool pass. From the next one on, the Output is JSON: ok false, error, retries_exhausted true,
// suggest. Err stays set. A success begins the count of that tool anew; wrong arguments, and calls that did not reach
// the tool (refused, denied, unknown), do not count. State: per run, failures per tool.
type ToolErrorRetry struct {
	MaxFailures limit.Bound[int] // default 2
	Suggest     string           // "": "This tool is failing. Try a different tool or answer without it."

	runs hookkit.PerRun[map[string]int]
}

// Bind adds the hook. A negative MaxFailures panics.
func (e *ToolErrorRetry) Bind(h *agent.Hooks) {
	kit.MustConfig("repair.ToolErrorRetry", e.MaxFailures.Check("MaxFailures"))
	h.AfterTool.Add(e, hookkit.Priority(hookkit.Mutation-1))
}

// AfterTool counts a failure and, from the limit on, says to give up.
func (e *ToolErrorRetry) AfterTool(_ context.Context, run *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	failed := result.Err != ""
	if failed && (result.Kind == agent.FailArguments || result.Attempts == 0) {
		return nil, nil
	}
	failures := 0
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
	text, err := json.Marshal(struct {
		OK        bool   `json:"ok"`
		Error     string `json:"error"`
		Exhausted bool   `json:"retries_exhausted"`
		Suggest   string `json:"suggest"`
	}{false, shorten.To(result.Err, 500), true, cmp.Or(e.Suggest, "This tool is failing. Try a different tool or answer without it.")})
	if err != nil {
		return nil, err
	}
	result.Output, result.NoRetry = string(text), true
	return agent.ReplaceAfterTool(result, "retries exhausted"), nil
}
