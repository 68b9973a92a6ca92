package claudecode

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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
		if approve.Remember, err = h.rules(v.request.UpdatedPermissions); err != nil {
			h.report(fmt.Errorf("the updatedPermissions of a PermissionRequest hook are not kept: %w", err))
		}
	}
	return approve, nil
}

// rules converts updatedPermissions to the rules of package permission. Only whole tools, and commands of Bash such as
// "git *", can be remembered.
func (h *Hooks) rules(updates json.RawMessage) (json.RawMessage, error) {
	var all []struct {
		Type     string `json:"type"`
		Behavior string `json:"behavior"`
		Rules    []struct {
			Tool    string `json:"toolName"`
			Content string `json:"ruleContent"`
		} `json:"rules"`
	}
	if err := json.Unmarshal(updates, &all); err != nil {
		return nil, err
	}
	var rules []map[string]any
	for _, update := range all {
		if update.Type != "addRules" {
			return nil, fmt.Errorf("the type %.*q is not addRules", maxQuoted, update.Type)
		}
		for _, r := range update.Rules {
			glob := ""
			switch {
			case r.Content == "" || r.Content == "*":
			case r.Tool == "Bash":
				glob = r.Content
				if prefix, ok := strings.CutSuffix(glob, ":*"); ok {
					glob = prefix + " *"
				}
			default:
				return nil, fmt.Errorf("the rule %.*q of %.*q has no counterpart", maxQuoted, r.Content, maxQuoted, r.Tool)
			}
			tools := h.toolsOf(r.Tool)
			for _, tool := range slices.Sorted(maps.Keys(tools)) {
				one := map[string]any{"tool": tool, "decision": update.Behavior}
				if glob != "" {
					one["command"] = map[string]any{"arg": tools[tool], "globs": []string{glob}}
				}
				rules = append(rules, one)
			}
		}
	}
	return json.Marshal(rules)
}

// toolsOf returns the tools of this agent that have a name in Claude Code, with the argument that is the command there.
// For example, an agent has run_command and run_in_container, and both are Bash.
func (h *Hooks) toolsOf(theirs string) map[string]string {
	tools := make(map[string]string)
	if _, renamed := h.Tools[theirs]; !renamed {
		tools[theirs] = "command"
	}
	for ours, tool := range h.Tools {
		if tool.Name != theirs {
			continue
		}
		tools[ours] = "command"
		for our, their := range tool.Fields {
			if their == "command" {
				tools[ours] = our
			}
		}
	}
	return tools
}

// OnPermissionDenied runs the scripts of PermissionDenied.
func (h *Hooks) OnPermissionDenied(ctx context.Context, run *agent.Run, d agent.Denial) error {
	o := h.about("PermissionDenied", d.Call)
	o.fields["reason"] = d.Reason
	_, err := h.fire(ctx, run, o)
	return err
}
