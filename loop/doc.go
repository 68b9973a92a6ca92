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
// What holds, whatever hooks, models and tools do:
//
//   - Every start has its end: OnRunStart and OnRunEnd, BeforeStep and AfterStep, BeforeTool and AfterTool,
//     OnSubagentStart and OnSubagentStop.
//   - Each tool call of a reply gets exactly one tool message, in call order.
//   - A call that is dispatched is the one that BeforeTool left and OnPermission judged; a reply is decided
//     completely before its first dispatch.
//   - Nobody is asked about a call that a hook denies, and nobody is asked twice.
//   - A run that an agent starts, by a sub-agent or a handoff, fires its hooks as the outer layer.
//   - Every request to go on has a cap.
//   - A call that was refused or failed is never recorded as a success.
//   - What is added to a prompt concerns that prompt; only compaction changes the stored conversation.
//   - All stop signals are kept; the strongest is reported.
//   - A panic of a tool or a model is an error of that call. One that does not return when its context is
//     done is left behind after a grace period, and its late answer is dropped.
//
// The package imports hookkit and the generated package agent, never builtin or hooktest.
package loop
