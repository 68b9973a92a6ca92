// Package agentspec declares the fire points of an agent loop, their payloads, and the interfaces that a loop and
// its hooks share.
//
// Start with [Points] in points.go, which is the spec, and with the exits below it. The payloads are in files by
// concept: message.go, model.go, tool.go, step.go, run.go, compact.go, permission.go. [Env] is available to every
// hook. The package imports only the standard library and package spec, and it contains no decisions: a loop fires
// the points, and hooks decide.
//
// Every payload can be encoded by encoding/json. Failures in payloads are text.
//
// Package agent, which is generated from this package, has its types and constants under the same names, but not its
// functions. For them, import agentspec as well. For example, a tool reports its progress with agentspec.Progress and
// reads the run with agentspec.EnvOf, and a program that edits a conversation checks it with agentspec.CheckPairs.
//
// # Sharing
//
// A conversation grows with every step. Copying it for each payload would be slow, so two requests of a run share
// most of their messages in memory. This works because of three rules:
//
//   - A hook changes a payload by returning another one, never in place. For example, to change one message of a
//     request, clone the slice, change the clone, and return a request with it. Appending needs no clone: shared
//     slices have no spare capacity, so append allocates a new array.
//   - The loop never changes memory that it has passed on. A hook, an observer and a model may keep their values
//     and read them at any time.
//   - A hook that breaks the first rule can harm other hooks, but not the run. The stored conversation, the
//     dispatched calls and the records of a run are in memory that no hook can reach. A message that was changed
//     in place reaches the model only in a request that a hook replaced.
package agentspec

import (
	"encoding/json"

	"github.com/hookgen/hookgen/spec"
)

//go:generate go run ../../cmd/hookgen -o ../../generated/agent
//go:generate go run ../../cmd/hookgen doc -o ../../docs/agents/agent-points.md

// Points are the fire points of an agent loop, in the order in which a run reaches them. It is a declaration for
// hookgen; nothing implements it.
//
// Start and end always pair: OnRunEnd with OnRunStart, AfterStep with BeforeStep, AfterTool with BeforeTool,
// OnSubagentStop with OnSubagentStart, and AfterCompact with a BeforeCompact that did not skip. This includes runs
// that end with an error, a panic, a cancellation or a handoff, and streams whose reader stops early. Points that
// may fire while a run ends (AfterCompact, OnToolError, AfterTool, OnSubagentStop, AfterStep, OnRunError, OnStop,
// BeforeRunEnd, OnRunEnd) get a context that is not cancelled with the run. Their hooks can therefore still write to a
// database, for example.
//
//hookgen:points
//hookgen:wire
type Points interface {
	spec.Env[*Env]

	// OnRunStart fires once per run, before anything else. Task and Parts become the user message for the model;
	// replaced Messages become the conversation before it, and replaced Instructions the system message. EndTurn ends
	// the run without a step and without a model call. A failing hook fails the run.
	//
	// It fires once more each time a suspended run is resumed, with Resumed set. Then only Instructions, EndTurn and a
	// failure count.
	OnRunStart(RunStart) (spec.Replace, EndTurn, spec.FailClosed)

	// ShouldStop fires before the first step, and after each step once all other work of the step is done. It does not
	// fire after a suspended step, whose work is not done.
	// Step.Number is the number of completed steps. Any contributed signal stops the run before its next step; the
	// result has all of them. A failing hook stops the run with an error. If the run has ended anyway, the failure
	// becomes a warning of its result.
	ShouldStop(Step) (spec.Collect[EndRun], spec.FailClosed)

	// BeforeStep fires once per step, at its start. Exactly one AfterStep follows. For a suspended step both fire once
	// more, with the same number, when the run is resumed.
	BeforeStep(Step)

	// ShouldCompact fires once per step, before its prompt is built, with the use of the context window. A Compact
	// requests a compaction of the stored conversation; BeforeCompact may still skip it. A failing hook is
	// reported, and the others decide.
	ShouldCompact(ContextUse) (spec.Vote, Compact, spec.FailOpen)

	// BeforeCompact fires before each compaction. The trigger may be a vote, a model that rejected its prompt as
	// too long, or a request or a rewrite through Env. SkipCompaction and a failing hook leave the conversation
	// unchanged, and the run continues.
	BeforeCompact(Compaction) (SkipCompaction, spec.FailClosed)

	// AfterCompact fires after each compaction that was not skipped. Replace may restore messages that must stay.
	// The returned Messages become the stored conversation, unless a tool result in them has lost its call. A
	// compaction that failed, separated a call from its result, or did not shrink the conversation has Err set and
	// was undone. Then nothing is replaced.
	AfterCompact(Compacted) (spec.Replace, spec.FailOpen)

	// Briefing fires once per prompt, before BeforeLLM, and collects text for that prompt only. The non-empty
	// texts are joined by blank lines in firing order. If they exceed the limit, the loop drops whole texts from
	// the end and fires OnBudgetExceeded with the kind briefing.
	Briefing(Step) spec.Collect[string]

	// BeforeLLM fires once per prompt, when the request is complete and about to be sent. Changes concern this
	// request only, not the stored conversation. UseReply replaces the call to the model. EndTurn ends the run
	// before the call. A failing hook refuses the call and fails the run.
	BeforeLLM(LLMRequest) (spec.Replace, UseReply, EndTurn, spec.FailClosed)

	// AroundLLM fires around the call to the model, once per prompt that BeforeLLM neither answered nor ended.
	// Each call of next is one call to the model and counts towards the run. Call next again to retry, also with
	// another request.
	AroundLLM(LLMRequest) spec.Around[LLMResponse]

	// AfterLLM fires once per complete reply, before the loop uses it. This includes streamed replies and those of
	// UseReply. The returned reply is stored, and its calls are dispatched; only the loop sets Step, Usage and
	// Elapsed. EndTurn ends the run before any tool call of the reply. A failing hook withholds the reply and fails
	// the run. AfterLLM does not fire if the call failed. If the run is cancelled while the pieces of a reply are shown,
	// it fires for the text so far, with [FinishInterrupted].
	AfterLLM(LLMResponse) (spec.Replace, EndTurn, spec.FailClosed)

	// OnToolsDisabled fires once per tool call that was refused because tools are switched off. Such a call is
	// answered with an error and reaches neither BeforeTool nor AfterTool.
	//
	//hookgen:key Tool Call.Name
	OnToolsDisabled(ToolsDisabled)

	// BeforeTool fires once per tool call of a reply, in call order, before any call of the reply is dispatched.
	// This includes calls of unknown tools and calls with invalid arguments, so that a hook can repair the arguments.
	// The permission check and the dispatch use the returned Args; only the loop sets ID and Step, and the name is the
	// key of the point. SkipTool answers the call without the tool; with an Err it is a refusal, for example one that
	// names the tool that the model meant. EndTurn ends the run, and no call of the reply is dispatched. A failing hook
	// refuses the call, and the run continues.
	//
	//hookgen:key Tool Name
	BeforeTool(ToolCallRequest) (spec.Replace, SkipTool, EndTurn, spec.FailClosed)

	// OnPermission fires once per call that is about to be dispatched, handed over, or answered successfully by
	// SkipTool. The call is final: BeforeTool has fired, and the arguments are valid. If the vote is Ask, BeforeAsk
	// fires, and the approver is asked once; without an approver, or without approval in time, the call is denied.
	// If no hook votes, the call is allowed. A failing hook denies. If an approval changes the arguments,
	// OnPermission fires once more with the changed call. If the answer of the approver is Pending, the run is suspended
	// once all calls of the reply are decided, and no call of the reply is dispatched before the run is resumed.
	//
	//hookgen:key Tool Name
	OnPermission(ToolCallRequest) (spec.Vote, Deny, Ask, Allow, spec.FailClosed)

	// BeforeAsk fires when a person is about to be asked about a call, also if there is no approver. Refuse and
	// Approve answer instead of the person, and then nobody is asked. A failing hook refuses the call, and the run
	// continues. If an approval changes the arguments and the vote about the changed call is Ask, BeforeAsk fires
	// once more: Refuse still refuses, and the person is not asked again.
	//
	//hookgen:key Tool Call.Name
	BeforeAsk(Question) (spec.Vote, Refuse, Approve, spec.FailClosed)

	// OnPermissionGranted fires once per call that a person or a hook of BeforeAsk approved. It does not fire for
	// calls that nobody had to be asked about.
	//
	//hookgen:key Tool Call.Name
	OnPermissionGranted(Grant)

	// OnPermissionDenied fires once per denied call. The denial may come from a vote, a person, a missing or
	// silent approver, or a hook of OnPermission or BeforeAsk that failed or refused. The run continues, and the
	// model gets the reason.
	//
	//hookgen:key Tool Call.Name
	OnPermissionDenied(Denial)

	// OnHandoff fires once per permitted handoff call, before any call of the reply is dispatched. A replaced Task
	// or To changes the handoff. SkipTool answers the call and the run continues; EndTurn ends the run. A failing
	// hook refuses the handoff, and the run continues. The target takes over after the other calls of the reply
	// are answered, unless one of them ends the run.
	//
	//hookgen:key Tool Call.Name
	OnHandoff(Handoff) (spec.Replace, SkipTool, EndTurn, spec.FailClosed)

	// AroundTool fires around the dispatch of each permitted call, in call order. It fires concurrently for
	// consecutive calls of tools whose schemas have ReadOnly or Concurrent. Every other call is dispatched alone, when
	// all earlier calls have returned. Each call of next is one attempt; call it again to retry. If a run that the
	// tool started is suspended, next returns an error with the kind suspended whatever the tool returned, and
	// AroundTool fires once more when the run is resumed. The call is final: an attempt with another name or other
	// arguments fails. Skipped, refused and handed over calls and calls of the done tool are not dispatched and do not
	// fire it. Observers are notified as soon as their call has returned, also while other calls of the reply are
	// running.
	//
	//hookgen:key Tool Name
	AroundTool(ToolCallRequest) spec.Around[ToolCallResult]

	// OnToolProgress fires for each progress report of a running tool, in order. For parallel calls it fires
	// concurrently. It never fires after AfterTool of the same call.
	//
	//hookgen:key Tool Call.Name
	OnToolProgress(ToolProgress)

	// OnToolError fires once per failed attempt (an error, a panic, a timeout). It fires once it is known whether
	// another attempt follows: when that attempt starts, or when AroundTool has returned.
	//
	//hookgen:key Tool Call.Name
	OnToolError(ToolFailure)

	// OnSubagentStart fires before this run starts another run, by a sub-agent's tool or by a handoff. Exactly one
	// OnSubagentStop follows. Both fire once more, with the same ID, when a suspended run is resumed.
	OnSubagentStart(Subagent)

	// OnSubagentStop fires when a run that this run started has ended, for any reason.
	OnSubagentStop(SubagentDone)

	// AfterTool fires exactly once per call for which BeforeTool fired. The result may come from a dispatch, a skip, a
	// denial, a failure, a handoff, or the end of the run before the dispatch. It fires in call order, a call of the
	// done tool last: for a call that was dispatched alone when it has returned, and for parallel calls when all of
	// them have. For the calls of a suspended step that were not over this is after the run was resumed. The returned
	// result is recorded and sent to the model, with the texts of Context after the output. But a failure stays a
	// failure: an emptied Err is restored, and a result that gains an Err becomes a failure. EndTurn ends the run; the
	// results of the reply's other calls are kept, and calls that have not begun are answered as not run. A failing
	// hook withholds the result, and the run continues.
	//
	//hookgen:key Tool Call.Name
	AfterTool(ToolCallResult) (spec.Replace, EndTurn, spec.FailClosed)

	// OnBudgetExceeded fires each time a budget is exceeded, or would be exceeded by the next action: steps,
	// tokens, cost, time, the context window, the size of the briefing. The owner of the budget decides whether
	// the run stops.
	OnBudgetExceeded(BudgetExceeded)

	// AfterStep fires exactly once per started step, at its end, even if the step failed or was cancelled.
	AfterStep(StepResult)

	// CheckDone fires each time the model wants to finish: with a reply without tool calls, or with a call of the
	// done tool after the other calls of the reply. A replaced Answer is the accepted answer. RejectDone continues
	// the run with Feedback for the model, and so does a failing hook. At the loop's limit of rejections the run
	// stops with retry_limit. The last rejected answer is then the reply, unless a hook failed. A hook that must
	// keep an answer from the user therefore returns an error.
	CheckDone(DoneRequest) (spec.Replace, RejectDone, spec.FailClosed)

	// OnDoneAccepted fires at most once per run, when an answer has passed every gate and is final.
	OnDoneAccepted(DoneAccepted)

	// OnRunError fires at most once per run, when the run is about to fail. EndTurn replaces the failure by a
	// reply; the failure and its signals become warnings of the result. A failing hook is reported, and the run
	// fails. Cancellation and limits are not failures. OnRunError does not fire for a failure of BeforeRunEnd.
	OnRunError(RunError) (EndTurn, spec.FailOpen)

	// OnStop fires once per run, when the run stops for any reason, with the signals so far. A hook may add
	// signals; it cannot resume the run.
	OnStop(Stopping) spec.Collect[EndRun]

	// BeforeRunEnd fires once per run, when the result is complete, and is the last chance to change it. Signals,
	// Stop and the totals cannot be changed, and an Err can only get another text. A failing hook withholds the result:
	// the run fails, and Reply, Calls and Messages are empty.
	BeforeRunEnd(AgentResult) (spec.Replace, spec.FailClosed)

	// OnRunEnd fires exactly once per OnRunStart, at the very end, with the result for the caller. The model of
	// Env can still be used; its usage is added to the totals for the caller.
	OnRunEnd(AgentResult)
}

// EndTurn ends the turn: no further step, model call or dispatch. It counts as the stop signal stop_requested with
// Reason as its message.
type EndTurn struct {
	Reply  string // the final reply
	Reason string // for records; not shown to the model or the user
}

// UseReply answers a request instead of the model.
type UseReply struct {
	Response LLMResponse // its Usage, usually zero, counts towards the run
	Reason   string
}

// SkipTool answers a call instead of the tool or the handoff target.
type SkipTool struct {
	Result ToolCallResult // an Err makes it a refusal; the loop sets Call
	Reason string
}

// RejectDone refuses an answer; the run continues.
type RejectDone struct {
	Feedback string // for the model, in its next prompt; empty: Reason
	Reason   string
}

// SkipCompaction leaves the conversation unchanged.
type SkipCompaction struct {
	Reason string
}

// Compact requests a compaction of the stored conversation.
type Compact struct {
	Reason string
}

// Deny refuses a call.
type Deny struct {
	Reason string // for the model and for records
}

// Ask leaves the decision about a call to the approver.
type Ask struct {
	Prompt  string // the question; empty: chosen by the approver
	Reason  string
	Choices []Choice // the answers that the question takes; none: all. Of several Asks, those of the one that counts
}

// Allow permits a call, unless another hook votes for Deny or Ask.
type Allow struct {
	Reason string
}

// Approve approves a call, so that no person is asked.
type Approve struct {
	Args     json.RawMessage // other arguments for the call; nil: unchanged; see [Approval]
	Remember json.RawMessage // rules for later calls; see [Approval]
	Reason   string
}

// Refuse refuses a call, so that no person is asked.
type Refuse struct {
	Reason  string // for the model and for records
	StopRun bool   // also stop the run, with stop_requested
}
