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

// DenyTools denies calls of tools by their names.
//
// Points: OnPermission (Deny). Tier: Safety. State: none.
//
// The Allow list comes first: where there is one and the tool is not in it, the call is denied, "tool x is not in
// the allow list". Then a tool in Deny is denied, "tool x is denied by policy". About all others it has no opinion.
// The model is told the reason as the call's error, every record holds it, and the other calls of the reply go
// on. In a name, "*" stands for any text: "shell_*" for all tools that begin with shell_.
type DenyTools struct {
	// Allow are the names of the tools that may run. Nil: there is no such list. An empty list that is not nil
	// denies every call.
	Allow []string
	// Deny are the names of tools that may not run, in Allow or not.
	Deny []string
	// Reason takes the place of the reasons above. "": they stand.
	Reason string
}

// Bind adds the hook to OnPermission.
func (d *DenyTools) Bind(h *agent.Hooks) {
	kit.MustConfig("permission.DenyTools", d.check())
	h.OnPermission.Add(d, hookkit.Priority(hookkit.Safety))
}

func (d *DenyTools) check() error {
	if len(d.Deny) == 0 && d.Allow == nil {
		return errors.New("there is neither an Allow nor a Deny list, so nothing would be denied; give one")
	}
	return errors.Join(toolname.Check("Allow", d.Allow), toolname.Check("Deny", d.Deny))
}

// OnPermission looks at the tool's name.
func (d *DenyTools) OnPermission(_ context.Context, _ *agent.Run, call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
	why := ""
	switch {
	case d.Allow != nil && !toolname.Match(d.Allow, call.Name):
		why = "is not in the allow list"
	case toolname.Match(d.Deny, call.Name):
		why = "is denied by policy"
	default:
		return nil, nil
	}
	return agent.Deny{Reason: cmp.Or(d.Reason, fmt.Sprintf("tool %s %s", shorten.To(call.Name, toolname.MaxDisplay), why))}, nil
}
