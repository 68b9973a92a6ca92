package record

import (
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// facts collects the AuditFacts of a payload.
type facts struct {
	AuditFacts
	step  int
	took  time.Duration
	timed bool
	data  map[string]any
}

// facts extracts the facts of a payload. Conversations are counted instead of copied, because their parts have records
// of their own.
func (a *Audit) facts(payload any) facts {
	f := facts{data: make(map[string]any)}
	switch p := payload.(type) {
	case agent.ToolCallRequest:
		a.call(&f, p)
	case agent.ToolCallResult:
		a.call(&f, p.Call)
		f.Result, f.Err, f.Status, f.Attempt = a.text(p.Output), a.text(p.Err), a.text(string(p.Status)), p.Attempts
		f.DecidedBy, f.Why = a.text(p.By), a.text(p.Reason)
		f.success(kit.Succeeded(p))
		f.lasted(p.Elapsed)
		f.data["kind"], f.data["no_retry"] = string(p.Kind), p.NoRetry
		if len(p.Context) > 0 {
			f.data["context"] = p.Context
		}
	case agent.ToolFailure:
		a.call(&f, p.Call)
		f.Err, f.Attempt = a.text(p.Err), p.Attempt
		f.success(false)
		f.lasted(p.Elapsed)
		f.data["kind"], f.data["will_retry"] = string(p.Kind), p.WillRetry
	case agent.ToolProgress:
		a.call(&f, p.Call)
		f.data["stage"], f.data["progress"] = p.Stage, a.raw(p.Data)
	case agent.ToolsDisabled:
		a.call(&f, p.Call)
		f.success(false)
	case agent.Question:
		a.call(&f, p.Call)
		f.DecidedBy, f.Why = a.text(p.By), a.text(p.Reason)
		f.data["prompt"], f.data["question"] = p.Prompt, p.ID
	case agent.Grant:
		a.call(&f, p.Call)
		f.DecidedBy, f.Why = a.text(p.By), a.text(p.Reason)
		f.success(true)
		f.data["asked_by"], f.data["remember"] = p.Question.By, a.raw(p.Remember)
		f.data["question"], f.data["answered_by"], f.data["answered_at"] = p.Question.ID, p.AnsweredBy, p.AnsweredAt
	case agent.Denial:
		a.call(&f, p.Call)
		f.DecidedBy, f.Why = a.text(p.By), a.text(p.Reason)
		f.success(false)
		f.data["kind"], f.data["answered_by"], f.data["answered_at"] = string(p.Kind), p.AnsweredBy, p.AnsweredAt
	case agent.Handoff:
		a.call(&f, p.Call)
		f.data["from"], f.data["to"], f.data["task"] = p.From, p.To, p.Task
	default:
		a.modelFacts(&f, payload)
	}
	f.Data = a.object(f.data) // compared with the facts before the hooks; encoded again after additions
	return f
}

func (a *Audit) modelFacts(f *facts, payload any) {
	switch p := payload.(type) {
	case agent.LLMRequest:
		f.step = p.Step
		f.data["model"], f.data["messages"], f.data["tools"] = p.Model, len(p.Messages), len(p.Tools)
		f.data["max_tokens"], f.data["tool_choice"] = p.MaxTokens, p.ToolChoice
	case agent.LLMResponse:
		f.step = p.Step
		f.Result = a.text(p.Content)
		f.lasted(p.Elapsed)
		var calls []any
		for _, c := range p.ToolCalls {
			calls = append(calls, map[string]any{"id": c.ID, "name": c.Name})
		}
		f.data["tool_calls"], f.data["finish_reason"], f.data["model"] = calls, p.FinishReason, p.Model
		f.data["usage"] = usageFacts(p.Usage)
	case agent.ContextUse:
		f.step = p.Step
		f.data["tokens"], f.data["window"], f.data["messages"] = p.Tokens, p.Window, len(p.Messages)
	case agent.Compaction:
		f.step = p.Step
		f.data["cause"], f.data["detail"], f.data["by"] = string(p.Reason), p.Detail, p.By
		f.data["messages"], f.data["tokens"] = len(p.Messages), p.Tokens
	case agent.Compacted:
		f.step = p.Step
		f.Err = a.text(p.Err)
		f.data["cause"], f.data["before"], f.data["after"] = string(p.Reason), p.Before, p.After
		f.data["summary"], f.data["messages"], f.data["model_calls"] = p.Summary, len(p.Messages), p.ModelCalls
	default:
		a.runFacts(f, payload)
	}
}

func (a *Audit) runFacts(f *facts, payload any) {
	switch p := payload.(type) {
	case agent.RunStart:
		f.data["task"], f.data["messages"], f.data["resumed"] = p.Task, len(p.Messages), p.Resumed
	case agent.AgentResult:
		f.Result, f.Err, f.DecidedBy = a.text(p.Reply), a.text(p.Err), a.text(p.EndedBy)
		f.success(p.Err == "" && !p.Stop.Cause.Forced())
		f.lasted(p.Elapsed)
		f.data["stop"], f.data["signals"] = signalFacts(p.Stop), signalsFacts(p.Signals)
		f.data["steps"], f.data["model_calls"], f.data["tool_calls"] = p.Steps, p.ModelCalls, len(p.Calls)
		f.data["usage"], f.data["handed_off_to"], f.data["warnings"] = usageFacts(p.Usage), p.HandedOffTo, p.Warnings
		if p.Suspended != nil {
			f.data["suspended"] = p.Suspended.ID
		}
	case agent.RunError:
		f.Err = a.text(p.Err)
		f.success(false)
		f.data["where"] = p.Where
	case agent.Stopping:
		f.data["signals"] = signalsFacts(p.Signals)
	case agent.Step:
		f.step = p.Number
		f.data["max"], f.data["tokens"], f.data["done"] = p.Max, p.Usage.Total(), p.Done
	case agent.StepResult:
		f.step = p.Step.Number
		f.Err = a.text(p.Err)
		f.success(p.Err == "")
		f.data["tool_calls"], f.data["suspended"] = len(p.Results), p.Suspended
	case agent.DoneRequest:
		f.Result = a.text(p.Answer)
		f.data["rejections"] = p.Rejections
		a.callOf(f, p.Call)
	case agent.DoneAccepted:
		f.Result = a.text(p.Answer)
		a.callOf(f, p.Call)
	case agent.BudgetExceeded:
		f.data["kind"], f.data["used"], f.data["limit"] = string(p.Kind), p.Used, p.Limit
		f.data["estimated"], f.data["detail"], f.data["by"] = p.Estimated, p.Detail, p.By
		a.callOf(f, p.Call)
	case agent.Subagent:
		f.data["id"], f.data["name"], f.data["task"], f.data["handoff"] = p.ID, p.Name, p.Task, p.Handoff
	case agent.SubagentDone:
		f.Err = a.text(p.Result.Err)
		f.success(p.Result.Err == "" && !p.Result.Forced())
		f.data["id"], f.data["name"], f.data["steps"], f.data["model_calls"] = p.ID, p.Name, p.Steps, p.ModelCalls
	}
}

func (a *Audit) call(f *facts, c agent.ToolCallRequest) {
	f.step = c.Step
	f.Tool, f.CallID, f.Args = a.text(c.Name), a.text(c.ID), a.raw(c.Args)
}

func (a *Audit) callOf(f *facts, c *agent.ToolCallRequest) {
	if c != nil {
		a.call(f, *c)
	}
}

func (f *facts) success(ok bool) { f.Success = &ok }

func (f *facts) lasted(d time.Duration) { f.took, f.timed = d, true }

// usageFacts returns a usage as a map, or nil for a zero usage.
func usageFacts(u agent.Usage) any {
	if u == (agent.Usage{}) {
		return nil
	}
	m := map[string]any{"input_tokens": u.Input, "output_tokens": u.Output}
	if u.CacheRead != 0 || u.CacheWrite != 0 {
		m["cache_read_tokens"], m["cache_write_tokens"] = u.CacheRead, u.CacheWrite
	}
	if u.Cost != 0 {
		m["cost"] = u.Cost
	}
	return m
}

func signalsFacts(signals []agent.EndRun) any {
	var out []any
	for _, s := range signals {
		out = append(out, signalFacts(s))
	}
	return out
}

func signalFacts(s agent.EndRun) map[string]any {
	m := map[string]any{"cause": string(s.Cause)}
	if s.Message != "" {
		m["message"] = s.Message
	}
	if len(s.Detail) > 0 {
		m["detail"] = s.Detail
	}
	if s.By != "" {
		m["by"] = s.By
	}
	return m
}
