// Package loop is an agent loop that fires every point of the reference spec.
//
// An [Agent] is a model with tools, hooks and limits. [Agent.Run] works on a task until the model has answered or
// something stops the run. [Agent.Stream] does the same and yields events while it runs. Both are safe for
// concurrent use.
//
// A run (start.go, run.go) is a sequence of steps. A step builds a prompt (compact.go, prompt.go) and calls the model
// (model.go). It decides the tool calls of the reply one after the other (decide.go, arguments.go, permission.go).
// Then it dispatches the permitted calls in call order (group.go, dispatch.go) and records the results (batch.go). A
// reply without calls, or a call of the done tool, is an answer that must pass the gates (done.go). An agent can be a
// tool of another agent (subagent.go), or take over its conversation (handoff.go). A run that waits for a person ends
// with a state (suspend.go, snapshot.go) and continues with the answer (resume.go, resumption.go, runs.go). See
// stop.go for the reasons to stop, and end.go for the end of a run.
//
// Models, tools and approvers run in goroutines of their own, so that the run can abandon one that ignores its time
// limit (await.go). These goroutines are reused (crew.go), and the limits share one timer (timeouts.go).
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
//     dispatched. Then they are carried out in call order. Consecutive calls of tools that are ReadOnly or
//     Concurrent run in parallel. Every other call runs alone: it begins when all earlier calls have returned, and no
//     later call begins before it has returned. A call that the loop abandons has returned. A person is asked about
//     a call when all earlier calls have returned, so that a preview shows the state at the call.
//   - P4, asked once: OnPermission fires once per call, on the final arguments. If an approval changes them, it
//     fires once more, on the changed ones. An approver is asked at most once, and never about a call that a
//     hook denies. If there is no approver, or it fails or does not answer in time, the call is denied.
//   - P5, every path: streams, retries, resumed runs, sub-runs and handoff targets fire the same points.
//   - P6, inheritance: if a run starts another run, the inner run fires the hooks of the outer run first, and then
//     those of its own agent.
//   - P7, bounded gates: each kind of rejection has a cap, for example Limits.Rejections. At the cap the run
//     stops with retry_limit, and its reply is the last rejected answer.
//   - P8, true records: a call that was refused, skipped or failed is never recorded as a success.
//   - P9, prompts are per request: text that a hook adds to a prompt is part of that prompt only. Only
//     compaction changes the stored conversation.
//   - P10, stops: the result has all stop signals. It reports the strongest cause, or the first among equals.
//   - P11, suspension: an approver may say that its answer comes later. The calls before that one have run then, and
//     are never run again. Those after it wait, and the run ends with the cause suspended and all questions of the
//     reply. When it is resumed with the answers, it ends with the conversation, the counters and the result of a run
//     that was not suspended. See below.
//   - P12, honest ends: the error of a run is nil exactly if the cause is completed or finish_reason, or if the
//     EndTurn of a hook gave the reply. Otherwise it is a [*StoppedError], matches [ErrSuspended] or the error of the
//     context, or is the failure of the run; see there. A reply that the model's limit has cut is never an answer:
//     its text is kept, the run is stopped, and an incomplete call is not run.
//   - P13, one continuation: a suspended run in Agent.Runs stays there until it has ended. One process continues it
//     with [Agent.Answer]. A run whose process was killed is in doubt and is never continued by itself. A process that
//     was only stopped, and wakes up when another one has taken the run, changes nothing there.
//   - P14, one stream: [Event] is the only stream of a run. Stream yields all events, and Request.Events receives them
//     in every other way to run an agent: pieces and attempts of replies, reasoning, calls, questions, failures, waits
//     of hooks, compactions and the end. None is dropped.
//   - P15, words of the user: a message that [Agent.Send] accepted is in the conversation before the next prompt or in
//     AgentResult.Unread. Only a run that is about to end as completed goes on because of it.
//   - P16, what the model believes: if a person or a hook changed the arguments of a call, the stored tool message says
//     which arguments ran, and why.
//   - P17, money: a call costs the price of the name that was requested in its attempt, or else of the name that
//     answered. With a limit on the cost, no call is made whose price is unknown, and the run stops if that turns out
//     later. The limit of a run counts the calls of the runs that it started. Usage is told by model.
//   - P18, data of the program: every field of [Request] is carried to the runs that a run starts and to its
//     resumption, or is listed in a test with the reason why not. Data is never sent to the model.
//
// # Suspension
//
// For example, a payment above 1000 euros needs the approval of a manager, who is asleep. The approver sends the
// question to the manager and returns Approval{Pending: true}, as permission.Later does. The run ends, and its state
// goes to Agent.Runs. The next day the manager clicks a button, and another process calls [Agent.Answer] with the ID of
// the run and the answer. The page docs/agents/approvals.md of the repository has a whole program. A program without
// Agent.Runs stores AgentResult.Suspended itself and calls [Agent.Resume].
//
// A suspended run ends in order: AfterStep, OnStop, BeforeRunEnd and OnRunEnd fire. A resumed run begins with
// OnRunStart and BeforeStep of the same step. So each of these pairs fires in both processes, and so do
// OnSubagentStart, OnSubagentStop and AroundTool of a call that waits for its own inner run. Everything else fires
// once: BeforeTool, OnPermission, OnHandoff and BeforeAsk before the suspension; OnPermissionGranted or
// OnPermissionDenied, AfterTool of the other calls and ShouldStop after the resumption. AfterTool fires in call order
// in each process, and before the suspension for the calls that have run then.
//
//   - The answer is bound to its question, to the tool and to the exact arguments. It has all effects that it has
//     without suspension: P3 and P4 hold. Decided calls are not decided again, but a tool that was switched off, was
//     removed or has another schema since then is not called.
//   - A suspension has the questions about all calls of the reply, so that they can be answered at once. A question
//     that was asked before earlier calls had run is marked as Early.
//   - Some of the answers suspend the run again, with a new state, when the first call without an answer is reached.
//     Calls that had finished, and inner runs that had finished, are not run again.
//   - If an inner run is suspended, the calls that run in parallel with it finish, and the outer run is suspended with
//     it. Later calls of the reply wait for the resumption.
//     Only runs that a call or a handoff started can wait. In a run that a hook starts, a pending answer denies.
//   - If a hook of OnStop stops the run with a stronger cause, or a hook of BeforeRunEnd fails, there is no state, and
//     the open calls are answered as not run. The same happens if the resumed run ends at OnRunStart.
//   - Hooks get the Suspension without its State, because the State is not redacted.
//   - The state has a version and a digest. A damaged state is an error. The digest does not protect against a person
//     who can write to the store: keep states where the users of the agent cannot change them. The host also makes
//     sure that a state is resumed once; see [Agent.Resume].
//
// State that hooks keep in memory for a run is gone when another process resumes it. Counters of Env, the identity of
// the run, the type of an answer of [RunAs] and the position of Env.Random are restored. Tools that were added during
// the run, rewrites that were requested, and compactors and pricers that a hook has set are not; hooks set them again
// at OnRunStart.
//
// A panic of a tool or a model becomes an error of that call. A tool that ignores its context is abandoned after a
// grace period, and its late answer is dropped. If a hook ends the goroutine of its run with runtime.Goexit, the run
// still ends in order, with OnRunEnd.
//
// The package never imports builtin, hooktest or looptest. Use package looptest to test agents.
package loop
