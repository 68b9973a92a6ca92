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
)

// DenyTools denies calls by the name of the tool. For example, Deny: []string{"shell_*"} denies all tools whose names
// begin with shell_. Use [Rules] if the decision depends on the arguments.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// If Allow is not nil, tools that are not in Allow are denied with the reason "tool x is not in the allow list". Tools
// in Deny are denied with the reason "tool x is denied by policy", even if Allow contains them. On all other tools the
// hook does not vote. The model receives the reason as the error of the call, and the other calls of the reply
// continue. In a name, "*" matches any text.
type DenyTools struct {
	// Allow are the names of the tools that may run. Nil: all tools. An empty list that is not nil denies every call.
	Allow []string
	// Deny are the names of the tools that may not run. Allow or Deny is required.
	Deny []string
	// Reason replaces both reasons above. "": keep them.
	Reason string
}

// Bind adds the hook. It panics if both lists are missing or a name is empty.
func (d *DenyTools) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.DenyTools", d.check())
	names := append(kit.ToolNames("Allow", d.Allow), kit.ToolNames("Deny", d.Deny)...)
	watch := kit.WatchTools("permission.DenyTools", names...)
	if d.Allow == nil {
		watch = watch.Only()
	}
	watch.OnPermission(h, d, hookkit.Priority(hookkit.Safety))
}

func (d *DenyTools) check() error {
	if len(d.Deny) == 0 && d.Allow == nil {
		return errors.New("there is neither an Allow nor a Deny list, so nothing would be denied; give one")
	}
	return errors.Join(toolname.Check("Allow", d.Allow), toolname.Check("Deny", d.Deny))
}

// OnPermission denies the call if the lists exclude its tool.
func (d *DenyTools) OnPermission(_ context.Context, _ *agent.Run,
	call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	why := ""
	switch {
	case d.Allow != nil && !toolname.Match(d.Allow, call.Name):
		why = "is not in the allow list"
	case toolname.Match(d.Deny, call.Name):
		why = "is denied by policy"
	default:
		return nil, nil
	}
	tool := shorten.To(call.Name, toolname.MaxDisplay)
	return agent.Deny{Reason: cmp.Or(d.Reason, fmt.Sprintf("tool %s %s", tool, why))}, nil
}
