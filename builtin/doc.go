// Package builtin is the index of the ready-made hooks of an agent loop, and holds presets that bundle them.
//
// The hooks are in packages below this one, a room for each concern. What do you need?
//
//   - stop a run after steps, tokens or a time: [limit].Steps, [limit].Tokens, [limit].Time; all: [Guards]
//   - stop a run when the model says it is finished: [limit].FinishReason
//   - stop a run from outside: [limit].Cancellation
//   - limit how often a tool is called: [limit].Tools
//   - warn the model that its steps run out: [limit].Warning
//   - allow, ask or deny calls by rules: [permission].Rules
//   - allow or deny tools by name: [permission].DenyTools, [permission].ReadOnly
//   - ask a person: [permission].Confirm, [permission].Terminal, [permission].Remember
//   - ask a policy service: [permission].Policy
//   - end the turn until a person approves: [permission].ApprovalStop
//   - refuse dangerous shell commands: [shell].Guard
//   - refuse tasks, check outputs of tools: [screen].Input, [screen].Output
//   - remove secrets and personal data: [redact].Redactor
//   - keep requests within the context window: [window].Guard, [window].TokenBudget
//   - cut long outputs, and read the rest later: [window].TruncateOutput, [window].RecallTool
//   - compact the conversation: [compact].Auto, [compact].Default
//   - add text to prompts: [prompt].Static, [prompt].Staged, [prompt].Config
//   - add a hint after a failed call: [prompt].FailureNote, [prompt].FailureHint
//   - show the model its working theory: [prompt].WorkingTheory
//   - talk to a running agent: [prompt].Steering
//   - remember facts and notes: [memory].Injector, [memory].Extractor, [memory].NotesInjector
//   - save and continue conversations: [state].Persist, [state].Checkpoint
//   - reject answers that are not good enough: [done].Gate, [done].Critic
//   - grade runs: [done].Eval
//   - break loops and stagnation: [repair].LoopDetector, [repair].Stagnation
//   - help with wrong arguments and failing tools: [repair].SchemaRetry, [repair].ToolErrorRetry
//   - keep a model from echoing its input: [repair].EchoedPayload; for small models: [SmallModel]
//   - write an audit log: [record].Audit
//   - record whole runs and replay them: [record].Provenance, [record].Replay
//   - keep histories, summaries and episodes: [record].History, [record].Summary, [record].Episodes
//   - trace, count, price: [observe].Tracing, [observe].Metrics, [observe].Cost
//   - stream events: [observe].Stream, [observe].EventBridge
//   - debug: [observe].DebugLog, [observe].RequestTap, [observe].Timing
//
// A hook is a struct with plain fields; its zero value has the documented defaults. Hooks.Use of package agent binds
// it. A field with an impossible value panics there, naming the field and the remedy; nothing is checked later. State
// belongs to one hook value and one run unless the comment says otherwise, so one value serves any number of runs at
// once.
//
// The rooms import the generated package agent and hookkit, and no loop. A program links only the libraries of the
// rooms that it imports.
//
// [compact]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/compact
// [done]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/done
// [limit]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/limit
// [memory]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/memory
// [observe]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/observe
// [permission]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/permission
// [prompt]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/prompt
// [record]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/record
// [redact]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/redact
// [repair]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/repair
// [screen]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/screen
// [shell]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/shell
// [state]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/state
// [window]: https://pkg.go.dev/github.com/hookgen/hookgen/builtin/window
package builtin
