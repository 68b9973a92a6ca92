package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/terminal"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Confirm asks a person before each call of the tools that it names, for example before every remove_file.
//
// Points: OnPermission (Ask). Tier: Safety. State: none.
//
// The loop's approver asks the person once; [Terminal] is an approver. The question shows the call as it would be
// dispatched, after all rewrites, with decoded arguments. If another hook denies the call, the person is not asked.
//
// Without an approver, or if it fails, declines or does not answer in time, the call is declined: the tool does not
// run, and the model and all records receive an error. The approver supplies the reason, for example DeclineText of a
// Terminal.
type Confirm struct {
	// Tools are the names of the tools that need a confirmation. "*" matches any text in a name, and by itself all tools.
	// Required.
	Tools []string
	// Reason is shown to the person and recorded. "": the tool needs a confirmation.
	Reason string
	// Choices are the answers that a person may give. For example, ChooseAllow and ChooseDeny let nobody change the
	// arguments or answer in place of the tool. None: all.
	Choices []agent.Choice
}

// Bind adds the hook. It panics if Tools is empty or contains an empty name.
func (c *Confirm) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.Confirm", c.check())
	kit.WatchTools("permission.Confirm", kit.ToolNames("Tools", c.Tools)...).Only().
		OnPermission(h, c, hookkit.Priority(hookkit.Safety))
}

func (c *Confirm) check() error {
	if len(c.Tools) == 0 {
		return errors.New(`Tools is empty, so nothing would be confirmed; name the tools, "*" for all`)
	}
	if err := agentspec.CheckChoices(c.Choices); err != nil {
		return fmt.Errorf("Choices: %w", err)
	}
	return toolname.Check("Tools", c.Tools)
}

// OnPermission asks about a call if its tool is in Tools.
func (c *Confirm) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome,
	error) {
	if !toolname.Match(c.Tools, call.Name) {
		return nil, nil
	}
	reason := cmp.Or(c.Reason, terminal.Escape(shorten.To(call.Name, toolname.MaxDisplay))+" needs a confirmation")
	return agent.Ask{Prompt: callText(call), Reason: reason, Choices: c.Choices}, nil
}
