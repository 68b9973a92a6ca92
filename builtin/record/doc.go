// Package record writes runs down, and shows their course from the records.
//
// The fires of the points, with their payloads and decisions, are events of package hooklog. A [View] is computed from
// these events: [Metrics], [Timing] and [History] are values, [Provenance], [Summary], [Tree] and [Episodes] write
// files and memories. Use a view as a hook of live runs, or let [Read] show it the events of a file, which agent.Record
// or [Audit] writes.
//
// [Audit] writes such a record with a hash chain, so that nobody changes it unnoticed.
//
// [Provenance] keeps whole runs: requests and replies of the model, and each step. [Replay] answers with its files
// instead of a model.
//
// Everything is redacted before it is written. Events for a user interface belong in package observe, and conversations
// to continue in package session. It imports packages limit, memory, redact and hooklog, and internal ones.
//
// Start with [Audit] for decisions, [Metrics] for numbers and [Provenance] for whole runs.
package record
