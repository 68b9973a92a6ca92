// Package loop is an agent loop that fires every point of the reference spec.
//
// An [Agent] is a model with tools, hooks and limits. [Agent.Run] works on a task until the model has answered or
// something stops the run. [Agent.Stream] does the same and yields events while it runs. Both are safe for
// concurrent use.
//
// A run (start.go, run.go) is a sequence of steps. A step builds a prompt (compact.go, prompt.go) and calls the model
// (model.go). It decides the tool calls of the reply one after the other (decide.go, arguments.go, permission.go) and
// dispatches the permitted calls in parallel (dispatch.go). It records the results in call order (batch.go). A reply
// without calls, or a call of the done tool, is an answer that must pass the gates (done.go). An agent can be a tool of
// another agent (subagent.go), or take over its conversation (handoff.go). See stop.go for the reasons to stop, and
// end.go for the end of a run.
//
// The following laws hold for all hooks, models and tools. Each law has tests with its number in their names.
//
//   - P1, pairing: OnRunEnd fires once per OnRunStart, AfterStep once per BeforeStep, OnSubagentStop once per
//     OnSubagentStart. This includes runs that end with an error, a panic, a cancellation or a handoff, and
//     streams whose reader stops early.
//   - P2, answered: each tool call of a reply gets exactly one tool message, in call order. Each call that
//     BeforeTool fired for gets exactly one AfterTool.
//   - P3, decided before dispatch: the loop dispatches the call exactly as the BeforeTool hooks returned it, or
//     as an approval changed it. All calls of a reply are decided, in call order, before the first one is
//     dispatched.
//   - P4, asked once: OnPermission fires once per call, on the final arguments. If an approval changes them, it
//     fires once more, on the changed ones. An approver is asked at most once, and never about a call that a
//     hook denies. If there is no approver, or it fails or does not answer in time, the call is denied.
//   - P5, every path: streams, retries, resumed runs, sub-runs and handoff targets fire the same points.
//   - P6, inheritance: if a run starts another run, the inner run fires the hooks of the outer run as its outer
//     layer.
//   - P7, bounded gates: each kind of rejection has a cap, for example Limits.Rejections. At the cap the run
//     stops with retry_limit, and its reply is the last rejected answer.
//   - P8, true records: a call that was refused, skipped or failed is never recorded as a success.
//   - P9, prompts are per request: text that a hook adds to a prompt is part of that prompt only. Only
//     compaction changes the stored conversation.
//   - P10, stops: the result has all stop signals. It reports the strongest cause, or the first among equals.
//
// A panic of a tool or a model becomes an error of that call. A tool that ignores its context is abandoned after a
// grace period, and its late answer is dropped. If a hook ends the goroutine of its run with runtime.Goexit, the run
// still ends in order, with OnRunEnd.
//
// The package never imports builtin, hooktest or looptest. Use package looptest to test agents.
package loop
