package answer

import (
	"context"
	"errors"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// SubmitOnce ends a run as completed when the model has submitted its result with a tool.
//
// For example, a judge submits its verdict with the tool give_verdict. A verdict is final: the run ends after the step
// of the first successful call, and the output of that call is the reply.
//
// The model can request several calls in one reply. A second call of the tool in that reply is refused. Other calls
// after the first one are answered "Not run: ..." without running, and calls before it run. If the submission fails,
// the model may submit again in its next reply.
//
// SubmitOnce adds to BeforeTool, with the priority Safety, to ShouldStop and to BeforeRunEnd, and observes AfterTool.
// It keeps its state for each run and is safe for concurrent use. Bind panics if Tool is empty.
type SubmitOnce struct {
	Tool string // name of the tool that submits the result

	runs hookkit.PerRun[submission]
}

// submission is the state of one run.
type submission struct {
	pending string // ID of the call that was let through and has no result yet
	waiting bool   // pending is set
	done    bool   // the result is submitted
	output  string
}

// Bind adds the hook to its points.
func (s *SubmitOnce) Bind(h *agent.Hooks) {
	if s.Tool == "" {
		kit.MustConfig("answer.SubmitOnce", errors.New("Tool is empty; name the tool that submits the result"))
	}
	h.BeforeTool.Add(s, hookkit.Priority(hookkit.Safety))
	h.AfterTool.Observe(s, agent.ForTool(s.Tool))
	h.ShouldStop.Add(s, hookkit.Priority(hookkit.Safety))
	h.BeforeRunEnd.Add(s, hookkit.Priority(hookkit.InputShape))
}

// BeforeTool lets the first submission through, and answers the calls after it.
func (s *SubmitOnce) BeforeTool(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (outcome agent.BeforeToolOutcome, err error) {
	s.runs.Do(run, func(at *submission) {
		switch {
		case !at.done && at.waiting && at.pending == call.ID: // this hook is bound twice
		case !at.done && !at.waiting:
			if call.Name == s.Tool {
				at.pending, at.waiting = call.ID, true
			}
		case call.Name == s.Tool:
			outcome = agent.SkipTool{Reason: "submitted_twice", Result: agent.ToolCallResult{
				Err: "the result was already submitted and is final", NoRetry: true,
			}}
		default:
			outcome = agent.SkipTool{Reason: "submitted", Result: agent.ToolCallResult{
				Output: "Not run: " + s.Tool + " was called before.",
			}}
		}
	})
	return outcome, nil
}

// ObserveAfterTool records the outcome of the submission.
func (s *SubmitOnce) ObserveAfterTool(
	_ context.Context, run *agent.Run, fired agent.AfterToolFired[agent.ToolCallResult],
) {
	s.runs.Do(run, func(at *submission) {
		if !at.waiting || at.pending != fired.Payload.Call.ID {
			return
		}
		at.waiting = false
		if kit.Succeeded(fired.Payload) && fired.Err == nil && fired.Final.Err == "" {
			at.done, at.output = true, fired.Final.Output
		}
	})
}

// ShouldStop ends the run after a submission.
func (s *SubmitOnce) ShouldStop(_ context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if step.Done || !s.runs.Load(run).done {
		return nil, nil
	}
	return []agent.EndRun{{Cause: agent.CauseCompleted, Message: s.Tool + " submitted the result"}}, nil
}

// BeforeRunEnd makes the output of the submission the reply.
func (s *SubmitOnce) BeforeRunEnd(
	_ context.Context, run *agent.Run, result agent.AgentResult,
) (agent.BeforeRunEndOutcome, error) {
	at := s.runs.Load(run)
	if !at.done || result.Err != "" || result.Forced() {
		return nil, nil
	}
	result.Reply = at.output
	return agent.ReplaceBeforeRunEnd(result, "the submitted result"), nil
}
