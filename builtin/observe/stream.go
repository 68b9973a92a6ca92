package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/queue"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Stream sends the events of a run to an emitter as they happen, for a user interface or another process.
//
// For example, a terminal shows each tool_dispatch event while the tool runs. Events are emitted once and in order, by
// a separate goroutine, so a slow or failing emitter cannot affect the run. Up to 1024 events are queued; further
// events are dropped and counted. Call Drain before the program ends.
//
// Stream observes all points, wraps AroundTool to report when a tool starts, and subscribes to the chunks of replies.
// It is safe for concurrent use and must not be copied. Bind panics if Emit is nil.
type Stream struct {
	Emit Emitter // required
	// Classify returns the class of a step and the number of new entities for step_end. Nil: the class of Metrics, 0.
	Classify func(agent.StepResult) (string, int)
	// Redact removes secrets and personal data from all texts, for example if others than the user receive the events. It
	// joins the chunks of a reply, because a secret may begin in one chunk and end in the next. Nil: nothing is removed.
	Redact  *redact.Redactor
	OnError func(error) // receives failures of Emit; nil: they are logged

	queue    queue.Queue[StreamEvent]
	chunks   hookkit.PerRun[chunks]
	returned hookkit.PerRun[map[string]bool] // the IDs of calls whose tool_result was sent before AfterTool
	failed   kit.Reporter
}

// streamQueue bounds the queued events.
const streamQueue = 1024

// Bind adds the hook to all points.
func (s *Stream) Bind(h *agent.Hooks) {
	if s.Emit == nil {
		kit.MustConfig("observe.Stream", errors.New("Emit is nil, so no event would be received; give an emitter"))
	}
	h.ObserveAny(s)
	h.AroundTool.Add(s)
}

// Drain waits until all events queued so far are emitted. It returns the context's error if the context is done first.
func (s *Stream) Drain(ctx context.Context) error { return s.queue.Flush(ctx) }

// Dropped returns the number of events dropped because the queue was full.
func (s *Stream) Dropped() uint64 { return s.queue.Dropped() }

// AroundTool reports that a tool starts.
func (s *Stream) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	s.send(run, StreamToolDispatch, map[string]any{
		"step_num": call.Step, "tool_name": call.Name, "args_summary": s.line(string(call.Args), 200),
		"call_id": call.ID,
	})
	return next.Call(ctx, call)
}

// Send sends an event of the program's own, in order with the other events. The members of data as JSON become the Data
// of the event; OnError receives an error if data is not an object. For example, the user sees how full the context
// window is:
//
//	guard.OnPressure = func(_ context.Context, run *agent.Run, p window.Pressure) {
//		stream.Send(run, observe.StreamContextPressure, p)
//	}
func (s *Stream) Send(run *agent.Run, kind string, data any) {
	text, err := json.Marshal(data)
	if s.Redact != nil && err == nil {
		text = s.Redact.JSON(text)
	}
	var members map[string]any
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	if err != nil {
		s.failed.Report("observe.Stream", s.OnError, fmt.Errorf("event %q: the data is not an object of JSON: %w", kind, err))
		return
	}
	s.send(run, kind, members)
}

// Observe converts a fire into events.
func (s *Stream) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	if fired.Decision != "" && fired.Hook != "" { // without a hook, the result reports the failure
		s.send(run, StreamHook, map[string]any{
			"hook_name": fired.Hook, "method": fired.Point, "message": s.decision(fired.Verdict),
		})
	}
	switch p := fired.Final.(type) {
	case agent.RunStart:
		s.send(run, StreamLoopStart, map[string]any{
			"task_summary": s.line(p.Task, 200), "max_steps": kit.Env(run).Count().MaxSteps,
		})
		s.subscribe(run)
	case agent.Step:
		if fired.Point == "BeforeStep" {
			s.send(run, StreamStepStart, map[string]any{"step_num": p.Number})
		}
	case agent.ToolCallRequest:
		if fired.Point == "AroundTool" {
			s.toolReturned(run, fired, p)
		}
	case agent.LLMRequest:
		s.request(run, fired, p)
	case agent.LLMResponse:
		s.endChunks(run)
		s.send(run, StreamLLMEnd, map[string]any{
			"step_num": p.Step, "response_length": chars(p.Content, p.ToolCalls),
			"duration_ms": kit.Milliseconds(p.Elapsed),
		})
	case agent.ToolFailure:
		if p.WillRetry {
			s.send(run, StreamRecovery, map[string]any{"strategy": "retry", "success": false})
		}
	case agent.Compacted:
		if p.Reason == agent.CompactTooLong {
			s.send(run, StreamRecovery, map[string]any{"strategy": "compaction", "success": p.Err == "" && p.Effective()})
		}
	case agent.RunError:
		if fired.Exit != nil {
			s.send(run, StreamRecovery, map[string]any{"strategy": "reply", "success": true})
		}
	case agent.ToolCallResult:
		s.toolResult(run, fired, p)
	case agent.StepResult:
		class, entities := stepClass(p), 0
		if s.Classify != nil {
			class, entities = s.Classify(p)
		}
		s.send(run, StreamStepEnd, map[string]any{
			"step_num": p.Step.Number, "classification": class, "new_entities_count": entities,
		})
	case agent.AgentResult:
		if fired.Point == "OnRunEnd" {
			s.runEnded(run, p)
		}
	}
}

// request reports a request to the model, or its failure.
func (s *Stream) request(run *agent.Run, fired hookkit.AnyFired, p agent.LLMRequest) {
	if fired.Point == "BeforeLLM" && fired.Exit == nil && fired.Err == nil {
		s.send(run, StreamLLMStart, map[string]any{
			"step_num": p.Step, "prompt_tokens_est": kit.Env(run).CountTokens(p.Messages),
		})
	}
	if fired.Point == "AroundLLM" && fired.Err != nil { // AfterLLM does not fire
		s.endChunks(run)
		s.send(run, StreamLLMEnd, map[string]any{
			"step_num": p.Step, "response_length": 0, "duration_ms": kit.Milliseconds(fired.Elapsed),
			"error": fired.Err.Error(),
		})
	}
}

// toolReturned reports the result of a tool before AfterTool fires for it.
func (s *Stream) toolReturned(run *agent.Run, fired hookkit.AnyFired, p agent.ToolCallRequest) {
	result, _ := fired.Result.(agent.ToolCallResult)
	s.returned.Do(run, func(ids *map[string]bool) {
		if *ids == nil {
			*ids = make(map[string]bool)
		}
		(*ids)[p.ID] = true
	})
	s.result(run, p, fired.Elapsed, fired.Err != nil || !result.OK())
}

// toolResult reports the result of a call whose tool did not run, and a retry that succeeded.
func (s *Stream) toolResult(run *agent.Run, fired hookkit.AnyFired, p agent.ToolCallResult) {
	if was, ok := fired.Payload.(agent.ToolCallResult); ok {
		p = kit.AfterHooks(was, p)
	}
	sent := false
	s.returned.Do(run, func(ids *map[string]bool) { sent = (*ids)[p.Call.ID]; delete(*ids, p.Call.ID) })
	if !sent {
		s.result(run, p.Call, p.Elapsed, !p.OK() || fired.Err != nil)
	}
	if p.OK() && p.Attempts > 1 {
		s.send(run, StreamRecovery, map[string]any{"strategy": "retry", "success": true})
	}
}

// runEnded reports the end of a run.
func (s *Stream) runEnded(run *agent.Run, p agent.AgentResult) {
	s.endChunks(run)
	s.chunks.Do(run, func(c *chunks) {
		if c.unsubscribe != nil {
			c.unsubscribe()
		}
	})
	s.send(run, StreamLoopEnd, map[string]any{
		"total_steps": p.Steps, "total_llm_calls": p.ModelCalls, "reason": string(p.Stop.Cause),
	})
}

func (s *Stream) result(run *agent.Run, call agent.ToolCallRequest, took time.Duration, failed bool) {
	s.send(run, StreamToolResult, map[string]any{
		"step_num": call.Step, "tool_name": call.Name, "call_id": call.ID, "duration_ms": kit.Milliseconds(took),
		"has_error": failed,
	})
}

// line redacts a text before it becomes a line of at most maxRunes characters.
func (s *Stream) line(text string, maxRunes int) string {
	if s.Redact != nil {
		text = s.Redact.CutText(text, maxRunes)
	}
	return shorten.Line(text, maxRunes)
}

func (s *Stream) send(run *agent.Run, kind string, data map[string]any) {
	for k, v := range data {
		if text, ok := v.(string); ok && s.Redact != nil {
			data[k] = s.Redact.Text(text)
		}
	}
	name := ""
	if kit.Env(run) != nil {
		name = kit.Env(run).Agent
	}
	s.queue.Put(StreamEvent{kind, kit.Env(run).Now(), run.ID(), kit.Owner(run), name, data},
		queue.Consumer[StreamEvent]{Name: "observe.Stream: Emit", Take: s.emit, Size: streamQueue, DropNewest: true})
}

func (s *Stream) emit(e StreamEvent) {
	_, err := kit.Recover(func() (struct{}, error) { return struct{}{}, s.Emit(context.Background(), e) })
	s.failed.Report("observe.Stream", s.OnError, err)
}

// decision renders a decision and its reason on one line.
func (s *Stream) decision(v hookkit.Verdict) string {
	if v.Reason == "" {
		return v.Decision
	}
	return v.Decision + ": " + s.line(v.Reason, 300)
}

// stepClass returns "error" if the step or one of its calls failed, else "productive".
func stepClass(step agent.StepResult) string {
	for _, r := range step.Results {
		if r.Err != "" {
			step.Err = r.Err
		}
	}
	if step.Err != "" {
		return "error"
	}
	return "productive"
}
