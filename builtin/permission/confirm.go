package permission

import (
	"context"
	"errors"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Confirm has a person confirm calls of the tools that it names. Other tools are not asked about.
//
// Points: OnPermission (Ask). Tier: Safety. State: none.
//
// The person is asked by the loop's approver ([Terminal] is one), once, and sees the call as it would be
// dispatched, after every rewrite, with its arguments decoded; those that cannot be decoded are shown as they
// are. Nobody is asked about a call that another hook denies. Without an approver, or if it fails, says no or
// does not answer in time, the call is declined: its tool does not run, the model is told so, and every record
// holds an error. The words of a no are the approver's: DeclineText of a Terminal, "user declined" by default.
type Confirm struct {
	// Tools are the names of the tools that need a yes; "*" stands for any text in a name, alone for all tools.
	// Required.
	Tools []string
	// Reason is for the approver and for records. "": that the tool needs a confirmation.
	Reason string
}

// Bind adds the hook to OnPermission.
func (c *Confirm) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.Confirm", c.check())
	h.OnPermission.Add(c, hookkit.Priority(hookkit.Safety))
}

func (c *Confirm) check() error {
	if len(c.Tools) == 0 {
		return errors.New(`Tools is empty, so nothing would be confirmed; name the tools, "*" for all`)
	}
	return toolname.Check("Tools", c.Tools)
}

// OnPermission asks about a call of a named tool.
func (c *Confirm) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	if !toolname.Match(c.Tools, call.Name) {
		return nil, nil
	}
	reason := c.Reason
	if reason == "" {
		reason = shorten.To(call.Name, toolname.MaxDisplay) + " needs a confirmation"
	}
	return agent.Ask{Prompt: callText(call), Reason: reason}, nil
}
