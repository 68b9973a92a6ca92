package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/queue"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tracing records every run as a tree of spans: the run, its steps, and in each step the model and tool calls.
//
// For example, a trace viewer shows which of five tool calls made a step slow. A sub-run started by a tool is a child
// of that tool's span. A run that takes over by a handoff is a child of the step that handed over. Each retry by an
// outer hook has its own span. Spans also end after an error, a panic, a cancellation or a handoff.
//
// If the context of a run has a trace (see [WithTraceParent]), the run continues that trace; otherwise it starts a new
// one. Spans go to Exporter in the background and in order. If more than Queue of them are waiting, the oldest are
// dropped and counted. Call Flush before the program ends.
//
// Spans contain names, counts and errors, redacted and truncated to 200 characters, but no prompts and no replies.
//
// Tracing wraps AroundLLM and AroundTool and observes OnRunStart, BeforeStep, AfterStep, OnSubagentStart,
// OnSubagentStop and OnRunEnd, at the priority Observability+10. It is safe for concurrent use. If it is bound twice,
// each span is still recorded once. Bind panics if Queue is negative.
type Tracing struct {
	Exporter SpanExporter     // nil: Tracing does nothing
	Service  string           // "": "agent"
	Queue    limit.Bound[int] // starts and ends of spans that may wait, at least 1; default 4096
	Redact   redact.Redactor

	once  kit.OnceObserver
	runs  hookkit.PerRun[openRun]
	queue queue.Queue[spanEvent]

	mu   sync.Mutex
	subs map[string]spanRef // the future parents of sub-runs that are being started, by run ID
}

type spanEvent struct {
	span Span
	end  bool
}

// spanQueue is the default of Tracing.Queue.
const spanQueue = 4096

// openRun holds the unfinished spans of a run.
type openRun struct {
	run, step *Span
}

// Bind adds the hook to its points.
func (t *Tracing) Bind(h *agent.Hooks) {
	kit.MustConfig("observe.Tracing", t.Queue.Check("Queue"))
	name, tier := hookkit.Named("observe.Tracing"), hookkit.Priority(hookkit.Observability+10)
	if t.Exporter == nil {
		h.OnRunEnd.ObserveFunc(func(context.Context, *agent.Run, agent.OnRunEndFired[agent.AgentResult]) {}, name, tier)
		return
	}
	as := new(kit.Binding)
	h.OnRunStart.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.OnRunStartFired[agent.RunStart]) {
		if t.once.First(run, as, "OnRunStart", f.Verdict) {
			t.startRun(ctx, run)
		}
	}, name, tier)
	h.BeforeStep.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.BeforeStepFired[agent.Step]) {
		if t.once.First(run, as, "BeforeStep", f.Verdict) {
			t.startStep(run, f.Payload)
		}
	}, name, tier)
	h.AroundLLM.Add(agent.AroundLLMFunc(t.model), name, tier)
	h.AroundTool.Add(agent.AroundToolFunc(t.tool), name, tier)
	h.OnSubagentStart.ObserveFunc(func(ctx context.Context, run *agent.Run, f agent.OnSubagentStartFired[agent.Subagent]) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.subs == nil {
			t.subs = make(map[string]spanRef)
		}
		t.subs[f.Payload.ID] = t.parent(ctx, run)
	}, name, tier)
	h.OnSubagentStop.ObserveFunc(func(_ context.Context, _ *agent.Run, f agent.OnSubagentStopFired[agent.SubagentDone]) {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.subs, f.Payload.ID)
	}, name, tier)
	h.AfterStep.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.AfterStepFired[agent.StepResult]) {
		if t.once.First(run, as, "AfterStep", f.Verdict) {
			t.endStep(run, f.Payload)
		}
	}, name, tier)
	h.OnRunEnd.ObserveFunc(func(_ context.Context, run *agent.Run, f agent.OnRunEndFired[agent.AgentResult]) {
		if t.once.First(run, as, "OnRunEnd", f.Verdict) {
			t.endRun(run, f.Payload)
		}
	}, name, tier)
}

// Flush waits until the exporter has received all spans so far, or the context is done.
func (t *Tracing) Flush(ctx context.Context) error { return t.queue.Flush(ctx) }

// Dropped returns the number of starts and ends that were dropped because the exporter was slow.
func (t *Tracing) Dropped() uint64 { return t.queue.Dropped() }

func (t *Tracing) export(s Span, end bool) {
	t.queue.Put(spanEvent{s, end}, queue.Consumer[spanEvent]{
		Name: "observe.Tracing: Exporter", Take: t.take, Size: max(t.Queue.Or(spanQueue), 1),
	})
}

func (t *Tracing) take(e spanEvent) {
	if e.end {
		t.Exporter.EndSpan(e.span)
	} else {
		t.Exporter.StartSpan(e.span)
	}
}

func (t *Tracing) text(s string) string { return t.Redact.CutText(s, shorten.SummaryChars) }

// start begins a span below a parent.
func (t *Tracing) start(run *agent.Run, parent spanRef, s Span) *Span {
	s.Service, s.Agent = cmp.Or(t.Service, "agent"), t.text(kit.Agent(run))
	s.Run, _ = kit.Identity(run)
	s.Identity = kit.Owner(run)
	s.TraceID, s.ParentSpanID, s.SpanID = cmp.Or(parent.trace, newTraceID()), parent.span, newSpanID()
	s.Start = kit.Env(run).Now()
	t.export(s, false)
	return &s
}

// end ends a span.
func (t *Tracing) end(run *agent.Run, s *Span, err string) {
	if s == nil {
		return
	}
	s.Duration, s.Status = kit.Env(run).Now().Sub(s.Start), "ok"
	if err != "" {
		s.Status, s.HasError, s.Err = "error", true, t.text(err)
	}
	t.export(*s, true)
}

// parent returns the parent of a new span: the enclosing tool call, step or run, or the position set by
// WithTraceParent.
func (t *Tracing) parent(ctx context.Context, run *agent.Run) (ref spanRef) {
	ref, _ = ctx.Value(spanKey{}).(spanRef)
	id, _ := kit.Identity(run)
	if run == nil || ref.by == t && ref.run == id {
		return ref
	}
	t.runs.Do(run, func(r *openRun) {
		switch {
		case r.step != nil:
			ref = spanRef{trace: r.step.TraceID, span: r.step.SpanID}
		case r.run != nil:
			ref = spanRef{trace: r.run.TraceID, span: r.run.SpanID}
		}
	})
	return ref
}

func (t *Tracing) startRun(ctx context.Context, run *agent.Run) {
	t.mu.Lock()
	parent, sub := t.subs[run.ID()]
	t.mu.Unlock()
	if !sub {
		parent, _ = ctx.Value(spanKey{}).(spanRef)
	}
	span := t.start(run, parent, Span{Kind: SpanRun, Name: "invoke_agent " + t.text(kit.Agent(run))})
	t.runs.Do(run, func(r *openRun) { r.run = span })
}

func (t *Tracing) startStep(run *agent.Run, step agent.Step) {
	var parent spanRef
	t.runs.Do(run, func(r *openRun) {
		if r.run != nil {
			parent = spanRef{trace: r.run.TraceID, span: r.run.SpanID}
		}
	})
	span := t.start(run, parent, Span{Kind: SpanStep, Name: fmt.Sprintf("step %d", step.Number), Step: step.Number})
	t.runs.Do(run, func(r *openRun) { r.step = span })
}

func (t *Tracing) endStep(run *agent.Run, result agent.StepResult) {
	var span *Span
	t.runs.Do(run, func(r *openRun) { span, r.step = r.step, nil })
	t.end(run, span, result.Err)
}

func (t *Tracing) endRun(run *agent.Run, result agent.AgentResult) {
	var span, step *Span
	t.runs.Do(run, func(r *openRun) { span, step = r.run, r.step; *r = openRun{} })
	t.end(run, step, "")
	if span == nil {
		return
	}
	span.ReplyLen, span.Usage = utf8.RuneCountInString(result.Reply), result.Usage
	span.StopReason, span.HandedOffTo = t.text(string(result.Stop.Cause)), t.text(result.HandedOffTo)
	t.end(run, span, result.Err)
}

// inside reports whether the context is already inside a span of this kind, which means that the hook is bound twice.
func (t *Tracing) inside(ctx context.Context, run *agent.Run, kind SpanKind) bool {
	ref, _ := ctx.Value(spanKey{}).(spanRef)
	id, _ := kit.Identity(run)
	return ref.by == t && ref.run == id && ref.kind == kind
}

func (t *Tracing) enter(ctx context.Context, s *Span) context.Context {
	return context.WithValue(ctx, spanKey{}, spanRef{trace: s.TraceID, span: s.SpanID, by: t, run: s.Run, kind: s.Kind})
}

var errSpanPanic = errors.New("the call panicked")

func (t *Tracing) model(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (answer hookkit.Answer[agent.LLMResponse], err error) {
	if t.inside(ctx, run, SpanModel) {
		return next.Call(ctx, req)
	}
	span := t.start(run, t.parent(ctx, run), Span{
		Kind: SpanModel, Name: spanName("chat", t.text(req.Model)), Model: t.text(req.Model), Step: req.Step,
	})
	err = errSpanPanic
	defer func() {
		if err != nil {
			t.end(run, span, err.Error())
			return
		}
		reply := answer.Value()
		span.Model, span.FinishReason = cmp.Or(t.text(reply.Model), span.Model), t.text(reply.FinishReason)
		span.Usage, span.ReplyLen = reply.Usage, utf8.RuneCountInString(reply.Content)
		t.end(run, span, "")
	}()
	answer, err = next.Call(t.enter(ctx, span), req)
	return answer, err
}

func (t *Tracing) tool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (answer hookkit.Answer[agent.ToolCallResult], err error) {
	if t.inside(ctx, run, SpanTool) {
		return next.Call(ctx, call)
	}
	tool := t.text(call.Name)
	span := t.start(run, t.parent(ctx, run), Span{
		Kind: SpanTool, Name: spanName("execute_tool", tool), Tool: tool, CallID: t.text(call.ID), Step: call.Step,
	})
	err = errSpanPanic
	defer func() {
		if err != nil {
			t.end(run, span, err.Error())
			return
		}
		result := answer.Value()
		span.ReplyLen = utf8.RuneCountInString(result.Output)
		t.end(run, span, result.Err)
	}()
	answer, err = next.Call(t.enter(ctx, span), call)
	return answer, err
}

func spanName(operation, target string) string {
	if target == "" {
		return operation
	}
	return operation + " " + target
}
