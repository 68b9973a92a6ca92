// Package record writes runs to files and stores, so that people and programs can read them later.
//
// [Audit] logs decisions, [Model] records model calls, and [Trajectory] records steps. [Provenance] combines the last
// two, and [Replay] runs a recording again. [History], [Summary] and [Episodes] keep lists and summaries of runs,
// and [Tree] records the branches of a conversation. Everything is redacted before it is written.
//
// A record of package hooklog holds the fires of the points: the payloads and the decisions of the hooks. Write it with
// [Audit.WriteEvent], so that nobody changes it unnoticed. The other recorders hold something else, which the fires do
// not have, and so keep files of their own:
//
//   - An [AuditRecord] is a short line for a person, about selected fires, and also about points that wrap an act.
//   - [Model] holds the requests that a model got and its replies, because Replay answers with them instead of a model.
//     The point AroundLLM wraps an act, and acts are not recorded.
//   - [Trajectory] holds steps, each with its briefing, its calls, and the numbers of its model calls in Model's files.
//   - [Episodes], [History], [Summary] and [Tree] hold excerpts for later runs and for people, in stores of their own.
//
// Live numbers and events belong in package observe, and conversations to continue in package session. The package
// imports packages limit, memory, redact and wire, and internal packages.
//
// Start with [Audit] for decisions and [Provenance] for whole runs.
package record
