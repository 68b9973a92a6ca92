// Package builtin is the index of the ready-made hooks for agent loops, and contains bundles of them.
//
// The hooks are in packages below this one, called rooms, one for each concern. Find the concern in this list:
//
//   - bound a run: [limit].Steps, [limit].Tokens, [limit].Time; all: [Guards]
//   - stop a run by the finish reason of the model: [limit].FinishReason
//   - stop a run from outside: [limit].Cancellation
//   - limit how often a tool is called, or all tools together: [limit].Tools
//   - slow down and refuse calls that come too often: [limit].Throttle
//   - warn the model that few steps remain: [limit].Warning
//   - allow, ask or deny calls by rules: [permission].Rules
//   - allow or deny tools by name: [permission].DenyTools, [permission].ReadOnly
//   - ask a person: [permission].Confirm, [permission].Terminal, [permission].Remember
//   - ask a policy service: [permission].Policy
//   - end the turn until a person approves: [permission].ApprovalStop
//   - declare hooks in a file, for example as commands: [declared].File
//   - run the scripts of Claude Code settings files: [claudecode].Read
//   - deny shell commands: [shell].Guard; allow some by pattern: [shell].CommandGlob
//   - check tasks, tool outputs, replies by words, functions, schemas or a model: [guardrail].Input,
//     [guardrail].Output, [guardrail].Reply, [guardrail].Judge
//   - remove secrets and personal data: [redact].Redactor
//   - keep requests within the context window: [window].Guard, [window].TokenBudget
//   - truncate long outputs: [window].TruncateOutput, [window].RecallTool
//   - compact the conversation: [window].Auto, [window].Default
//   - let the model go back after a wrong turn: [window].Retrospective
//   - add text to prompts: [prompt].Static, [prompt].Staged, [prompt].Config
//   - load instructions, tools and model for a kind of work: [prompt].Skills
//   - add a hint after a failed call: [prompt].FailureNote, [prompt].FailureHint
//   - show the model its working theory: [prompt].WorkingTheory
//   - keep the model working with a task list: [prompt].Todo, with [prompt].TodoTool
//   - talk to a running agent: [prompt].Steering
//   - remember: [memory].Injector, [memory].Extractor, [memory].NotesInjector
//   - let the model keep facts and notes itself: [memory].Tools, [memory].NoteTool
//   - recall earlier conversations: [memory].Archive with the tool recall of [memory].Tools
//   - learn procedures from long runs: [memory].Extractor
//   - save and continue conversations: [session].Persist, [session].Checkpoint
//   - go back to the files and the conversation before a run: [session].Files
//   - delay writes until no run is active: [session].WriteGate
//   - say which runs share memories, notes and switches: [share].Scope
//   - reject answers that are not good enough: [answer].Gate, [answer].Critic
//   - grade runs: [answer].Eval
//   - break loops and stagnation: [repair].LoopDetector, [repair].Stagnation
//   - call a model or a tool again: [retry].Model, [retry].Tools
//   - ask another model if one fails: [retry].Fallback, [retry].Router
//   - stop calling what keeps failing: [retry].Breaker
//   - help after failed calls: [repair].SchemaRetry, [repair].ToolErrorRetry
//   - help small models: [SmallModel]; against echoed input: [repair].EchoedPayload
//   - write an audit log: [record].Audit
//   - record whole runs and replay them: [record].Provenance, [record].Replay
//   - list runs: [record].History, [record].Summary, [record].Episodes
//   - record the branches of a conversation: [record].Tree
//   - count and time, live or from a record: [record].Metrics, [record].Timing; price: [observe].Cost
//   - trace with spans: hook Telemetry of module contrib/otel
//   - stream events: Request.Events of package loop; to an event bus: [observe].EventBridge
//   - debug: [observe].DebugLog, [observe].RequestTap
//   - find what breaks prompt caching: [observe].CacheWatch
//
// A hook is a struct with plain fields. The zero value of a field selects the documented default. Hooks.Use of package
// agent adds the hook, and panics if a field is invalid; the text names the field and the remedy. For example:
//
//	var hooks agent.Hooks
//	hooks.Use(builtin.Guards{Steps: limit.AtMost(50)})
//	hooks.Use(&permission.DenyTools{Deny: []string{"shell_*"}})
//
// Unless its comment says otherwise, a hook keeps its state per run, so one value serves any number of concurrent runs.
// The comment of each hook lists its points and its state.
//
// Hooks that belong to one concern go into the room of that concern; this package contains only bundles. The rooms
// import the generated package agent and hookkit, but no loop. A program links only the third-party libraries of the
// rooms that it imports.
//
// Start with [Guards].
//
// [answer]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/answer
// [claudecode]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/declared/claudecode
// [declared]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/declared
// [guardrail]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/guardrail
// [limit]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/limit
// [memory]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/memory
// [observe]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/observe
// [permission]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/permission
// [prompt]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/prompt
// [record]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/record
// [redact]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/redact
// [repair]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/repair
// [retry]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/retry
// [session]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/session
// [share]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/share
// [shell]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/shell
// [window]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/window
package builtin
