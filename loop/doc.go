// Package loop is an agent loop that fires every point of the reference spec.
//
// An [Agent] is a model, tools, hooks and limits; [Agent.Run] works on a task until the model has answered
// or something stops it, and [Agent.Stream] does the same while the caller reads what happens. Both may be
// called any number of times at once.
//
// A run goes step by step. A step builds a prompt (compact.go, prompt.go), calls the model (model.go),
// decides the tool calls of the reply one after the other (decide.go, permission.go), dispatches what was
// permitted in parallel (dispatch.go), and records the results in call order (batch.go). A reply without
// calls, or a call of the done tool, is an answer that must pass the gates (done.go). An agent can be a tool
// of another (subagent.go) or be handed control (handoff.go). What ends a run is in stop.go, and how it
// ends in end.go.
//
// These laws hold whatever hooks, models and tools do; each has tests that are named after it.
//
//   - P1, pairing: OnRunEnd comes once per OnRunStart, AfterStep once per BeforeStep, OnSubagentStop once per
//     OnSubagentStart; also after an error, a panic, a cancellation, a handoff, and when the reader of a
//     stream stops reading.
//   - P2, answered: each tool call of a reply gets exactly one tool message, in call order, and each call
//     that BeforeTool fired for gets exactly one AfterTool.
//   - P3, decided before dispatch: the call that is dispatched is the one that BeforeTool left, and a reply is
//     decided completely, in call order, before its first dispatch.
//   - P4, asked once: OnPermission fires once per call, on its final arguments; an approver is asked once, and
//     never about a call that a hook denies. Nobody to ask, a failure and silence are a no.
//   - P5, every path: streams, retries, resumed runs, sub-runs and handoff targets fire the same points.
//   - P6, inheritance: a run that a run starts fires that one's hooks as its outer layer.
//   - P7, bounded gates: every request to go on has a cap, after which the run stops with retry_limit.
//   - P8, true records: a call that was refused, skipped or failed is never recorded as a success.
//   - P9, prompts are per request: what is added to a prompt concerns that prompt; only compaction changes
//     the stored conversation.
//   - P10, stops: all signals are kept; the strongest cause is reported, among equals the first.
//
// A panic of a tool or a model is an error of that call. One that does not return when its context is done is
// left behind after a grace period, and its late answer is dropped.
//
// The package imports hookkit and the generated package agent, never builtin, hooktest or looptest. Its users test
// their agents with package looptest.
package loop
