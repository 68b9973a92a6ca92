package window

import (
	"cmp"
	"context"
	"fmt"
	"maps"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// TruncateOutput cuts what tools return to a number of characters.
//
// It rewrites results at AfterTool, in the tier Mutation, and has no state. An Output or an Err over the limit keeps
// its beginning and gets a line that says how many characters are missing; the line is within the limit, so its
// own work passes it unchanged. JSON that is cut is none any more, and the line says so. Characters are whole.
// What hooks behind it add to a result is beside the limit; give it a lower Priority to have it cut that too.
type TruncateOutput struct {
	MaxChars int            // 0: 2000
	PerTool  map[string]int // instead of MaxChars, by the name of the tool; less than 0: no limit
}

// Bind adds the hook. A negative MaxChars and a PerTool of 0 panic.
func (o *TruncateOutput) Bind(h *agent.Hooks) {
	if o.MaxChars < 0 {
		kit.MustConfig("window.TruncateOutput", fmt.Errorf("MaxChars is %d; give a number of characters, or 0 for 2000", o.MaxChars))
	}
	for name, n := range o.PerTool {
		if n == 0 {
			kit.MustConfig("window.TruncateOutput", fmt.Errorf("PerTool[%q] is 0; give a number of characters, or less than 0 for no limit", name))
		}
	}
	own := &TruncateOutput{MaxChars: cmp.Or(o.MaxChars, 2000), PerTool: maps.Clone(o.PerTool)}
	h.AfterTool.Add(own, hookkit.Priority(hookkit.Mutation))
}

// AfterTool cuts a result that is over its limit.
func (o *TruncateOutput) AfterTool(_ context.Context, _ *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	limit, ok := o.PerTool[result.Call.Name]
	if !ok {
		limit = o.MaxChars
	}
	if limit < 0 {
		return nil, nil
	}
	output, err := shorten.WithNote(result.Output, limit, ""), shorten.WithNote(result.Err, limit, "")
	if output == result.Output && err == result.Err {
		return nil, nil
	}
	result.Output, result.Err = output, err
	return agent.ReplaceAfterTool(result, fmt.Sprintf("truncated to %d characters", limit)), nil
}
