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
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tracing makes a tree of spans of every run: the run, its steps, and in each step the calls to the model and the
// dispatches of tools, parallel ones side by side. A run that a tool starts is under the span of that tool, one that
// control is handed over to under the step that did it, so that they are one tree.
//
// It stands at AroundLLM and AroundTool and observes OnRunStart, BeforeStep, AfterStep, OnSubagentStart,
// OnSubagentStop and OnRunEnd, all at tier Observability + 10. It decides nothing. A retry by a hook around it is a
// span of its own. Spans end on every way out: an error, a panic, a cancellation, a handoff.
//
// A run takes over the trace that its context knows (see [WithTraceParent]), and else begins a new one. Spans go to
// Exporter in the background, in order; if it is slow and more than Queue of them wait, the oldest are dropped and
// counted. Without an Exporter it only observes OnRunEnd and does nothing there. One Tracing serves any number of runs
// at once and makes one span of each thing however often it is used.
//
// Spans hold names, counts and errors, which are redacted and cut at 200 characters, but neither prompts nor replies.
type Tracing struct {
	Exporter SpanExporter
	Service  string // empty: "agent"
	Queue    int    // 0: 4096
	Redact   redact.Redactor

	once  kit.OnceObserver
	runs  hookkit.PerRun[openRun]
	queue queue.Queue[spanEvent]

	mu   sync.Mutex
	subs map[string]spanRef // where runs belong that are started right now, by their identity
}

type spanEvent struct {
	span Span
	end  bool
}

// spanQueue is how many starts and ends of spans may wait.
const spanQueue = 4096

// openRun is what is open of a run.
type openRun struct {
	run, step *Span
}

// Bind adds the hooks.
func (t *Tracing) Bind(h *agent.Hooks) {
	if t.Queue < 0 {
		kit.MustConfig("observe.Tracing", fmt.Errorf("Queue is %d; give how many spans may wait, 0 for %d", t.Queue, spanQueue))
	}
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

// Flush waits until the exporter has been given all spans so far.
func (t *Tracing) Flush(ctx context.Context) error { return t.queue.Flush(ctx) }

// Dropped returns how many starts and ends were dropped because the exporter was slow.
func (t *Tracing) Dropped() uint64 { return t.queue.Dropped() }

func (t *Tracing) export(s Span, end bool) {
	t.queue.Put(spanEvent{s, end}, queue.Consumer[spanEvent]{Name: "observe.Tracing: Exporter", Take: t.take, Size: cmp.Or(t.Queue, spanQueue)})
}

func (t *Tracing) take(e spanEvent) {
	if e.end {
		t.Exporter.EndSpan(e.span)
	} else {
		t.Exporter.StartSpan(e.span)
	}
}

func (t *Tracing) text(s string) string { return t.Redact.CutText(s, shorten.SummaryChars) }

// start begins a span under a parent.
func (t *Tracing) start(run *agent.Run, parent spanRef, s Span) *Span {
	s.Service, s.Agent = cmp.Or(t.Service, "agent"), t.text(kit.Agent(run))
	s.Run, _ = kit.Identity(run)
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

// parent is what a new span of a run belongs under: the span of the tool that the context is in, the step, the run,
// or what the context knows from outside.
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

// inside returns a context inside a span, and false if it is in one of the kind already: then the hook is used twice.
func (t *Tracing) inside(ctx context.Context, run *agent.Run, kind SpanKind) bool {
	ref, _ := ctx.Value(spanKey{}).(spanRef)
	id, _ := kit.Identity(run)
	return ref.by == t && ref.run == id && ref.kind == kind
}

func (t *Tracing) enter(ctx context.Context, s *Span) context.Context {
	return context.WithValue(ctx, spanKey{}, spanRef{trace: s.TraceID, span: s.SpanID, by: t, run: s.Run, kind: s.Kind})
}

var errSpanPanic = errors.New("it panicked")

func (t *Tracing) model(ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext) (answer hookkit.Answer[agent.LLMResponse], err error) {
	if t.inside(ctx, run, SpanModel) {
		return next.Call(ctx, req)
	}
	span := t.start(run, t.parent(ctx, run), Span{Kind: SpanModel, Name: spanName("chat", t.text(req.Model)), Model: t.text(req.Model), Step: req.Step})
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

func (t *Tracing) tool(ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext) (answer hookkit.Answer[agent.ToolCallResult], err error) {
	if t.inside(ctx, run, SpanTool) {
		return next.Call(ctx, call)
	}
	tool := t.text(call.Name)
	span := t.start(run, t.parent(ctx, run), Span{Kind: SpanTool, Name: spanName("execute_tool", tool), Tool: tool, CallID: t.text(call.ID), Step: call.Step})
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

func spanName(what, whose string) string {
	if whose == "" {
		return what
	}
	return what + " " + whose
}
