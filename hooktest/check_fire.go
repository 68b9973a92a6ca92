package hooktest

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// A firing fires one point with a made payload.
type firing struct {
	point string
	fire  func(ctx context.Context, h *agent.Hooks, run *agent.Run, variant int) fired
}

// fired is what became of a payload.
type fired struct {
	before  any // a deep copy of the payload from before
	shared  any // the payload that shares memory with what the hooks were given
	left    any // what they left
	outcome any // the exit, the contributions, or the result of the act
	err     error
}

// at makes the firing of a point.
func at[P any](point string, fire func(context.Context, *agent.Hooks, *agent.Run, *P) (any, error)) firing {
	return firing{point, func(ctx context.Context, h *agent.Hooks, run *agent.Run, variant int) fired {
		payload := made[P](variant)
		f := fired{before: made[P](variant), shared: payload}
		f.outcome, f.err = fire(ctx, h, run, &payload)
		f.left = payload
		return f
	}}
}

// watched makes the firing of a point whose hooks only watch.
func watched[P any](point string, fire func(h *agent.Hooks) func(context.Context, *agent.Run, P)) firing {
	return at(point, func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *P) (any, error) {
		fire(h)(ctx, run, *p)
		return nil, nil
	})
}

// firings fire every point of the reference spec; a test holds them to it.
var firings = []firing{
	at("OnRunStart", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.RunStart) (any, error) {
		return h.OnRunStart.Fire(ctx, run, p)
	}),
	at("ShouldStop", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Step) (any, error) {
		return h.ShouldStop.Fire(ctx, run, *p)
	}),
	watched("BeforeStep", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.Step) { return h.BeforeStep.Fire }),
	at("ShouldCompact", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.ContextUse) (any, error) {
		return h.ShouldCompact.Fire(ctx, run, *p)
	}),
	at("BeforeCompact", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Compaction) (any, error) {
		return h.BeforeCompact.Fire(ctx, run, *p)
	}),
	at("AfterCompact", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Compacted) (any, error) {
		return nil, h.AfterCompact.Fire(ctx, run, p)
	}),
	at("Briefing", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Step) (any, error) {
		return h.Briefing.Fire(ctx, run, *p), nil
	}),
	at("BeforeLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.LLMRequest) (any, error) {
		return h.BeforeLLM.Fire(ctx, run, p)
	}),
	at("AroundLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.LLMRequest) (any, error) {
		return h.AroundLLM.Fire(ctx, run, *p, func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "reply"}, nil
		})
	}),
	at("AfterLLM", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.LLMResponse) (any, error) {
		return h.AfterLLM.Fire(ctx, run, p)
	}),
	watched("OnToolsDisabled", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.ToolsDisabled) {
		return h.OnToolsDisabled.Fire
	}),
	at("BeforeTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.ToolCallRequest) (any, error) {
		return h.BeforeTool.Fire(ctx, run, p)
	}),
	at("OnPermission", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.ToolCallRequest) (any, error) {
		return h.OnPermission.Fire(ctx, run, *p)
	}),
	watched("OnPermissionDenied", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.Denial) { return h.OnPermissionDenied.Fire }),
	at("AroundTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.ToolCallRequest) (any, error) {
		return h.AroundTool.Fire(ctx, run, *p, func(_ context.Context, call agent.ToolCallRequest) (agent.ToolCallResult, error) {
			return agent.ToolCallResult{Call: call, Output: "result"}, nil
		})
	}),
	watched("OnToolProgress", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.ToolProgress) {
		return h.OnToolProgress.Fire
	}),
	watched("OnToolError", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.ToolFailure) { return h.OnToolError.Fire }),
	at("AfterTool", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.ToolCallResult) (any, error) {
		return h.AfterTool.Fire(ctx, run, p)
	}),
	watched("OnBudgetExceeded", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.BudgetExceeded) {
		return h.OnBudgetExceeded.Fire
	}),
	at("OnHandoff", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Handoff) (any, error) {
		return h.OnHandoff.Fire(ctx, run, p)
	}),
	watched("OnSubagentStart", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.Subagent) { return h.OnSubagentStart.Fire }),
	watched("OnSubagentStop", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.SubagentDone) {
		return h.OnSubagentStop.Fire
	}),
	watched("AfterStep", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.StepResult) { return h.AfterStep.Fire }),
	at("CheckDone", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.DoneRequest) (any, error) {
		return h.CheckDone.Fire(ctx, run, p)
	}),
	watched("OnDoneAccepted", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.DoneAccepted) {
		return h.OnDoneAccepted.Fire
	}),
	at("OnRunError", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.RunError) (any, error) {
		return h.OnRunError.Fire(ctx, run, *p)
	}),
	at("OnStop", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.Stopping) (any, error) {
		return h.OnStop.Fire(ctx, run, *p), nil
	}),
	at("BeforeRunEnd", func(ctx context.Context, h *agent.Hooks, run *agent.Run, p *agent.AgentResult) (any, error) {
		return nil, h.BeforeRunEnd.Fire(ctx, run, p)
	}),
	watched("OnRunEnd", func(h *agent.Hooks) func(context.Context, *agent.Run, agent.AgentResult) { return h.OnRunEnd.Fire }),
}
