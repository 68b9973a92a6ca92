package window

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// TruncateOutput truncates the output of a tool to a number of characters.
//
// For example, a tool prints a log of a megabyte. The model gets the first characters and a line that says how many are
// missing; if the output was JSON, the line says that it must be read as text. The line counts towards the limit, so
// truncating twice changes nothing. Err is truncated the same way.
//
// TruncateOutput rewrites results at AfterTool with the priority Mutation. Text that later hooks add is not truncated;
// to include it, add TruncateOutput with a lower priority. The zero value is ready to use. TruncateOutput has no state
// and is safe for concurrent use.
type TruncateOutput struct {
	MaxChars limit.Bound[int]            // default 30,000
	PerTool  map[string]limit.Bound[int] // limits for single tools, by name; they replace MaxChars
}

// Bind adds the hook. It panics on a negative bound and on a PerTool entry of 0.
func (o *TruncateOutput) Bind(h *agent.Hooks) {
	kit.MustConfig("window.TruncateOutput", o.MaxChars.Check("MaxChars"))
	for name, n := range o.PerTool {
		err := n.Check(fmt.Sprintf("PerTool[%q]", name))
		if n == 0 {
			err = fmt.Errorf("PerTool[%q] is 0; give a number of characters, or limit.None", name)
		}
		kit.MustConfig("window.TruncateOutput", err)
	}
	own := &TruncateOutput{MaxChars: cmp.Or(o.MaxChars, 30_000), PerTool: maps.Clone(o.PerTool)}
	kit.WatchTools("window.TruncateOutput", kit.ToolKeys("PerTool", own.PerTool)...).
		AfterTool(h, own, hookkit.Priority(hookkit.Mutation))
}

// AfterTool truncates a result that exceeds its limit.
func (o *TruncateOutput) AfterTool(
	_ context.Context, _ *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	bound, ok := o.PerTool[result.Call.Name]
	if !ok {
		bound = o.MaxChars
	}
	return truncated(result, bound.Or(30_000), func(string) string { return "" })
}

// truncated truncates the texts of a result. note returns more text for the last line of a truncated output.
func truncated(
	result agent.ToolCallResult, most int, note func(output string) string,
) (agent.AfterToolOutcome, error) {
	output, err := shorten.WithNote(result.Output, most, ""), shorten.WithNote(result.Err, most, "")
	if output == result.Output && err == result.Err {
		return nil, nil
	}
	if output != result.Output {
		output = shorten.WithNote(result.Output, most, note(result.Output))
	}
	result.Output, result.Err = output, err
	return agent.ReplaceAfterTool(result, fmt.Sprintf("truncated to %d characters", most)), nil
}
