// Package record writes runs down, and shows their course from the records.
//
// The fires of the points, with their payloads and decisions, are events of package hooklog. A [View] is a value
// computed from these events: [Metrics], [Timing], [History] and [Summary]. Use a view as a hook of live runs, or let
// [Read] show it the events of a file, which agent.Record writes.
//
// [Audit] logs decisions with a hash chain, and [Audit.WriteEvent] chains whole events, so that nobody changes them
// unnoticed. These recorders have files of their own, because other programs read them or later runs need them:
//
//   - [Model] holds the requests that a model got and its replies, because [Replay] answers with them instead of a
//     model. The point AroundLLM wraps an act, and acts are not recorded.
//   - [Trajectory] holds steps, each with its briefing, its calls, and the numbers of its model calls in Model's files.
//     [Provenance] combines the two.
//   - [Episodes] feeds a memory, and [Tree] holds the branches of a conversation, to which a program can go back.
//
// Everything is redacted before it is written. Events for a user interface belong in package observe, and conversations
// to continue in package session. It imports packages limit, memory, redact and hooklog, and internal ones.
//
// Start with [Audit] for decisions, [Metrics] for numbers and [Provenance] for whole runs.
package record
