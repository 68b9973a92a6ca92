// Package agentspec declares the fire points of an agent loop, their payloads, and the interfaces that a
// loop and its hooks share.
//
// The spec itself is [Points], in points.go, together with the exits that hooks can leave a point with.
// The payloads are in files by concept: message.go, model.go, tool.go, step.go, run.go, compact.go,
// permission.go. [Env] is what every hook sees beside its payload. The package imports nothing but the
// standard library and package spec, and it decides nothing: a loop fires the points, hooks decide.
//
// Every payload can be encoded by encoding/json; failures in payloads are text.
//
// # Sharing
//
// A conversation grows with every step, so it is shared and not copied: two requests of a run have most of
// their messages in the same memory. This works because everybody keeps three rules.
//
//   - A hook changes a payload by returning another one, never in place. To change one message of a request,
//     clone the slice, change the clone, and return a request with it. Appending needs no clone: shared slices
//     have no room left, so append makes a new one.
//   - The loop never changes memory that it has handed out. A hook, an observer and a model may keep what they
//     get, and read it at any time.
//   - A hook that breaks the first rule harms other hooks at most. The stored conversation, the calls that are
//     dispatched and the records of a run are in memory that no hook sees. A message that was changed in place
//     reaches the model only in a request that a hook replaced.
package agentspec

import "github.com/hookgen/hookgen/spec"

//go:generate go run ../../cmd/hookgen -o ../../generated/agent

// Points are the fire points of an agent loop, in the order in which a run reaches them.
// It is a declaration for hookgen; nothing implements it.
//
// Start and end always pair: OnRunEnd with OnRunStart, AfterStep with BeforeStep, AfterTool with
// BeforeTool, AfterCompact with a BeforeCompact that did not skip, OnSubagentStop with OnSubagentStart;
// also after an error, a panic, a cancellation, a handoff, and when a reader of a stream stops reading.
// What fires on the way back (AfterTool, AfterStep, OnSubagentStop, OnRunError, OnStop, BeforeRunEnd,
// OnRunEnd) gets a context that is not cancelled with the run, so that it can still do its work.
//
//hookgen:points
type Points interface {
	spec.Env[*Env]

	// OnRunStart fires once per run, before anything else. A replaced Task is the user message that the
	// model gets, replaced Messages are the conversation before it. EndTurn ends the run without a step
	// and without a model call. A failing hook fails the run.
	OnRunStart(RunStart) (spec.Replace, EndTurn, spec.FailClosed)

	// ShouldStop fires at every step boundary: once before the first step, and once after each step,
	// the last one included, when all other work of the step is done. Step.Number is the count of steps
	// made so far. Any contributed signal stops the run before its next step; all of them are kept in
	// the result. A failing hook stops the run with an error; if the run is over anyway, the failure is a
	// warning of its result.
	ShouldStop(Step) (spec.Collect[EndRun], spec.FailClosed)

	// BeforeStep fires once per step, when the step has begun. Each firing is followed by exactly one
	// AfterStep.
	BeforeStep(Step)

	// ShouldCompact fires once per step, before its prompt is built, on the use of the context window.
	// A Compact asks for a compaction of the stored conversation; BeforeCompact may still skip it.
	// A failing hook is reported, and the others decide.
	ShouldCompact(ContextUse) (spec.Vote, Compact, spec.FailOpen)

	// BeforeCompact fires once per compaction that is about to run, whatever asked for it: the vote, a
	// model that found its prompt too long, or a request through Env. SkipCompaction leaves the
	// conversation as it is, and so does a failing hook; the run goes on.
	BeforeCompact(Compaction) (SkipCompaction, spec.FailClosed)

	// AfterCompact fires once per compaction that BeforeCompact let through, after it ran. Replace may add
	// back messages that must stay; the Messages it leaves become the stored conversation, if no tool
	// result in them has lost its call. A compaction that failed, that split a call from its result or
	// that did not shrink the conversation has Err set and was undone; then nothing is replaced.
	AfterCompact(Compacted) (spec.Replace, spec.FailOpen)

	// Briefing fires once per prompt, before BeforeLLM, and gathers text for that prompt only. Texts are
	// joined in firing order by blank lines; empty ones are left out. The loop limits their sum, drops
	// whole texts from the end and reports that at OnBudgetExceeded with the kind briefing.
	Briefing(Step) spec.Collect[string]

	// BeforeLLM fires once per prompt, when the request is complete: the next thing is the call. What a
	// hook adds or drops concerns this request; the stored conversation stays as it is. UseReply answers
	// in the place of the model, which is not called. EndTurn ends the run before the call. A failing
	// hook refuses the call and fails the run.
	BeforeLLM(LLMRequest) (spec.Replace, UseReply, EndTurn, spec.FailClosed)

	// AroundLLM fires once per prompt that was not answered or ended by BeforeLLM, around the call to the
	// model. Each call of next is one call to the model and counts towards the run: calling it again is a retry,
	// and the request may be another one.
	AroundLLM(LLMRequest) spec.Around[LLMResponse]

	// AfterLLM fires once per reply, a streamed one when it is complete, one given by UseReply too, before
	// anything is done with it: what the hooks leave is what is stored, answered and dispatched. EndTurn
	// ends the run before any tool call of the reply. A failing hook withholds the reply and fails the
	// run. It does not fire when the call failed.
	AfterLLM(LLMResponse) (spec.Replace, EndTurn, spec.FailClosed)

	// OnToolsDisabled fires once per tool call that was refused because tools are switched off. Such a
	// call is answered with an error and reaches neither BeforeTool nor AfterTool.
	OnToolsDisabled(ToolsDisabled)

	// BeforeTool fires once per tool call of a reply, in call order, all calls of a reply before the first
	// of them is dispatched; calls of unknown tools and with unusable arguments too, so that a hook can
	// repair them. The Name and Args that the hooks leave are what is judged and dispatched; ID and Step
	// belong to the loop and stay. SkipTool answers the call in the place of the tool: with an Err it is a
	// refusal. EndTurn ends the run, and no call of the reply is dispatched. A failing hook refuses the
	// call, and the run goes on.
	BeforeTool(ToolCallRequest) (spec.Replace, SkipTool, EndTurn, spec.FailClosed)

	// OnPermission fires once per call that would be dispatched, handed over to another agent or answered
	// successfully by SkipTool, on the call as BeforeTool left it and after its arguments were found
	// usable. It is never asked about the same call twice. A vote that ends in Ask goes to the approver,
	// once; without one, or without a yes in time, the call is denied. No vote allows. A failing hook
	// denies.
	OnPermission(ToolCallRequest) (spec.Vote, Deny, Ask, Allow, spec.FailClosed)

	// OnPermissionDenied fires once per call that was denied, by a vote, a person, a missing or silent
	// approver, or a failing hook of OnPermission. The run goes on; the model is told the reason.
	OnPermissionDenied(Denial)

	// OnHandoff fires before control goes to another agent, once per permitted handoff call, while the
	// calls of the reply are decided and before any of them is dispatched. A replaced Task or To is what
	// happens. SkipTool answers the call and the run goes on; EndTurn ends the run. A failing hook refuses
	// the handoff, and the run goes on. Control goes when the other calls of the reply have been answered,
	// unless one of them ends the run.
	OnHandoff(Handoff) (spec.Replace, SkipTool, EndTurn, spec.FailClosed)

	// AroundTool fires once per permitted call, around its dispatch, for the calls of a reply in parallel.
	// Each call of next is one attempt; calling it again is a retry. The call was decided before: an attempt
	// with another name or other arguments is refused with an error. Skipped, refused and handed over calls
	// and calls of the done tool are not dispatched and do not fire it.
	AroundTool(ToolCallRequest) spec.Around[ToolCallResult]

	// OnToolProgress fires each time a running tool reports, in the order of its reports; for parallel
	// calls from several goroutines at once. It never fires after AfterTool of the same call.
	OnToolProgress(ToolProgress)

	// OnToolError fires once per failed attempt (an error, a panic, a time-out), as soon as it is known
	// whether another attempt follows: when that one begins, or when AroundTool has returned.
	OnToolError(ToolFailure)

	// OnSubagentStart fires once per run that this run starts, by a sub-agent's tool or by a handoff, before
	// that run begins. Each firing is followed by exactly one OnSubagentStop.
	OnSubagentStart(Subagent)

	// OnSubagentStop fires once per run that this run started, when that run is over, whatever ended it.
	OnSubagentStop(SubagentDone)

	// AfterTool fires exactly once per call for which BeforeTool fired, whatever made the result: dispatch,
	// skip, denial, failure, a handoff, or the end of the run before the dispatch. It fires when all
	// dispatched calls of the reply are back, one call after the other in call order, a call of the done
	// tool last. What the hooks leave is recorded and told to the model, but a failure stays one: an
	// emptied Err is restored, and a result that gains an Err becomes a failure. EndTurn ends the run;
	// results of the reply's other calls are kept. A failing hook withholds the result, and the run goes
	// on.
	AfterTool(ToolCallResult) (spec.Replace, EndTurn, spec.FailClosed)

	// OnBudgetExceeded fires each time a budget was passed or would be passed by what comes next: steps,
	// tokens, cost, time, the context window, the size of the briefing. Whether the run stops is decided
	// by who holds the budget.
	OnBudgetExceeded(BudgetExceeded)

	// AfterStep fires exactly once per begun step, as its last act, failed and cancelled ones included.
	AfterStep(StepResult)

	// CheckDone fires each time the model wants to finish: by a reply without tool calls, or by a call of
	// the done tool, after the reply's other calls were answered. A replaced Answer is the one that is
	// accepted. RejectDone continues the run with Feedback for the model; so does a failing hook. After
	// as many rejections as the loop allows, the run stops with retry_limit. The answer that was rejected last
	// is then the reply, unless a hook failed: a hook that must keep an answer from the user returns an error.
	CheckDone(DoneRequest) (spec.Replace, RejectDone, spec.FailClosed)

	// OnDoneAccepted fires at most once per run, when an answer has passed every gate and is final.
	OnDoneAccepted(DoneAccepted)

	// OnRunError fires at most once per run, when the run is about to fail. EndTurn turns the failure into
	// a reply; the failure and its signals become warnings of the result. A failing hook is reported, and the
	// failure stands. Cancellation and limits are no failures, and a failure of BeforeRunEnd comes too late
	// for it.
	OnRunError(RunError) (EndTurn, spec.FailOpen)

	// OnStop fires once per run, when the run stops for whatever reason, on the signals recorded so far.
	// A hook may add signals; it cannot resume the run.
	OnStop(Stopping) spec.Collect[EndRun]

	// BeforeRunEnd fires once per run, when the result is complete: the last chance to rewrite it. Signals,
	// Stop and the totals stay as they were, and an emptied Err is restored. A failing hook withholds what
	// would have gone out: the run fails, and Reply, Calls and Messages of its result are empty.
	BeforeRunEnd(AgentResult) (spec.Replace, spec.FailClosed)

	// OnRunEnd fires exactly once per started run, as its last act, whatever ended it, with the result
	// that the caller gets. The model of Env can still be used; what it uses is added to the totals that
	// the caller gets.
	OnRunEnd(AgentResult)
}

// EndTurn ends the turn: no further step, model call or dispatch. It counts as the stop signal
// stop_requested with Reason as its message.
type EndTurn struct {
	Reply  string // the final reply
	Reason string // for records; not shown to the model or the user
}

// UseReply answers a request in the place of the model.
type UseReply struct {
	Response LLMResponse // its Usage, usually zero, counts towards the run
	Reason   string
}

// SkipTool answers a call in the place of the tool or of the agent that would be handed control.
type SkipTool struct {
	Result ToolCallResult // with Err a refusal; Call is filled in by the loop
	Reason string
}

// RejectDone refuses an answer; the run goes on.
type RejectDone struct {
	Feedback string // for the model, in its next prompt; empty: the Reason
	Reason   string
}

// SkipCompaction leaves the conversation as it is.
type SkipCompaction struct {
	Reason string
}

// Compact asks for a compaction of the stored conversation.
type Compact struct {
	Reason string
}

// Deny refuses a call.
type Deny struct {
	Reason string // for the model and for records
}

// Ask leaves the decision about a call to a person.
type Ask struct {
	Prompt string // the question; empty: the approver words it
	Reason string
}

// Allow permits a call, unless another hook denies it or asks.
type Allow struct {
	Reason string
}
