package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

type toolKey struct{} // in the context of a tool: its name

// noteTool stores the name of the tool in the context, for model calls inside the tool.
func noteTool(
	ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	return next.Call(context.WithValue(ctx, toolKey{}, call.Name), call)
}

func (p *Provenance) sendRedactor() *redact.Redactor {
	switch p.SendRedacted {
	case RedactAll:
		return &p.Redact
	case RedactNothing:
		return &redact.Redactor{KeepSecrets: true, KeepPersonal: true}
	}
	return configured(&p.Redact)
}

// configured returns a redactor that applies only the configured Keys and Patterns.
func configured(r *redact.Redactor) *redact.Redactor {
	return &redact.Redactor{
		KeepSecrets: true, KeepPersonal: true, Network: r.Network, Keys: r.Keys, Patterns: r.Patterns,
		Mark: r.Mark,
	}
}

// isNoop reports whether a redactor removes nothing.
func isNoop(r *redact.Redactor) bool {
	return r.KeepSecrets && r.KeepPersonal && !r.Network && len(r.Keys) == 0 && len(r.Patterns) == 0
}

// Wrap returns a model that also records calls made by hooks and tools. It streams if model does. The receiver must be
// bound too: a call in a run that it does not know is reported and not recorded. A request with a Step is one of the
// loop, which has events.
func (p *Provenance) Wrap(model agent.Model) agent.Model {
	w := recordedModel{p, model}
	if streams, ok := model.(agent.StreamingModel); ok {
		return streamedModel{w, streams}
	}
	return w
}

type recordedModel struct {
	recorder *Provenance
	model    agent.Model
}

// Generate calls the model and records the call.
func (w recordedModel) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) { return w.model.Generate(ctx, req) })
}

// ContextWindow returns the window of the model in tokens, or 0 if the model does not report it.
func (w recordedModel) ContextWindow() int {
	if c, ok := w.model.(agent.ContextWindow); ok {
		return c.ContextWindow()
	}
	return 0
}

// CountTokens counts with the model, or estimates if the model cannot count.
func (w recordedModel) CountTokens(messages []agent.Message) int {
	if c, ok := w.model.(agent.TokenCounter); ok {
		return c.CountTokens(messages)
	}
	return agentspec.EstimateTokens(messages)
}

func (w recordedModel) call(
	ctx context.Context, req agent.LLMRequest, call func(agent.LLMRequest) (agent.LLMResponse, error),
) (reply agent.LLMResponse, err error) {
	p := w.recorder
	if req.Step > 0 {
		return call(req)
	}
	p.mu.Lock()
	r := p.runs[agentspec.RunID(ctx)]
	p.mu.Unlock()
	if r == nil {
		p.report(fmt.Errorf("a model call in the run %q is not recorded: bind the record.Provenance to the hooks of its "+
			"agent", agentspec.RunID(ctx)))
		return call(req)
	}
	scope := "hook"
	if tool, ok := ctx.Value(toolKey{}).(string); ok {
		scope = "tool:" + p.Redact.CutText(tool, shorten.SummaryChars)
	}
	if to := p.sendRedactor(); !isNoop(to) {
		req = to.Request(req)
	}
	now := kit.Env(r.start.of).Now
	r.mu.Lock()
	c := p.began(r, now(), req, scope)
	r.mu.Unlock()
	err = errors.New("the call panicked")
	defer func() {
		why := ""
		if err != nil {
			why = err.Error()
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		p.ended(r, c, now(), reply, why)
	}()
	reply, err = call(req)
	return reply, err
}

type streamedModel struct {
	recordedModel
	streams agent.StreamingModel
}

// Stream calls the model and records the call.
func (w streamedModel) Stream(
	ctx context.Context, req agent.LLMRequest, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	return w.call(ctx, req, func(req agent.LLMRequest) (agent.LLMResponse, error) {
		return w.streams.Stream(ctx, req, emit)
	})
}
