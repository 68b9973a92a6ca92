package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/fingerprint"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/generated/agent"
)

// A decided is the decision of PreToolUse about a call.
type decided struct {
	args    []byte // that the scripts have seen
	verdict verdict
}

// named returns the name of a tool and its arguments as the scripts know them.
func (h *Hooks) named(c agent.ToolCallRequest) (name string, input map[string]any) {
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber() // scripts see numbers as the model wrote them
	if d.Decode(&input) != nil || input == nil {
		input = map[string]any{} // such arguments do not reach a tool
	}
	tool, ok := h.Tools[c.Name]
	if !ok {
		return c.Name, input
	}
	return tool.Name, renamed(input, tool.Fields)
}

// arguments returns an input of the scripts with the names of arguments of this agent.
func (h *Hooks) arguments(tool string, input json.RawMessage) (json.RawMessage, error) {
	fields := h.Tools[tool].Fields
	if len(fields) == 0 {
		return input, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(input, &members); err != nil {
		return nil, err
	}
	back := make(map[string]string)
	for ours, theirs := range fields {
		back[theirs] = ours
	}
	return json.Marshal(renamed(members, back))
}

// renamed returns the members of an object under their other names. A member that has another one's new name is left
// out.
func renamed[V any](members map[string]V, names map[string]string) map[string]V {
	out := make(map[string]V)
	for name, v := range members {
		if _, ok := names[name]; !ok {
			out[name] = v
		}
	}
	for name, other := range names {
		if v, ok := members[name]; ok {
			out[other] = v
		}
	}
	return out
}

// about returns an event about a tool call.
func (h *Hooks) about(event string, c agent.ToolCallRequest) occasion {
	name, input := h.named(c)
	return occasion{event: event, subject: name, tool: name, input: input, fields: map[string]any{
		"tool_name": name, "tool_input": input, "tool_use_id": c.ID,
	}}
}

// BeforeTool runs the scripts of PreToolUse.
func (h *Hooks) BeforeTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	if env := kit.Env(run); env != nil && env.Tools != nil {
		if _, ok := env.Tools.Lookup(call.Name); !ok {
			return nil, nil // the loop refuses a call of an unknown tool
		}
	}
	if len(call.Args) > 0 && !json.Valid(call.Args) {
		return nil, nil // the loop refuses it, unless another hook repairs it; then OnPermission runs the scripts
	}
	if reason := h.ambiguous(call); reason != "" {
		return agent.SkipTool{Result: agent.ToolCallResult{Err: reason, Kind: agent.FailArguments}, Reason: reason}, nil
	}
	v, err := h.fire(ctx, run, h.about("PreToolUse", call))
	if err != nil {
		return nil, err
	}
	if v.stops {
		return agent.EndTurn{Reply: v.stopReason, Reason: "a PreToolUse hook stopped the run"}, nil
	}
	before := call
	if v.updatedInput != nil && v.permission != "deny" {
		if call.Args, err = h.arguments(call.Name, v.updatedInput); err != nil {
			return nil, err
		}
	}
	h.runs.Do(run, func(s *state) {
		if s.step != call.Step || s.calls == nil {
			s.step, s.calls = call.Step, make(map[string]decided)
		}
		s.calls[call.ID] = decided{args: bytes.Clone(call.Args), verdict: v}
	})
	if v.blocks {
		name, _ := h.named(call)
		return agent.SkipTool{Reason: v.reason, Result: agent.ToolCallResult{
			Err: fmt.Sprintf("PreToolUse:%s hook error: %s", name, v.reason), Kind: agent.FailDenied, NoRetry: true,
		}}, nil
	}
	if !bytes.Equal(call.Args, before.Args) {
		return agent.ReplaceBeforeTool(call, "updatedInput"), nil
	}
	return nil, nil
}

// ambiguous returns why scripts cannot judge a call. For example, a script sees the "ls" of {"cmd": "ls", "CMD": "rm"},
// and the tool decodes the other command. Or the script finds no command in {"CMD": "rm"}, and the tool does.
func (h *Hooks) ambiguous(call agent.ToolCallRequest) string {
	args, err := toolargs.Decode(call)
	if err != nil {
		return "the arguments cannot be checked: " + err.Error()
	}
	for ours := range h.Tools[call.Name].Fields {
		for name := range args {
			if name != ours && toolargs.FoldName(name) == toolargs.FoldName(ours) {
				return fmt.Sprintf("the arguments cannot be checked: write %s instead of %s", ours, name)
			}
		}
	}
	return ""
}

// OnPermission votes as the scripts of PreToolUse decided. If the arguments have changed since, they decide again.
func (h *Hooks) OnPermission(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.OnPermissionOutcome, error) {
	var known decided
	var seen bool
	h.runs.Do(run, func(s *state) {
		if s.step == call.Step {
			known, seen = s.calls[call.ID]
		}
	})
	v := known.verdict
	if !seen || !bytes.Equal(known.args, call.Args) {
		if reason := h.ambiguous(call); reason != "" {
			return agent.Deny{Reason: reason}, nil
		}
		var err error
		if v, err = h.fire(ctx, run, h.about("PreToolUse", call)); err != nil {
			return nil, err
		}
		if v.updatedInput != nil && !v.blocks {
			return agent.Deny{Reason: "a PreToolUse hook would change the arguments once more"}, nil
		}
		if v.stops {
			h.stop(run, v.stopReason)
			return agent.Deny{Reason: v.stopReason}, nil
		}
	}
	switch {
	case v.blocks, v.permission == "deny":
		return agent.Deny{Reason: v.reason}, nil
	case v.permission == "ask", v.permission == "defer":
		return agent.Ask{Reason: v.reason}, nil
	case v.permission == "allow":
		return agent.Allow{Reason: v.reason}, nil
	}
	return nil, nil
}

// AfterTool runs the scripts of PostToolUse or PostToolUseFailure, and adds their texts and those of PreToolUse to the
// result.
func (h *Hooks) AfterTool(
	ctx context.Context, run *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	before := len(result.Context)
	result = result.Clone()
	h.runs.Do(run, func(s *state) {
		if s.step == result.Call.Step {
			result.Context = append(result.Context, s.calls[result.Call.ID].verdict.context...)
			delete(s.calls, result.Call.ID)
		}
	})
	output := result.Output
	if result.Attempts > 0 {
		o := h.about("PostToolUse", result.Call)
		o.fields["duration_ms"] = result.Elapsed.Milliseconds()
		if result.OK() {
			o.fields["tool_response"] = h.response(o.tool, result)
		} else {
			o.event = "PostToolUseFailure"
			o.fields["error"], o.fields["is_interrupt"] = result.Err, result.Kind == agent.FailCancelled
		}
		v, err := h.fire(ctx, run, o)
		if err != nil {
			return nil, err
		}
		if v.blocks && v.reason != "" {
			result.Context = append(result.Context, fmt.Sprintf("%s:%s hook feedback: %s", o.event, o.tool, v.reason))
		}
		result.Context = append(result.Context, v.context...)
		if len(v.updatedOutput) > 0 && result.OK() {
			result.Output = textOf(v.updatedOutput)
		}
		if v.stops {
			if len(result.Context) > before || result.Output != output {
				h.stop(run, v.stopReason) // an EndTurn would lose the changed result
			} else {
				return agent.EndTurn{Reply: v.stopReason, Reason: "a " + o.event + " hook stopped the run"}, nil
			}
		}
	}
	if len(result.Context) > before || result.Output != output {
		return agent.ReplaceAfterTool(result, "hooks of Claude Code"), nil
	}
	return nil, nil
}

// response returns the tool_response: the output if it is a JSON object, and else an object with the text.
func (h *Hooks) response(tool string, r agent.ToolCallResult) any {
	text := strings.TrimSpace(r.Output)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if tool == "Bash" {
		return map[string]any{"stdout": r.Output, "stderr": "", "interrupted": false, "isImage": false}
	}
	return map[string]any{"content": r.Output}
}

// textOf returns a text, or any other JSON as it is written.
func textOf(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}

// AfterStep runs the scripts of PostToolBatch.
func (h *Hooks) AfterStep(ctx context.Context, run *agent.Run, step agent.StepResult) error {
	if len(step.Results) == 0 {
		return nil
	}
	calls := make([]map[string]any, len(step.Results))
	for i, r := range step.Results {
		name, input := h.named(r.Call)
		calls[i] = map[string]any{
			"tool_name": name, "tool_input": input, "tool_use_id": r.Call.ID, "tool_response": r.Content(),
		}
	}
	v, err := h.fire(ctx, run, occasion{event: "PostToolBatch", fields: map[string]any{"tool_calls": calls}})
	if len(v.context) > 0 {
		text := strings.Join(v.context, "\n\n")
		h.runs.Do(run, func(s *state) { s.next.Put(fingerprint.Of([]byte(text)), text) })
	}
	if v.blocks {
		h.stop(run, v.reason)
	}
	if v.stops {
		h.stop(run, v.stopReason)
	}
	return err
}

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
