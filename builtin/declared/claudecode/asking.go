package claudecode

import (
	"context"
	"errors"

	"github.com/hookgen/hookgen/generated/agent"
)

// BeforeAsk runs the scripts of PermissionRequest, which can answer instead of the person.
func (h *Hooks) BeforeAsk(ctx context.Context, run *agent.Run, q agent.Question) (agent.BeforeAskOutcome, error) {
	if reason := h.ambiguous(q.Call); reason != "" {
		return agent.Refuse{Reason: reason}, nil
	}
	o := h.about("PermissionRequest", q.Call)
	delete(o.fields, "tool_use_id")
	v, err := h.fire(ctx, run, o)
	switch {
	case err != nil:
		return nil, err
	case v.stops:
		return agent.Refuse{Reason: v.stopReason, StopRun: true}, nil
	case v.request == nil:
		return nil, nil
	case v.request.Behavior == "deny":
		return agent.Refuse{Reason: v.request.Message, StopRun: v.request.Interrupt}, nil
	}
	approve := agent.Approve{Reason: v.request.Message}
	if input := v.request.UpdatedInput; input != nil {
		if approve.Args, err = h.arguments(q.Call.Name, input); err != nil {
			return nil, err
		}
	}
	if len(v.request.UpdatedPermissions) > 0 {
		h.report(errors.New("the updatedPermissions of a PermissionRequest hook are not kept; write rules of " +
			"permission.Rules"))
	}
	return approve, nil
}

// OnPermissionDenied runs the scripts of PermissionDenied.
func (h *Hooks) OnPermissionDenied(ctx context.Context, run *agent.Run, d agent.Denial) error {
	o := h.about("PermissionDenied", d.Call)
	o.fields["reason"] = d.Reason
	_, err := h.fire(ctx, run, o)
	return err
}
