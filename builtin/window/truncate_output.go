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

// TruncateOutput cuts what tools return to a number of characters.
//
// It rewrites results at AfterTool, in the tier Mutation, and has no state. An Output or an Err over the limit keeps
// its beginning and gets a line that says how many characters are missing; the line is within the limit, so its
// own work passes it unchanged. JSON that is cut is none any more, and the line says so. Characters are whole.
// What hooks behind it add to a result is beside the limit; give it a lower Priority to have it cut that too.
type TruncateOutput struct {
	MaxChars limit.Bound[int]            // default 2000
	PerTool  map[string]limit.Bound[int] // by the name of the tool, instead of MaxChars
}

// Bind adds the hook. A negative bound and a PerTool of 0 panic.
func (o *TruncateOutput) Bind(h *agent.Hooks) {
	kit.MustConfig("window.TruncateOutput", o.MaxChars.Check("MaxChars"))
	for name, n := range o.PerTool {
		err := n.Check(fmt.Sprintf("PerTool[%q]", name))
		if n == 0 {
			err = fmt.Errorf("PerTool[%q] is 0; give a number of characters, or limit.None", name)
		}
		kit.MustConfig("window.TruncateOutput", err)
	}
	own := &TruncateOutput{MaxChars: cmp.Or(o.MaxChars, 2000), PerTool: maps.Clone(o.PerTool)}
	h.AfterTool.Add(own, hookkit.Priority(hookkit.Mutation))
}

// AfterTool cuts a result that is over its limit.
func (o *TruncateOutput) AfterTool(_ context.Context, _ *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	bound, ok := o.PerTool[result.Call.Name]
	if !ok {
		bound = o.MaxChars
	}
	most := bound.Or(2000)
	output, err := shorten.WithNote(result.Output, most, ""), shorten.WithNote(result.Err, most, "")
	if output == result.Output && err == result.Err {
		return nil, nil
	}
	result.Output, result.Err = output, err
	return agent.ReplaceAfterTool(result, fmt.Sprintf("truncated to %d characters", most)), nil
}
